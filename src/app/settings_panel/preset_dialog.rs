//! The dialog that saves a lane's policy as a preset.

use super::policies::Policies;
use super::preset_saving::{PresetCommand, PresetSaving};
use crate::app::command::Commands;
use crate::app::theme::{palette, space};
use crate::app::widgets;
use crate::app::widgets::dialog::{dialog, dialog_title};
use crate::app::widgets::text::{small, weak};
use crate::presets::own::own_name;
use egui::text::{CCursor, CCursorRange};
use egui::{Id, Key, Margin, RichText, TextEdit, Ui};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 380.0;

/// Shows the dialog.
pub fn show(ui: &Ui, saving: &PresetSaving, policies: &Policies, commands: &mut Commands) {
    let mut command = None;
    let modal = dialog(ui, "save preset").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        dialog_title(ui, "Save as preset");
        let text = "Saves this lane's policy with its current settings. Lanes and the command line can select it by name.";
        ui.label(weak(ui, text));
        ui.add_space(space::M);
        let is_entered = name(ui, saving, &mut command);
        ui.add_space(space::XS);
        let made = own_name(&saving.label);
        let is_there = made.as_ref().is_ok_and(|name| policies.is_saved(name));
        match (&saving.problem, &made) {
            (Some(problem), _) => {
                ui.label(RichText::new(problem).color(palette(ui).bad));
            }
            (None, Ok(name)) if is_there => {
                let sentence = format!("{name} already exists and will be replaced.");
                ui.label(RichText::new(sentence).color(palette(ui).warn));
            }
            (None, Ok(name)) => {
                ui.label(small(ui, format!("plimsoll replay FILE --policy {name}")));
            }
            (None, Err(why)) => {
                ui.label(small(ui, sentence(why)));
            }
        }
        ui.add_space(space::M);
        ui.horizontal(|ui| {
            let verb = if is_there { "Replace" } else { "Save" };
            let button = ui.add_enabled_ui(made.is_ok(), |ui| widgets::primary_button(ui, verb));
            if button.inner.clicked() || is_entered && made.is_ok() {
                command = Some(PresetCommand::Save);
            }
            if widgets::secondary_button(ui, "Cancel", "").clicked() {
                command = Some(PresetCommand::Close);
            }
        });
    });
    if modal.should_close() {
        command = command.or(Some(PresetCommand::Close));
    }
    commands.extend(command);
}

/// Shows the field for the name. Returns whether Enter was pressed.
fn name(ui: &mut Ui, saving: &PresetSaving, command: &mut Option<PresetCommand>) -> bool {
    let label = ui.label("Name");
    let id = Id::unique("preset name");
    let is_new = ui.memory(|m| m.focused().is_none()) && !ui.input(|i| i.key_pressed(Key::Enter));
    let mut typed = saving.label.clone();
    let edit = TextEdit::singleline(&mut typed)
        .id(id)
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(12, 5));
    let mut output = edit.show(ui);
    let response = output.response.response.clone().labelled_by(label.id);
    if is_new {
        response.request_focus();
        // Typing replaces the suggested name.
        let all = CCursorRange::two(CCursor::default(), CCursor::new(typed.chars().count()));
        output.state.cursor.set_char_range(Some(all));
        output.state.store(ui.ctx(), id);
    }
    if response.changed() {
        *command = Some(PresetCommand::Name(typed));
    }
    response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter))
}

/// Formats a message as a sentence: `give it a name` becomes `Give it a name.`
fn sentence(why: &str) -> String {
    let mut chars = why.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), chars.as_str())
}
