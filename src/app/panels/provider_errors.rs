//! Errors of the provider among the knobs: calls that are taken to be answered with one first, to see what a policy
//! makes of its words.

use super::{PanelInput, small};
use crate::app::command::Command;
use crate::app::runs::reads_errors;
use crate::app::theme::space;
use crate::app::widgets;
use crate::app::wording;
use crate::engine::ProviderError;
use crate::presets::{known_error, provider_errors};
use egui::{Id, Margin, Popup, PopupCloseBehavior, ScrollArea, TextEdit, Ui, vec2};

/// Width of the menu.
const WIDTH: f32 = 300.0;
/// Of the window's height, what its list takes at most.
const SHARE: f32 = 0.4;

/// Shows the errors that were placed, where there are any or where a lane's policy reads them.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let errors = &input.config.errors;
    let lanes = &input.config.lanes;
    let is_of_use = lanes
        .iter()
        .any(|lane| reads_errors(&input.policies.get(&lane.policy)));
    if errors.is_empty() && !is_of_use {
        return;
    }
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        ui.label("provider errors");
        let help = if is_of_use {
            "Calls that the provider answers with an error first."
        } else {
            "No lane's policy reads what the provider says."
        };
        ui.label(small(ui, help));
        for error in errors {
            placed(ui, error, commands);
        }
        let step = input.selection.step;
        let does = match input.config.error_at(step) {
            Some(_) => "Replace the",
            None => "Place an",
        };
        let name = format!("{does} error at call {}", wording::number(step));
        let button = widgets::secondary_button(ui, &name, "");
        // A click into its field must not close it.
        Popup::menu(&button)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .show(|ui| menu(ui, step, commands));
    });
}

/// An error that was placed: a click leads to its call.
fn placed(ui: &mut Ui, error: &ProviderError, commands: &mut Vec<Command>) {
    let label = known_error(&error.text).map_or("own words", |known| &known.label);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, 0.0);
        ui.spacing_mut().interact_size.y = 22.0;
        let call = wording::number(error.step);
        let button = ui
            .button(small(ui, format!("call {call} · {label}")))
            .on_hover_text(&*error.text)
            .accessible_name(format!("Error at call {call}: {label}"));
        if button.clicked() {
            commands.push(Command::SelectStep(error.step));
        }
        let remove = ui
            .button(small(ui, "✖"))
            .on_hover_text("Take it away")
            .accessible_name(format!("Take the error at call {call} away"));
        if remove.clicked() {
            commands.push(Command::SetError(error.step, None));
        }
    });
}

/// The errors that are known, and a field for any other.
fn menu(ui: &mut Ui, step: usize, commands: &mut Vec<Command>) {
    ui.set_width(WIDTH);
    // The field below stays in sight whatever the window's height.
    let height = (ui.ctx().content_rect().height() * SHARE).round();
    let known = ScrollArea::vertical()
        .max_height(height)
        .auto_shrink([false, true]);
    known.show(ui, |ui| {
        // Keeps the scroll bar off the texts.
        ui.set_max_width(WIDTH - 10.0);
        ui.spacing_mut().item_spacing.y = 0.0;
        for known in provider_errors() {
            let row = widgets::choice(ui, &known.label, &known.source, false);
            if row.on_hover_text(&known.text).clicked() {
                commands.push(Command::SetError(step, Some(known.text.as_str().into())));
                ui.close();
            }
        }
    });
    ui.add_space(space::S);
    own_words(ui, step, commands);
}

/// A field for what no known error says.
fn own_words(ui: &mut Ui, step: usize, commands: &mut Vec<Command>) {
    let id = Id::unique("own error");
    let mut text: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let edit = TextEdit::singleline(&mut text)
        .hint_text("or its own words, then Enter")
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(12, 5));
    let response = ui.add(edit).accessible_name("Words of the error");
    let is_done = response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
    let words = text.trim();
    if is_done && !words.is_empty() {
        commands.push(Command::SetError(step, Some(words.into())));
        ui.close();
        text.clear();
    }
    ui.data_mut(|data| data.insert_temp(id, text));
}
