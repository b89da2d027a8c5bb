//! The dialog for typing the path of a session file, for systems without a file dialog.

use crate::app::state::command::{Command, Commands};
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::model::view::View;
use crate::app::state::open::command::OpenCommand;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::dialog::{
    DialogAction, DialogEnd, DialogField, dialog, dialog_buttons, dialog_end, dialog_title,
};
use crate::app::ui::widgets::text::weak;
use egui::{RichText, Ui};
use std::path::PathBuf;

/// Width of the dialog's content, in points.
const WIDTH: f32 = 480.0;

/// Shows the dialog and the error of the last attempt, if any.
pub fn show(ui: &Ui, view: &View, problem: Option<&str>, commands: &mut Commands) {
    let mut path = view.path.clone();
    let modal = dialog(ui, "open path").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        dialog_title(ui, if view.asks_compared { "Open as comparison" } else { "Open a session" });
        ui.label(weak(
            ui,
            "No file dialog is available. Type the path of a file or folder, or drop it on the window.",
        ));
        ui.add_space(space::M);
        let field = DialogField {
            label: "Path",
            text: &view.path,
            hint: "/home/me/session.jsonl",
            is_suggestion: false,
        };
        let input = field.show(ui);
        if let Some(changed) = input.changed {
            path.clone_from(&changed);
            commands.push(OpenCommand::EditPath(changed));
        }
        if let Some(problem) = problem {
            ui.add_space(space::XS);
            ui.label(RichText::new(problem).color(palette(ui).bad));
        }
        ui.add_space(space::M);
        let action = DialogAction {
            verb: "Open",
            is_possible: !path.trim().is_empty(),
            is_entered: input.is_entered,
        };
        dialog_buttons(ui, action)
    });
    commands.extend(dialog_end(&modal).map(|end| match end {
        DialogEnd::Confirmed if view.asks_compared => {
            Command::from(CompareCommand::Path(PathBuf::from(path.trim())))
        }
        DialogEnd::Confirmed => OpenCommand::Path(PathBuf::from(path.trim())).into(),
        DialogEnd::Cancelled => OpenCommand::ClosePathDialog.into(),
    }));
}
