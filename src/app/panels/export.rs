//! The dialog that exports a lane: what, how and where; then the checks of what was written.

use super::{PanelInput, small, weak};
use crate::app::command::Command;
use crate::app::managed_export::{Draft, Export, What, writable};
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::exec::Exported;
use egui::{ComboBox, Grid, Id, Margin, RichText, ScrollArea, TextEdit, Ui};
use std::path::Path;

/// Shows the dialog.
pub fn show(ui: &mut Ui, input: &PanelInput<'_>, export: &Export, commands: &mut Vec<Command>) {
    let modal = super::dialog(ui, "export").show(ui.ctx(), |ui| {
        ui.set_width(520.0);
        ui.label(
            RichText::new("Export managed conversation")
                .text_style(theme::strong())
                .size(15.0),
        );
        ui.add_space(space::S);
        let mut draft = export.draft.clone();
        ui.add_enabled_ui(!export.is_running(), |ui| form(ui, input, &mut draft));
        if draft != export.draft {
            commands.push(Command::EditExport(Box::new(draft)));
        }
        match &export.outcome {
            Some(Ok(exported)) => show_exported(ui, exported, commands),
            Some(Err(error)) => {
                ui.add_space(space::S);
                ui.label(RichText::new(error).color(palette(ui).bad));
            }
            None => {}
        }
        ui.add_space(space::M);
        buttons(ui, export, commands);
    });
    if modal.should_close() && !export.is_running() {
        commands.push(Command::CloseExport);
    }
}

fn form(ui: &mut Ui, input: &PanelInput<'_>, draft: &mut Draft) {
    Grid::new("export form")
        .num_columns(2)
        .spacing([16.0, 8.0])
        .show(ui, |ui| {
            ui.label(weak(ui, "lane"));
            ui.horizontal(|ui| {
                for (lane, run) in input.runs.lanes.iter().enumerate() {
                    if widgets::toggle(
                        ui,
                        &run.policy.label,
                        draft.lane == lane,
                        palette(ui).lane(lane),
                    )
                    .clicked()
                    {
                        draft.lane = lane;
                    }
                }
            });
            ui.end_row();
            ui.label(weak(ui, "what"));
            ui.vertical(|ui| what(ui, input, draft));
            ui.end_row();
            ui.label(weak(ui, "summaries"));
            ui.vertical(|ui| summaries(ui, draft));
            ui.end_row();
            let label = ui.label(weak(ui, "format"));
            let chosen = crate::formats::by_name(draft.format).map_or("none", |f| f.label);
            let combo = ComboBox::from_id_salt("export format")
                .selected_text(chosen)
                .show_ui(ui, |ui| {
                    for format in writable(input.document) {
                        ui.selectable_value(&mut draft.format, format.name, format.label);
                    }
                });
            combo.response.labelled_by(label.id);
            ui.end_row();
            let label = ui.label(weak(ui, "write to"));
            let edit = TextEdit::singleline(&mut draft.output)
                .desired_width(400.0)
                .margin(Margin::symmetric(8, 5));
            ui.add(edit).labelled_by(label.id);
            ui.end_row();
        });
}

fn what(ui: &mut Ui, input: &PanelInput<'_>, draft: &mut Draft) {
    let place = wording::place(draft.step, input.document.session().steps.len());
    let as_shown = format!("As this lane shows it {place}");
    ui.radio_value(&mut draft.what, What::AsShown, as_shown)
        .on_hover_text("The policy on from the first call; its summaries are written for real");
    ui.radio_value(&mut draft.what, What::CompactNow, "Compact now")
        .on_hover_text(
            "The policy applied once to the last recorded context, if its trigger is met",
        );
    ui.radio_value(
        &mut draft.what,
        What::CompactNowForced,
        "Compact now, trigger met or not",
    );
}

fn summaries(ui: &mut Ui, draft: &mut Draft) {
    ui.horizontal(|ui| {
        ui.radio_value(&mut draft.is_pasted, false, "Digest")
            .on_hover_text("Put together from the conversation itself, without a model");
        ui.radio_value(&mut draft.is_pasted, true, "My text")
            .on_hover_text("Paste a summary that you have");
    });
    if draft.is_pasted {
        ScrollArea::vertical().max_height(110.0).show(ui, |ui| {
            let edit = TextEdit::multiline(&mut draft.text)
                .desired_width(400.0)
                .desired_rows(5)
                .hint_text("Paste the summary here");
            ui.add(edit).accessible_name("Summary text");
        });
    }
}

fn show_exported(ui: &mut Ui, exported: &Exported, commands: &mut Vec<Command>) {
    ui.add_space(space::S);
    widgets::hairline(ui);
    ui.add_space(space::S);
    for note in &exported.notes {
        ui.label(RichText::new(note).color(palette(ui).warn));
    }
    let (before, after) = (
        wording::tokens(exported.before),
        wording::tokens(exported.after),
    );
    let said = if exported.changed {
        format!("{before} → {after} tokens")
    } else {
        format!("Nothing changed: {before} tokens")
    };
    ui.label(RichText::new(said).text_style(theme::strong()));
    // One after another, so that the eye can follow what was checked.
    let shown = ui.ctx().animate_value_with_time(
        Id::unique(("checks", &exported.output)),
        exported.checks.len() as f32,
        0.12 * exported.checks.len() as f32,
    );
    for check in exported.checks.iter().take(shown.ceil() as usize) {
        ui.horizontal_wrapped(|ui| {
            let (sign, color) = if check.ok {
                ("✔", palette(ui).ok)
            } else {
                ("✖", palette(ui).bad)
            };
            ui.label(RichText::new(sign).color(color));
            ui.label(check.name);
            ui.label(small(ui, &check.detail));
        });
    }
    if let Some(path) = &exported.output {
        written(ui, path, commands);
    }
}

fn written(ui: &mut Ui, path: &Path, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        ui.label(weak(ui, "Written to"));
        ui.label(path.display().to_string());
    });
    ui.horizontal(|ui| {
        if widgets::secondary_button(ui, "Copy path", "").clicked() {
            commands.push(Command::CopyText("the path", path.display().to_string()));
        }
        if widgets::secondary_button(ui, "Open it here", "")
            .on_hover_text("Replaces the session in this window")
            .clicked()
        {
            commands.push(Command::OpenPath(path.to_owned()));
        }
    });
}

fn buttons(ui: &mut Ui, export: &Export, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let is_ready = !export.is_running() && !export.draft.output.trim().is_empty();
        let is_done = matches!(&export.outcome, Some(Ok(exported)) if exported.output.is_some());
        if !is_done {
            ui.add_enabled_ui(is_ready, |ui| {
                if widgets::primary_button(ui, "Export").clicked() {
                    commands.push(Command::RunExport);
                }
            });
            if widgets::secondary_button(ui, "Browse…", "").clicked() {
                commands.push(Command::BrowseExport);
            }
        }
        if widgets::secondary_button(ui, "Close", "Esc").clicked() {
            commands.push(Command::CloseExport);
        }
        if export.is_running() {
            ui.spinner();
            ui.label(weak(ui, "Writing and checking…"));
        }
    });
}
