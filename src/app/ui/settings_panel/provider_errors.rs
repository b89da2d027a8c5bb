//! Simulated provider errors in the settings panel: calls that first receive an error, to see how a policy handles its
//! text.

use crate::app::state::command::Commands;
use crate::app::state::model::runs::replays::reads_errors;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::wording;
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::small;
use crate::engine::ProviderError;
use crate::presets::{known_error, provider_errors};
use egui::{Id, Margin, Popup, PopupCloseBehavior, ScrollArea, TextEdit, Ui, vec2};

/// Width of the menu, in points.
const WIDTH: f32 = 300.0;
/// Maximum height of the list, as a share of the window's height.
const SHARE: f32 = 0.4;

/// Shows the simulated errors if there are any or if a lane's policy reads error messages.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let errors = &input.config.errors;
    let lanes = &input.config.lanes;
    let is_used = lanes.iter().any(|lane| reads_errors(&input.policies.get(&lane.policy)));
    if errors.is_empty() && !is_used {
        return;
    }
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        ui.label("provider errors");
        let help = if is_used {
            "Simulated errors: the provider answers these calls with an error first."
        } else {
            "No lane's policy reads error messages of the provider."
        };
        ui.label(small(ui, help));
        for error in errors {
            placed(ui, error, commands);
        }
        let call = input.selection.call;
        let action = match input.config.error_at(call) {
            Some(_) => "Replace the",
            None => "Add an",
        };
        let name = format!("{action} error at call {}", wording::number(call));
        let button = widgets::secondary_button(ui, &name, "");
        // A click into the menu's text field must not close it.
        Popup::menu(&button)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .show(|ui| menu(ui, call, commands));
    });
}

/// Shows a simulated error. A click selects its call.
fn placed(ui: &mut Ui, error: &ProviderError, commands: &mut Commands) {
    let label = known_error(&error.text).map_or("custom text", |known| &known.label);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, 0.0);
        ui.spacing_mut().interact_size.y = 22.0;
        let call = wording::number(error.call);
        let button = ui
            .button(small(ui, format!("call {call} · {label}")))
            .on_hover_text(&*error.text)
            .accessible_name(format!("Error at call {call}: {label}"));
        if button.clicked() {
            commands.push(SelectCommand::Call(error.call));
        }
        let remove = ui
            .button(small(ui, "✖"))
            .on_hover_text("Remove this error")
            .accessible_name(format!("Remove the error at call {call}"));
        if remove.clicked() {
            commands.push(SettingsCommand::SetError(error.call, None));
        }
    });
}

/// Shows the known errors and a field for any other error text.
fn menu(ui: &mut Ui, call: usize, commands: &mut Commands) {
    ui.set_width(WIDTH);
    // The field below stays visible at any window height.
    let height = (ui.ctx().content_rect().height() * SHARE).round();
    let known = ScrollArea::vertical().max_height(height).auto_shrink([false, true]);
    known.show(ui, |ui| {
        // Keeps the scroll bar clear of the texts.
        ui.set_max_width(WIDTH - 10.0);
        ui.spacing_mut().item_spacing.y = 0.0;
        for known in provider_errors() {
            let row = widgets::choice(ui, &known.label, "", &known.source, false);
            if row.on_hover_text(&known.text).clicked() {
                commands.push(SettingsCommand::SetError(call, Some(known.text.as_str().into())));
                ui.close();
            }
        }
    });
    ui.add_space(space::S);
    custom_error_field(ui, call, commands);
}

/// Shows the field for a custom error text.
fn custom_error_field(ui: &mut Ui, call: usize, commands: &mut Commands) {
    let id = Id::unique("own error");
    let mut text: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let edit = TextEdit::singleline(&mut text)
        .hint_text("or type an error text, then Enter")
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(12, 5));
    let response = ui.add(edit).accessible_name("Error text");
    let is_done = response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
    let words = text.trim();
    if is_done && !words.is_empty() {
        commands.push(SettingsCommand::SetError(call, Some(words.into())));
        ui.close();
        text.clear();
    }
    ui.data_mut(|data| data.insert_temp(id, text));
}
