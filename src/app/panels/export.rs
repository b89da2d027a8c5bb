//! The dialog that exports a lane: what, how and where; then the checks of what was written.

mod model;
mod stages;

use super::{PanelInput, small, weak};
use crate::app::by_hand;
use crate::app::command::Command;
use crate::app::managed_export::{Draft, Export, Stage, What, Who, writable};
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::exec::{Exported, Sidecars};
use egui::{
    Align, Align2, Color32, ComboBox, Id, Label, Layout, Margin, Rect, RichText, ScrollArea,
    TextEdit, TextStyle, Ui, vec2,
};
use std::path::Path;

/// Width of what the dialog shows.
const WIDTH: f32 = 560.0;
/// Width of the labels.
const LABEL: f32 = 84.0;
/// Room that is kept for what came of it, so that the dialog does not jump.
const RESULT: f32 = 168.0;
/// What the dialog holds beside its scrolling middle: title, buttons, margins.
const FRAME: f32 = 170.0;

/// Shows the dialog.
pub fn show(ui: &mut Ui, input: &PanelInput<'_>, export: &Export, commands: &mut Vec<Command>) {
    let is_new = is_new(ui);
    let modal = super::dialog(ui, "export").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        ui.label(
            RichText::new("Export managed conversation")
                .text_style(theme::strong())
                .size(15.0),
        );
        ui.add_space(space::S);
        let height = (ui.ctx().content_rect().height() - FRAME).max(120.0);
        let middle = ScrollArea::vertical()
            .max_height(height)
            // In its final size from the first frame on.
            .min_scrolled_height(height);
        middle.show(ui, |ui| {
            let mut draft = export.draft.clone();
            // Later stages have the room to themselves.
            if matches!(export.stage, Stage::Form | Stage::Done(Err(_))) {
                form(ui, (input, export), &mut draft, is_new, commands);
                if draft != export.draft {
                    commands.push(Command::EditExport(Box::new(draft)));
                }
                ui.add_space(space::S);
                widgets::hairline(ui);
                ui.add_space(space::S);
            }
            ui.allocate_ui(vec2(WIDTH, RESULT), |ui| {
                ui.set_min_size(vec2(WIDTH, RESULT));
                result(ui, input, export, commands);
            });
        });
        ui.add_space(space::S);
        buttons(ui, export, commands);
    });
    if modal.should_close() {
        commands.push(match export.stage {
            Stage::Form | Stage::Done(_) => Command::CloseExport,
            // A file being written is whole within a moment.
            Stage::Writing(_) => return,
            Stage::Consent(_) | Stage::Asking(..) | Stage::Review(_) => Command::CancelExport,
        });
    }
}

/// The dialog has just been opened. True for a few frames: in the first one it is laid out but cannot take the focus.
fn is_new(ui: &Ui) -> bool {
    let id = Id::unique("export seen");
    let now = ui.ctx().cumulative_pass_nr();
    let (first, last): (u64, u64) = ui.data(|d| d.get_temp(id)).unwrap_or((now, now));
    let first = if last + 1 < now { now } else { first };
    ui.data_mut(|d| d.insert_temp(id, (first, now)));
    now < first + 3
}

/// A labelled line of the form; the label stands at the first line of what it names.
fn line<R>(ui: &mut Ui, label: &str, content: impl FnOnce(&mut Ui, Id) -> R) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::M;
        let size = vec2(LABEL, space::CONTROL);
        let layout = Layout::left_to_right(Align::Center);
        let label = ui.allocate_ui_with_layout(size, layout, |ui| {
            ui.set_min_size(size);
            ui.label(weak(ui, label)).id
        });
        content(ui, label.inner);
    });
    ui.add_space(space::XS);
}

fn form(
    ui: &mut Ui,
    (input, export): (&PanelInput<'_>, &Export),
    draft: &mut Draft,
    is_new: bool,
    commands: &mut Vec<Command>,
) {
    line(ui, "lane", |ui, _| {
        ui.horizontal_wrapped(|ui| {
            for (lane, label) in input.runs.labels.iter().enumerate() {
                let is_chosen = draft.lane == lane;
                let toggle = widgets::toggle(ui, label, is_chosen, palette(ui).lane(lane));
                if is_new && is_chosen {
                    toggle.request_focus();
                }
                if toggle.clicked() {
                    draft.lane = lane;
                }
            }
        });
    });
    line(ui, "what", |ui, _| ui.vertical(|ui| what(ui, input, draft)));
    let by_hand = by_hand::said(&input.runs.case.by_hand);
    if !by_hand.is_empty() {
        line(ui, "by hand", |ui, _| {
            let size = vec2(ui.available_width(), space::CONTROL);
            let layout = Layout::left_to_right(Align::Center);
            ui.allocate_ui_with_layout(size, layout, |ui| {
                ui.label(&by_hand);
                ui.label(small(ui, "messages, as the table marks them"));
            });
        });
    }
    line(ui, "summaries", |ui, _| {
        ui.vertical(|ui| summaries(ui, export, draft, commands))
    });
    line(ui, "format", |ui, label| {
        let chosen = crate::formats::by_name(draft.format).map_or("none", |f| f.label);
        let combo = ComboBox::from_id_salt("export format")
            .selected_text(chosen)
            .show_ui(ui, |ui| {
                for format in writable(input.document) {
                    ui.selectable_value(&mut draft.format, format.name, format.label);
                }
            });
        combo.response.labelled_by(label);
    });
    line(ui, "write to", |ui, label| {
        place(ui, draft, label, commands);
    });
}

/// The field for the place, and the system's dialog for it.
fn place(ui: &mut Ui, draft: &mut Draft, label: Id, commands: &mut Vec<Command>) {
    let size = vec2(ui.available_width(), space::CONTROL);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        if widgets::secondary_button(ui, "Browse…", "").clicked() {
            commands.push(Command::BrowseExport);
        }
        let id = Id::unique("export path");
        let is_edited = ui.memory(|m| m.has_focus(id));
        let mut edit = TextEdit::singleline(&mut draft.output)
            .id(id)
            .hint_text("/home/me/session-managed-1.jsonl")
            .desired_width(f32::INFINITY)
            .margin(Margin::symmetric(8, 5));
        if !is_edited {
            edit = edit.text_color(Color32::TRANSPARENT);
        }
        let response = ui.add(edit).labelled_by(label);
        if !is_edited {
            paint_tail(ui, &draft.output, response.rect.shrink2(vec2(8.0, 0.0)));
        }
        response.on_hover_ui(|ui| {
            ui.label(&draft.output);
        });
    });
}

/// A path that is not being edited: its end tells more than its beginning.
fn paint_tail(ui: &Ui, path: &str, rect: Rect) {
    let font = TextStyle::Body.resolve(ui.style());
    let width = |text: String| {
        let galley = ui
            .painter()
            .layout_no_wrap(text, font.clone(), palette(ui).text);
        galley.size().x
    };
    let n = path.chars().count();
    let from = |start: usize| {
        let dots = if start > 0 { "…" } else { "" };
        format!("{dots}{}", path.chars().skip(start).collect::<String>())
    };
    // The shortest beginning to leave out, by halving.
    let (mut fits, mut too_long) = (n, None);
    while fits > too_long.map_or(0, |t: usize| t + 1) {
        let middle = usize::midpoint(too_long.map_or(0, |t| t + 1), fits);
        if width(from(middle)) <= rect.width() {
            fits = middle;
        } else {
            too_long = Some(middle);
        }
    }
    ui.painter().text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        from(fits),
        font,
        palette(ui).text,
    );
}

fn what(ui: &mut Ui, input: &PanelInput<'_>, draft: &mut Draft) {
    let n_steps = input.document.session().steps.len();
    let as_shown = format!(
        "As this lane shows it {}",
        wording::place(draft.step, n_steps)
    );
    ui.radio_value(&mut draft.what, What::AsShown, as_shown)
        .on_hover_text("The policy on from the first call; its summaries are written for real");
    let last = input.runs.recorded.outcome.context.tokens();
    let now = format!(
        "Compact now: the last recorded context, {} tokens",
        wording::tokens(last)
    );
    ui.radio_value(&mut draft.what, What::CompactNow, now)
        .on_hover_text("At the end of the session; the policy applied once, if its trigger is met");
    ui.radio_value(
        &mut draft.what,
        What::CompactNowForced,
        "Compact now, trigger met or not",
    )
    .on_hover_text("At the end of the session; the policy applied once");
}

fn summaries(ui: &mut Ui, export: &Export, draft: &mut Draft, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.radio_value(&mut draft.who, Who::Digest, "Digest")
            .on_hover_text("Put together from the conversation itself, without a model");
        ui.radio_value(&mut draft.who, Who::Person, "My text")
            .on_hover_text("Paste a summary that you have");
        ui.radio_value(&mut draft.who, Who::Model, "A model")
            .on_hover_text("Sends what is to be summarized to a model, once you have agreed");
    });
    match draft.who {
        Who::Digest => {}
        Who::Person => pasted(ui, draft),
        Who::Model => model::show(ui, export, draft, commands),
    }
}

fn pasted(ui: &mut Ui, draft: &mut Draft) {
    ScrollArea::vertical()
        .id_salt("summary")
        .max_height(80.0)
        .show(ui, |ui| {
            let edit = TextEdit::multiline(&mut draft.text)
                .desired_width(ui.available_width() - 16.0)
                .desired_rows(4)
                .hint_text("Paste the summary here");
            ui.add(edit).accessible_name("Summary text");
        });
}

/// What will be written, what goes wrong, or what was written.
fn result(ui: &mut Ui, input: &PanelInput<'_>, export: &Export, commands: &mut Vec<Command>) {
    ui.spacing_mut().interact_size.y = 18.0;
    ui.spacing_mut().item_spacing.y = 2.0;
    match &export.stage {
        Stage::Writing(_) => {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label(weak(ui, "Writing and checking…"));
            });
        }
        Stage::Consent(consent) => stages::consent(ui, consent),
        Stage::Asking(line, _) => stages::asking(ui, line),
        Stage::Review(review) => stages::review(ui, review, commands),
        Stage::Done(Ok(exported)) => show_exported(ui, input, export, exported, commands),
        Stage::Done(Err(error)) => {
            ui.label(RichText::new("Nothing was written").text_style(theme::strong()));
            ui.label(RichText::new(error).color(palette(ui).bad));
        }
        Stage::Form => {
            let text = "Writes a new file; the source stays as it is. What was written is read again and checked.";
            ui.label(weak(ui, text));
            if export.draft.output.trim().is_empty() {
                let text = "Choose where to: the source's own folder belongs to the agent, which would take the export for a session of its own.";
                ui.label(RichText::new(text).color(palette(ui).warn));
            }
        }
    }
}

fn show_exported(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    export: &Export,
    exported: &Exported,
    commands: &mut Vec<Command>,
) {
    for note in &exported.notes {
        let note = RichText::new(wording::with_grouped(note));
        ui.label(note.color(palette(ui).warn));
    }
    let n_steps = input.document.session().steps.len();
    let whose = match export.draft.what {
        What::AsShown => format!("History {}", wording::place(export.draft.step, n_steps)),
        What::CompactNow | What::CompactNowForced => "Last recorded context".to_owned(),
    };
    let before = wording::tokens(exported.before);
    let after = wording::tokens(exported.after);
    let said = if exported.changed {
        format!("{whose}: {before} → {after} tokens")
    } else {
        format!("{whose}: {before} tokens, unchanged")
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
            ui.label(small(ui, wording::with_grouped(&check.detail)));
        });
    }
    if let Some(path) = &exported.output {
        written(ui, path, commands);
    }
    if let Some(sidecars) = &exported.sidecars {
        beside(ui, sidecars);
    }
}

/// What stands beside the managed file.
fn beside(ui: &mut Ui, sidecars: &Sidecars) {
    let text =
        "Beside it: what was taken out, and a manifest; `plimsoll restore` gives the source back.";
    ui.label(small(ui, text)).on_hover_ui(|ui| {
        ui.label(sidecars.removed.display().to_string());
        ui.label(sidecars.manifest.display().to_string());
    });
    if let Some((folder, n)) = &sidecars.files {
        let files = if *n == 1 { "1 file" } else { "files" };
        let text = match n {
            1 => format!("{files} that the policy wrote, in {}", folder.display()),
            n => format!("{n} {files} that the policy wrote, in {}", folder.display()),
        };
        ui.add(Label::new(small(ui, text)).truncate())
            .on_hover_text(folder.display().to_string());
    }
}

fn written(ui: &mut Ui, path: &Path, commands: &mut Vec<Command>) {
    ui.add_space(space::XS);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::secondary_button(ui, "Open it here", "")
                .on_hover_text("Replaces the session in this window")
                .clicked()
            {
                commands.push(Command::OpenPath(path.to_owned()));
            }
            if widgets::secondary_button(ui, "Copy path", "").clicked() {
                commands.push(Command::CopyText("the path", path.display().to_string()));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.label(weak(ui, "Written to"));
                let name = path.file_name().unwrap_or(path.as_os_str());
                ui.add(Label::new(name.to_string_lossy()).truncate())
                    .on_hover_text(path.display().to_string());
            });
        });
    });
}

fn buttons(ui: &mut Ui, export: &Export, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| match &export.stage {
        Stage::Consent(consent) => stages::consent_buttons(ui, consent, commands),
        Stage::Asking(..) => stages::asking_buttons(ui, commands),
        Stage::Review(review) => stages::review_buttons(ui, review, commands),
        Stage::Writing(_) => {}
        Stage::Done(Ok(_)) => done_buttons(ui, commands),
        Stage::Form | Stage::Done(Err(_)) => form_buttons(ui, export, commands),
    });
}

fn done_buttons(ui: &mut Ui, commands: &mut Vec<Command>) {
    if widgets::primary_button(ui, "Close").clicked() {
        commands.push(Command::CloseExport);
    }
    if widgets::secondary_button(ui, "Another export", "").clicked() {
        commands.push(Command::CancelExport);
    }
}

fn form_buttons(ui: &mut Ui, export: &Export, commands: &mut Vec<Command>) {
    let draft = &export.draft;
    let is_model = draft.who == Who::Model;
    let has_model = !is_model || draft.model.endpoint().is_ok();
    let is_ready = has_model && !draft.output.trim().is_empty();
    ui.add_enabled_ui(is_ready, |ui| {
        let name = if is_model { "Go on…" } else { "Export" };
        if widgets::primary_button(ui, name).clicked() {
            commands.push(Command::RunExport);
        }
        let help = "Has the summaries written, so that they can be read and changed first";
        if !is_model
            && widgets::secondary_button(ui, "Look at the summaries", "")
                .on_hover_text(help)
                .clicked()
        {
            commands.push(Command::LookAtSummaries);
        }
    });
    if widgets::secondary_button(ui, "Close", "Esc").clicked() {
        commands.push(Command::CloseExport);
    }
}
