//! The dialog for typing the path of a session file, for systems without a file dialog.

use super::command::OpenCommand;
use crate::app::command::{Command, Commands};
use crate::app::compare::command::CompareCommand;
use crate::app::theme::{palette, space};
use crate::app::view::View;
use crate::app::widgets;
use crate::app::widgets::dialog::{dialog, dialog_title};
use crate::app::widgets::text::weak;
use egui::{Id, Key, Margin, RichText, TextEdit, Ui};
use std::path::PathBuf;

/// Width of the dialog's content, in points.
const WIDTH: f32 = 480.0;

/// Shows the dialog and the error of the last attempt, if any.
pub fn show(ui: &Ui, view: &View, problem: Option<&str>, commands: &mut Commands) {
    let modal = dialog(ui, "open path").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        dialog_title(ui, if view.asks_compared { "Open as comparison" } else { "Open a session" });
        ui.label(weak(
            ui,
            "No file dialog is available. Type the path of a file or folder, or drop it on the window.",
        ));
        ui.add_space(space::M);
        let (mut path, is_entered) = field(ui, view, commands);
        if let Some(problem) = problem {
            ui.add_space(space::XS);
            ui.label(RichText::new(problem).color(palette(ui).bad));
        }
        ui.add_space(space::M);
        path = path.trim().to_owned();
        ui.horizontal(|ui| {
            let open = ui.add_enabled_ui(!path.is_empty(), |ui| widgets::primary_button(ui, "Open"));
            if !path.is_empty() && (open.inner.clicked() || is_entered) {
                let path = PathBuf::from(&path);
                commands.push(if view.asks_compared {
                    Command::from(CompareCommand::Open(path, 0))
                } else {
                    OpenCommand::Path(path).into()
                });
            }
            if widgets::secondary_button(ui, "Cancel", "").clicked() {
                commands.push(OpenCommand::AskPath(false));
            }
        });
    });
    if modal.should_close() {
        commands.push(OpenCommand::AskPath(false));
    }
}

/// Shows the field. Returns its text and whether Enter was pressed.
fn field(ui: &mut Ui, view: &View, commands: &mut Commands) -> (String, bool) {
    let label = ui.label("Path");
    let is_new = ui.memory(|m| m.focused().is_none()) && !ui.input(|i| i.key_pressed(Key::Enter));
    let mut path = view.path.clone();
    let edit = TextEdit::singleline(&mut path)
        .id(Id::unique("path to open"))
        .hint_text("/home/me/session.jsonl")
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(12, 5));
    let response = ui.add(edit).labelled_by(label.id);
    if is_new {
        response.request_focus();
    }
    if response.changed() {
        commands.push(OpenCommand::EditPath(path.clone()));
    }
    let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
    (path, is_entered)
}
