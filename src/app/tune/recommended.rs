//! The recommended settings with the reason and a button that applies them.

use super::sweep::Tuning;
use crate::analysis::tune::{Alternative, rejections};
use crate::app::command::Command;
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{self, palette, space};
use crate::app::widgets::text::{small, weak};
use crate::app::wording;
use egui::{Frame, Label, Margin, RichText, Ui};

/// Note on a sweep with outdated assumptions.
const CHANGED: &str = "Window, tokenizer, prices or manual edits have changed: sweep again.";

/// Shows the recommendation.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    tuning: &Tuning,
    commands: &mut Vec<Command>,
) {
    let margin = Margin {
        left: 16,
        right: 12,
        top: 6,
        bottom: 2,
    };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.spacing_mut().interact_size.y = 20.0;
        ui.spacing_mut().button_padding = egui::vec2(8.0, 1.0);
        sentence(ui, input, tuning, commands);
        if !tuning.holds_for(input.config) {
            ui.label(small(ui, CHANGED).color(palette(ui).warn));
        }
    });
}

/// Shows the alternatives and the excluded settings.
pub(in crate::app) fn more(ui: &mut Ui, tuning: &Tuning) {
    crate::app::widgets::text::padded(ui, |ui| {
        alternatives(ui, tuning);
        excluded(ui, tuning);
    });
}

/// Shows the recommendation. If there is none, shows the reason and an alternative.
fn sentence(ui: &mut Ui, input: &PanelInput<'_>, tuning: &Tuning, commands: &mut Vec<Command>) {
    match &tuning.recommended {
        None => {
            ui.label(weak(ui, "Trying…"));
        }
        Some(Err(why)) => {
            let said = RichText::new(wording::with_grouped(why)).color(palette(ui).warn);
            ui.add(Label::new(said).wrap());
            if let Some(other) = &tuning.alternative {
                offer(ui, input, other, commands);
            }
        }
        Some(Ok(found)) => {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = space::S;
                ui.label(RichText::new("Recommended").text_style(theme::strong()));
                adopt(ui, input, tuning, found.point, commands);
            });
            // The comparison refers to the lane's settings at the time of the sweep.
            if !is_applied(input, tuning, found.point) {
                ui.add(Label::new(wording::with_grouped(&found.text)).wrap());
            }
        }
    }
}

/// Offers another policy that works.
fn offer(ui: &mut Ui, input: &PanelInput<'_>, other: &Alternative, commands: &mut Vec<Command>) {
    let is_compared = |lane: &crate::app::state::LaneConfig| lane.policy == other.policy;
    if !input.config.lanes.iter().any(is_compared)
        && ui
            .button(format!("Compare with {}", other.label))
            .on_hover_text("Add a lane with this policy (can be undone)")
            .clicked()
    {
        commands.push(Command::CompareWith(other.policy.clone()));
    }
    ui.add(Label::new(wording::with_grouped(&other.text)).wrap());
}

/// Shows the alternatives.
fn alternatives(ui: &mut Ui, tuning: &Tuning) {
    let found = tuning.recommended.as_ref().and_then(|r| r.as_ref().ok());
    if let Some(others) = found.and_then(|found| found.others.as_ref()) {
        ui.add(Label::new(weak(ui, wording::with_grouped(others))).wrap());
    }
}

/// Shows a button that applies a setting, unless the lane has it already.
fn adopt(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    tuning: &Tuning,
    idx: usize,
    commands: &mut Vec<Command>,
) {
    if is_applied(input, tuning, idx) {
        ui.label(weak(ui, "The lane has these settings."));
    } else if ui
        .button("Apply")
        .on_hover_text("Apply these settings to this lane only (can be undone)")
        .clicked()
    {
        commands.push(Command::AdoptPoint(idx));
    }
}

/// Returns whether the lane has the settings of this point.
fn is_applied(input: &PanelInput<'_>, tuning: &Tuning, idx: usize) -> bool {
    let point = &tuning.points[idx];
    let lane = input.runs.lanes.get(tuning.lanes[point.subject]);
    lane.is_some_and(|lane| lane.knobs == point.knobs)
}

/// Shows the excluded settings by reason, such as `12 of them do not fit, 3 cannot get below their trigger.`
fn excluded(ui: &mut Ui, tuning: &Tuning) {
    let reasons = rejections(&tuning.points);
    if reasons.is_empty() {
        return;
    }
    let said: Vec<String> = reasons
        .iter()
        .map(|(_, told, n)| format!("{} {told}", wording::grouped(*n as u64)))
        .collect();
    ui.label(small(ui, format!("Excluded: {}.", said.join(", "))));
}
