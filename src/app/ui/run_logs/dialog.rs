//! The dialog that lists the logs of live runs, with commands to reuse and delete them.

use crate::app::state::command::Commands;
use crate::app::state::run_logs::list::{Deletion, RunLogs, RunLogsCommand, session_of};
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::dialog::{dialog, dialog_title};
use crate::app::ui::widgets::text::{small, weak};
use crate::exec::LogFile;
use crate::safe_text;
use crate::units::Bytes;
use egui::{Align, Label, Layout, RichText, ScrollArea, Ui, vec2};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 620.0;
/// Maximum height of the list, in points.
const HEIGHT: f32 = 320.0;
/// Height of a log in the list, in points.
const ROW: f32 = 44.0;

/// Shows the dialog. Logs can be reused only while a session is open.
pub fn show(ui: &mut Ui, logs: &RunLogs, has_document: bool, commands: &mut Commands) {
    let mut command = None;
    let modal = dialog(ui, "run logs").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        dialog_title(ui, "Run logs");
        let Some(folder) = &logs.folder else {
            let text = "No logs are saved because Plimsoll was started with --no-state.";
            ui.label(weak(ui, text));
            ui.add_space(space::M);
            close(ui, &mut command);
            return;
        };
        let text = "Requests to summarizer models and their answers. They contain private text, but never a key.";
        ui.label(weak(ui, text));
        ui.add(Label::new(small(ui, folder.display().to_string())).truncate());
        ui.add_space(space::S);
        widgets::hairline(ui);
        list(ui, logs, has_document, &mut command);
        widgets::hairline(ui);
        ui.add_space(space::S);
        footer(ui, logs, &mut command);
    });
    if modal.should_close() {
        command = command.or(Some(RunLogsCommand::Close));
    }
    commands.extend(command);
}

fn list(ui: &mut Ui, logs: &RunLogs, has_document: bool, command: &mut Option<RunLogsCommand>) {
    if logs.all.is_empty() {
        ui.add_space(space::M);
        ui.label(weak(ui, "No logs are saved."));
        ui.add_space(space::M);
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let height = HEIGHT.min(ui.ctx().content_rect().height() - 260.0).max(ROW);
    let area = ScrollArea::vertical().max_height(height).auto_shrink([false, true]);
    area.show_rows(ui, ROW, logs.all.len(), |ui, rows| {
        for idx in rows {
            row(ui, logs, idx, has_document, command);
        }
    });
}

/// Shows a log with its session, date, size and model, and its buttons.
fn row(
    ui: &mut Ui,
    logs: &RunLogs,
    idx: usize,
    has_document: bool,
    command: &mut Option<RunLogsCommand>,
) {
    let log = &logs.all[idx];
    let size = vec2(ui.available_width() - 8.0, ROW);
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let name = session_of(&log.path);
        if logs.deletion == Some(Deletion::One(idx)) {
            confirmation(ui, "Delete", command);
            ui.label(RichText::new("Delete it?").color(palette(ui).warn));
        } else {
            let delete = widgets::secondary_button(ui, "Delete…", "");
            if delete.accessible_name(format!("Delete the log of {name}")).clicked() {
                *command = Some(RunLogsCommand::ConfirmDeletion(Some(Deletion::One(idx))));
            }
            let is_usable = has_document && log.model.is_some();
            let replay = ui.add_enabled_ui(is_usable, |ui| {
                widgets::secondary_button(ui, "Use…", "")
                    .on_hover_text(
                        "Prepare an export that uses the answers in this log instead of a model",
                    )
                    .accessible_name(format!("Use the log of {name}"))
            });
            if replay.inner.clicked() {
                *command = Some(RunLogsCommand::Replay(log.path.clone()));
            }
        }
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.add_space(5.0);
            let name = safe_text::one_line(&name, 80);
            let path = log.path.display().to_string();
            ui.add(Label::new(name).truncate()).on_hover_text(path);
            ui.add(Label::new(small(ui, facts(log))).truncate());
        });
    });
}

fn facts(log: &LogFile) -> String {
    let written = log.written.map(wording::minute);
    let model = match &log.model {
        Some(model) => safe_text::one_line(model, 60),
        None => "not a Plimsoll log".to_owned(),
    };
    let size = wording::bytes(Bytes(log.bytes));
    let facts = [written, Some(size), Some(model)];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn footer(ui: &mut Ui, logs: &RunLogs, command: &mut Option<RunLogsCommand>) {
    ui.horizontal(|ui| {
        close(ui, command);
        let is_confirming = logs.deletion == Some(Deletion::All);
        // The confirmation needs the width.
        if !is_confirming && widgets::secondary_button(ui, "Open folder", "").clicked() {
            *command = Some(RunLogsCommand::OpenFolder);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (n, size) = (logs.all.len(), wording::bytes(logs.size()));
            let all = wording::count(n, "log");
            if is_confirming {
                confirmation(ui, "Delete all", command);
                let text = format!("Permanently delete {all}, {size}?");
                ui.label(RichText::new(text).color(palette(ui).warn));
            } else if n > 0 {
                if widgets::secondary_button(ui, "Delete all…", "").clicked() {
                    *command = Some(RunLogsCommand::ConfirmDeletion(Some(Deletion::All)));
                }
                ui.label(weak(ui, format!("{all}, {size}")));
            }
        });
    });
}

/// Shows the buttons of a delete confirmation, from right to left.
fn confirmation(ui: &mut Ui, name: &str, command: &mut Option<RunLogsCommand>) {
    if widgets::secondary_button(ui, "Keep", "").clicked() {
        *command = Some(RunLogsCommand::ConfirmDeletion(None));
    }
    if widgets::secondary_button(ui, name, "").clicked() {
        *command = Some(RunLogsCommand::Delete);
    }
}

fn close(ui: &mut Ui, command: &mut Option<RunLogsCommand>) {
    if widgets::primary_button(ui, "Close").clicked() {
        *command = Some(RunLogsCommand::Close);
    }
}
