//! The dialog that saves a lane's policy as a preset.

use crate::app::state::command::Commands;
use crate::app::state::model::policies::Policies;
use crate::app::state::settings_panel::preset_saving::{PresetCommand, PresetSaving};
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::dialog::{
    DialogAction, DialogEnd, DialogField, dialog, dialog_buttons, dialog_end, dialog_title,
};
use crate::app::ui::widgets::text::{small, weak};
use crate::presets::own::own_name;
use egui::{RichText, Ui};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 380.0;

/// Shows the dialog.
pub fn show(ui: &Ui, saving: &PresetSaving, policies: &Policies, commands: &mut Commands) {
    let modal = dialog(ui, "save preset").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        dialog_title(ui, "Save as preset");
        let text = "Saves this lane's policy with its current settings. Lanes and the command line can select it by name.";
        ui.label(weak(ui, text));
        ui.add_space(space::M);
        let field = DialogField {
            label: "Name",
            text: &saving.label,
            hint: "",
            is_suggestion: true,
        };
        let input = field.show(ui);
        commands.extend(input.changed.map(PresetCommand::Name));
        ui.add_space(space::XS);
        let made = own_name(&saving.label);
        let is_there = made.as_ref().is_ok_and(|name| policies.is_saved(name));
        match (&saving.problem, &made) {
            (Some(problem), _) => {
                ui.label(RichText::new(problem).color(palette(ui).bad));
            }
            (None, Ok(name)) if is_there => {
                let text = format!("{name} already exists and will be replaced.");
                ui.label(RichText::new(text).color(palette(ui).warn));
            }
            (None, Ok(name)) => {
                ui.label(small(ui, format!("plimsoll replay FILE --policy {name}")));
            }
            (None, Err(why)) => {
                // Such as `Give it a name.`
                ui.label(small(ui, format!("{}.", wording::capitalized(why))));
            }
        }
        ui.add_space(space::M);
        let verb = if is_there { "Replace" } else { "Save" };
        let action = DialogAction {
            verb,
            is_possible: made.is_ok(),
            is_entered: input.is_entered,
        };
        dialog_buttons(ui, action)
    });
    commands.extend(dialog_end(&modal).map(|end| match end {
        DialogEnd::Confirmed => PresetCommand::Save,
        DialogEnd::Cancelled => PresetCommand::Close,
    }));
}
