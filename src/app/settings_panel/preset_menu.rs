//! The menu of policies: generic presets, then system presets.

use super::policies::Policies;
use crate::app::theme::space;
use crate::app::widgets;
use crate::app::widgets::text::first_sentence;
use egui::{ScrollArea, Ui};

/// Width of the menu, in points.
const WIDTH: f32 = 340.0;

/// Returns the maximum height of the menu, in points.
pub(super) fn height(ui: &Ui) -> f32 {
    (ui.ctx().content_rect().height() * 0.62).round()
}

/// Lists all policies with `chosen` marked. Returns the name of the clicked policy.
pub(in crate::app) fn list(ui: &mut Ui, policies: &Policies, chosen: &str) -> Option<String> {
    let mut clicked = None;
    ui.set_width(WIDTH);
    ScrollArea::vertical()
        .max_height(height(ui))
        .auto_shrink([false, true])
        .show(ui, |ui| {
            // Keeps the scroll bar clear of the texts.
            ui.set_max_width(WIDTH - 10.0);
            ui.spacing_mut().item_spacing.y = 0.0;
            for (idx, group) in policies.groups().iter().enumerate() {
                if idx > 0 {
                    ui.add_space(space::S);
                }
                widgets::section(ui, &group.title);
                for policy in &group.policies {
                    let help = first_sentence(&policy.help);
                    let row = widgets::choice(ui, &policy.label, help, policy.name == chosen);
                    if row.on_hover_text(&policy.help).clicked() {
                        clicked = Some(policy.name.clone());
                    }
                }
            }
        });
    clicked
}
