//! The dialog that restores the source of a managed conversation.

use crate::app::state::command::Commands;
use crate::app::state::restore::restoring::{RestoreCommand, RestorePath, Restoring};
use crate::app::state::wording;
use crate::app::ui::parts::output_path::output_path;
use crate::app::ui::theme::space;
use crate::app::ui::widgets::dialog::{dialog, dialog_title, error_box};
use crate::app::ui::widgets::path_field::PathField;
use crate::app::ui::widgets::text::weak;
use crate::app::ui::{theme, widgets};
use crate::exec::Restored;
use crate::safe_text;
use egui::{Label, RichText, Ui};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 560.0;
/// Width of the labels, in points.
const LABEL: f32 = 72.0;

/// A field of the form.
struct Field {
    path: RestorePath,
    id: &'static str,
    label: &'static str,
    hint: &'static str,
}

const FIELDS: [Field; 2] = [
    Field {
        path: RestorePath::Managed,
        id: "managed path",
        label: "managed",
        hint: "/home/me/session-managed-1.jsonl",
    },
    Field {
        path: RestorePath::Output,
        id: "restored path",
        label: "write to",
        hint: "the source's name, in the same folder",
    },
];

/// Shows the dialog.
pub fn show(ui: &Ui, restoring: &Restoring, commands: &mut Commands) {
    let modal = dialog(ui, "restore").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        dialog_title(ui, "Restore original");
        match &restoring.done {
            Some(restored) => done(ui, restored, commands),
            None => form(ui, restoring, commands),
        }
        ui.add_space(space::S);
        buttons(ui, restoring, commands);
    });
    // Writing a file takes only a moment and cannot be interrupted.
    if modal.should_close() && !restoring.is_busy() {
        commands.push(RestoreCommand::Close);
    }
}

fn form(ui: &mut Ui, restoring: &Restoring, commands: &mut Commands) {
    let text = "Writes the source of a managed conversation, byte for byte. The manifest and the removed records must be in the folder of the managed conversation.";
    ui.add(Label::new(weak(ui, text)).wrap());
    ui.add_space(space::S);
    let mut draft = restoring.draft.clone();
    ui.add_enabled_ui(!restoring.is_busy(), |ui| {
        for Field { path, id, label, hint } in FIELDS {
            widgets::labelled(ui, label, LABEL, space::M, |ui, label| {
                let field = PathField { id, label, hint };
                if field.show(ui, path.of_mut(&mut draft)) {
                    commands.push(RestoreCommand::Browse(path));
                }
            });
        }
    });
    if draft != restoring.draft {
        commands.push(RestoreCommand::Edit(draft));
    }
    if let Some(why) = &restoring.failed {
        error_box(ui, "Nothing was written", why);
    }
}

/// Shows what was restored and its path.
fn done(ui: &mut Ui, restored: &Restored, commands: &mut Commands) {
    let bytes = wording::grouped(restored.bytes as u64);
    let source = safe_text::one_line(&restored.source, 80);
    let text = format!("{bytes} bytes of {source} restored");
    ui.label(RichText::new(text).text_style(theme::strong()));
    output_path(ui, &restored.output, commands);
}

fn buttons(ui: &mut Ui, restoring: &Restoring, commands: &mut Commands) {
    ui.horizontal(|ui| {
        if restoring.done.is_some() {
            if widgets::primary_button(ui, "Close").clicked() {
                commands.push(RestoreCommand::Close);
            }
            return;
        }
        let is_ready = !restoring.draft.managed.trim().is_empty() && !restoring.is_busy();
        ui.add_enabled_ui(is_ready, |ui| {
            if widgets::primary_button(ui, "Restore").clicked() {
                commands.push(RestoreCommand::Write);
            }
        });
        ui.add_enabled_ui(!restoring.is_busy(), |ui| {
            if widgets::secondary_button(ui, "Close", "Esc").clicked() {
                commands.push(RestoreCommand::Close);
            }
        });
        if restoring.is_busy() {
            ui.spinner();
        }
    });
}
