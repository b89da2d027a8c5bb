//! The menu of policies, grouped by kind, with a search field.

use crate::app::state::model::policies::Policies;
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::weak;
use egui::{Id, Key, Margin, ScrollArea, TextEdit, Ui};

/// Width of the menu, in points.
const WIDTH: f32 = 420.0;

/// Returns the maximum height of the menu, in points.
pub(crate) fn height(ui: &Ui) -> f32 {
    (ui.ctx().content_rect().height() * 0.58).round()
}

/// Lists the policies that contain the words of the search field, with `chosen` marked. Returns the name of the clicked
/// policy, or of the first one if Enter is pressed in the field. The popup around it must close on clicks outside only.
pub(crate) fn list(ui: &mut Ui, policies: &Policies, chosen: &str) -> Option<String> {
    ui.set_width(WIDTH);
    let (sought, is_entered) = find(ui);
    let words: Vec<&str> = sought.split_whitespace().collect();
    let groups = policies.groups(&words);
    let first = groups.first().and_then(|group| group.policies.first());
    let mut picked = first.filter(|_| is_entered && !words.is_empty());
    ScrollArea::vertical()
        .max_height(height(ui))
        .auto_shrink(false) // the menu stays where it is while the user types
        .show(ui, |ui| {
            // Keeps the scroll bar clear of the texts.
            ui.set_max_width(WIDTH - 10.0);
            ui.spacing_mut().item_spacing.y = 0.0;
            if groups.is_empty() {
                ui.label(weak(ui, "No policy matches."));
            }
            for (idx, group) in groups.iter().enumerate() {
                if idx > 0 {
                    ui.add_space(space::S);
                }
                widgets::section(ui, group.title);
                for policy in &group.policies {
                    let proof = policy.proof.as_ref().map(ToString::to_string);
                    let proof = proof.as_deref().unwrap_or_default();
                    let is_chosen = policy.name == chosen;
                    let row = widgets::choice(ui, &policy.label, proof, &policy.help, is_chosen);
                    if row.on_hover_text(&policy.help).clicked() {
                        picked = Some(policy);
                    }
                }
            }
        });
    picked.map(|policy| policy.name.clone())
}

/// Shows the search field, empty and with the focus whenever the menu opens. Returns its text and whether Enter was
/// pressed in it.
fn find(ui: &mut Ui) -> (String, bool) {
    let id = Id::unique("find a policy");
    let frame = ui.ctx().cumulative_frame_nr();
    let (shown, mut text): (u64, String) = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let is_new = shown + 1 < frame;
    if is_new {
        text.clear();
    }
    let edit = TextEdit::singleline(&mut text)
        .hint_text("Find a policy…")
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(6, 3));
    let response = ui.add(edit).accessible_name("Find a policy");
    if is_new {
        response.request_focus();
    }
    let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
    ui.data_mut(|data| data.insert_temp(id, (frame, text.clone())));
    (text, is_entered)
}
