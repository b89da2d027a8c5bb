//! The dialog that lists the logs of live runs, with commands to reuse and delete them.

use super::list::{Doomed, LogsWish, RunLogs, session_of};
use crate::app::command::Command;
use crate::app::theme::{palette, space};
use crate::app::widgets::text::{small, weak};
use crate::app::{widgets, wording};
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
pub fn show(ui: &mut Ui, logs: &RunLogs, has_document: bool, commands: &mut Vec<Command>) {
    let mut wish = None;
    let modal = crate::app::widgets::dialog::dialog(ui, "run logs").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        crate::app::widgets::dialog::dialog_title(ui, "Run logs");
        let Some(folder) = &logs.folder else {
            let text = "No logs are saved because Plimsoll was started with --no-state.";
            ui.label(weak(ui, text));
            ui.add_space(space::M);
            close(ui, &mut wish);
            return;
        };
        let text = "Requests to summarizer models and their answers. They contain private text, but never a key.";
        ui.label(weak(ui, text));
        ui.add(Label::new(small(ui, folder.display().to_string())).truncate());
        ui.add_space(space::S);
        widgets::hairline(ui);
        list(ui, logs, has_document, &mut wish);
        widgets::hairline(ui);
        ui.add_space(space::S);
        foot(ui, logs, &mut wish);
    });
    if modal.should_close() {
        wish = wish.or(Some(LogsWish::Close));
    }
    commands.extend(wish.map(Command::Logs));
}

fn list(ui: &mut Ui, logs: &RunLogs, has_document: bool, wish: &mut Option<LogsWish>) {
    if logs.all.is_empty() {
        ui.add_space(space::M);
        ui.label(weak(ui, "No logs are saved."));
        ui.add_space(space::M);
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let height = HEIGHT
        .min(ui.ctx().content_rect().height() - 260.0)
        .max(ROW);
    let area = ScrollArea::vertical()
        .max_height(height)
        .auto_shrink([false, true]);
    area.show_rows(ui, ROW, logs.all.len(), |ui, rows| {
        for idx in rows {
            let is_doomed = logs.doomed == Some(Doomed::One(idx));
            row(ui, (idx, &logs.all[idx]), is_doomed, has_document, wish);
        }
    });
}

/// Shows a log with its source, model, date and duration, and its commands.
fn row(
    ui: &mut Ui,
    (idx, log): (usize, &LogFile),
    is_doomed: bool,
    has_document: bool,
    wish: &mut Option<LogsWish>,
) {
    let size = vec2(ui.available_width() - 8.0, ROW);
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let name = session_of(&log.path);
        if is_doomed {
            confirmation(ui, "Delete", wish);
            ui.label(RichText::new("Delete it?").color(palette(ui).warn));
        } else {
            let delete = widgets::secondary_button(ui, "Delete…", "");
            if delete
                .accessible_name(format!("Delete the log of {name}"))
                .clicked()
            {
                *wish = Some(LogsWish::Doom(Some(Doomed::One(idx))));
            }
            let is_of_use = has_document && log.model.is_some();
            let replay = ui.add_enabled_ui(is_of_use, |ui| {
                widgets::secondary_button(ui, "Use…", "")
                    .on_hover_text(
                        "Prepare an export that uses the answers in this log instead of a model",
                    )
                    .accessible_name(format!("Use the log of {name}"))
            });
            if replay.inner.clicked() {
                *wish = Some(LogsWish::Replay(log.path.clone()));
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

fn foot(ui: &mut Ui, logs: &RunLogs, wish: &mut Option<LogsWish>) {
    ui.horizontal(|ui| {
        close(ui, wish);
        let is_asked = logs.doomed == Some(Doomed::All);
        // The confirmation needs the width.
        if !is_asked && widgets::secondary_button(ui, "Open folder", "").clicked() {
            *wish = Some(LogsWish::OpenFolder);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (n, size) = (logs.all.len(), wording::bytes(logs.size()));
            let all = wording::count(n, "log");
            if is_asked {
                confirmation(ui, "Delete all", wish);
                let text = format!("Permanently delete {all}, {size}?");
                ui.label(RichText::new(text).color(palette(ui).warn));
            } else if n > 0 {
                if widgets::secondary_button(ui, "Delete all…", "").clicked() {
                    *wish = Some(LogsWish::Doom(Some(Doomed::All)));
                }
                ui.label(weak(ui, format!("{all}, {size}")));
            }
        });
    });
}

/// Shows the buttons of a delete confirmation, from right to left.
fn confirmation(ui: &mut Ui, name: &str, wish: &mut Option<LogsWish>) {
    if widgets::secondary_button(ui, "Keep", "").clicked() {
        *wish = Some(LogsWish::Doom(None));
    }
    if widgets::secondary_button(ui, name, "").clicked() {
        *wish = Some(LogsWish::Remove);
    }
}

fn close(ui: &mut Ui, wish: &mut Option<LogsWish>) {
    if widgets::primary_button(ui, "Close").clicked() {
        *wish = Some(LogsWish::Close);
    }
}
