//! What an export is at: the question before anything is sent, the model at work, summaries to be looked at.

use super::super::{PanelInput, small, weak};
use super::model::row;
use crate::app::command::Command;
use crate::app::managed_export::{Consent, Export, Line, Review, StoreConsent, What};
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::units::Tokens;
use egui::{Align, Frame, Label, Layout, Margin, RichText, ScrollArea, TextEdit, Ui, vec2};

/// Height of a text that comes in.
const INCOMING: f32 = 110.0;

/// Height of a summary that can be written over.
const SUMMARY: f32 = 220.0;

/// What would be sent, and to whom.
pub(super) fn consent(ui: &mut Ui, consent: &Consent) {
    let endpoint = &consent.endpoint;
    strong(ui, format!("Send to {}?", endpoint.host()));
    ui.add_space(space::XS);
    let sending = &consent.sending;
    let how = if endpoint.is_local() {
        "this machine"
    } else if endpoint.is_encrypted() {
        "encrypted on its way"
    } else {
        "not encrypted on its way"
    };
    let requests = wording::count(sending.requests, "request");
    let log = match &consent.log {
        Some(path) => path.display().to_string(),
        None => "nothing is logged".to_owned(),
    };
    let rows = [
        ("model", format!("{} ({how})", endpoint.model)),
        (
            "sends",
            format!(
                "{requests}, about {} tokens with this conversation",
                wording::tokens(sending.tokens)
            ),
        ),
        (
            "gets back",
            format!("at most {} tokens", wording::tokens(sending.answers)),
        ),
        ("price", sending.quote.to_string()),
        ("log", log),
    ];
    facts(ui, &rows);
}

/// What a person agrees to, line by line.
fn facts(ui: &mut Ui, rows: &[(&str, String)]) {
    ui.spacing_mut().item_spacing.y = space::XS;
    for (name, text) in rows {
        row(ui, name, |ui, _| {
            let size = vec2(ui.available_width(), space::CONTROL);
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(text).wrap());
            });
        });
    }
}

/// What would go into a program's store.
pub(super) fn store(ui: &mut Ui, consent: &StoreConsent) {
    let program = consent.program;
    strong(ui, format!("Put a new session into {program}?"));
    ui.add_space(space::XS);
    let place = match &consent.folder {
        None => "looking…".to_owned(),
        Some(Ok(folder)) => folder.display().to_string(),
        Some(Err(why)) => return super::failed(ui, "There is no place for it", why),
    };
    let rows = [
        ("folder", place),
        ("file", "a new one, named after its new id".to_owned()),
        (
            "others",
            "every session that is there stays as it is".to_owned(),
        ),
        (
            "after",
            format!("the command that has {program} carry on with it"),
        ),
    ];
    facts(ui, &rows);
}

pub(super) fn store_buttons(ui: &mut Ui, consent: &StoreConsent, commands: &mut Vec<Command>) {
    ui.add_enabled_ui(matches!(consent.folder, Some(Ok(_))), |ui| {
        let name = format!("Write into {}", consent.program);
        if widgets::primary_button(ui, &name).clicked() {
            commands.push(Command::PutIntoStore);
        }
    });
    if widgets::secondary_button(ui, "Back", "Esc").clicked() {
        commands.push(Command::CancelExport);
    }
}

/// The model at work.
pub(super) fn asking(ui: &mut Ui, line: &Line) {
    let heard = line.heard();
    ui.horizontal(|ui| {
        ui.spinner();
        let text = match (heard.asked, heard.text.is_empty()) {
            (0, _) => "Getting ready…".to_owned(),
            (n, true) => format!(
                "Request {n}: {} tokens sent, waiting for the answer…",
                wording::tokens(Tokens(heard.tokens))
            ),
            (n, false) => format!("Request {n}: the answer comes in…"),
        };
        ui.label(weak(ui, text));
    });
    if let Some(why) = &heard.waits {
        ui.label(RichText::new(format!("Asked again soon: {why}")).color(palette(ui).warn));
    }
    if heard.text.is_empty() {
        return;
    }
    boxed(ui, |ui| {
        ScrollArea::vertical()
            .id_salt("incoming")
            .max_height(INCOMING)
            .min_scrolled_height(INCOMING)
            .stick_to_bottom(true)
            .auto_shrink([false, true])
            .show(ui, |ui| {
                let text = crate::safe_text::visible(&heard.text);
                ui.add(Label::new(text.as_ref()).wrap());
            });
    });
}

/// Summaries before they are written.
pub(super) fn review(ui: &mut Ui, review: &Review, commands: &mut Vec<Command>) {
    let preview = &review.preview;
    let (before, after) = (
        wording::tokens(preview.before),
        wording::tokens(preview.after),
    );
    let said = if preview.changes {
        format!("{before} → {after} tokens; nothing is written yet")
    } else {
        format!("{before} tokens, unchanged: there is nothing to write")
    };
    strong(ui, said);
    for note in &preview.notes {
        let note = RichText::new(wording::with_grouped(note));
        ui.label(note.color(palette(ui).warn));
    }
    if preview.requests.is_empty() && preview.changes {
        ui.label(weak(ui, "This policy writes no summary here."));
    }
    for (idx, request) in preview.requests.iter().enumerate() {
        ui.add_space(space::XS);
        ui.label(small(ui, about(review, idx)));
        if let Some(why) = &request.failed {
            ui.label(RichText::new(why).color(palette(ui).bad));
        }
        if let Some(text) = &review.texts[idx] {
            summary(ui, idx, text, commands);
        }
    }
    if let Some(log) = &preview.log {
        ui.add_space(space::XS);
        ui.add(Label::new(small(ui, format!("Logged in {}", log.display()))).truncate())
            .on_hover_text(log.display().to_string());
    }
}

/// Who wrote a summary, for whom, and what that took.
fn about(review: &Review, idx: usize) -> String {
    let request = &review.preview.requests[idx];
    let mut facts = format!("call {} · {} · {}", request.step, request.stage, request.by);
    if let (Some(sent), Some(received)) = (request.sent, request.received) {
        let (sent, received) = (wording::grouped(sent), wording::grouped(received));
        facts = format!("{facts} · {sent} tokens sent, {received} received as the server counts");
    }
    if let Some(millis) = request.millis {
        facts = format!("{facts} · {:.1}\u{2009}s", millis as f64 / 1000.0);
    }
    if request.questions > 1 {
        facts = format!("{facts} · in {} parts", request.questions);
    }
    if review.is_edited(idx) {
        facts += " · written over";
    }
    facts
}

/// A summary that can be written over.
fn summary(ui: &mut Ui, idx: usize, text: &str, commands: &mut Vec<Command>) {
    let mut edited = text.to_owned();
    ScrollArea::vertical()
        .id_salt(("summary", idx))
        .max_height(SUMMARY)
        .min_scrolled_height(SUMMARY)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            let edit = TextEdit::multiline(&mut edited)
                .desired_width(ui.available_width() - 16.0)
                .desired_rows(4);
            ui.add(edit).accessible_name(format!("Summary {}", idx + 1));
        });
    if edited != text {
        commands.push(Command::EditSummary(idx, edited));
    }
}

/// The buttons of a stage.
pub(super) fn consent_buttons(ui: &mut Ui, consent: &Consent, commands: &mut Vec<Command>) {
    let host = consent.endpoint.host();
    if widgets::primary_button(ui, &format!("Send to {host}")).clicked() {
        commands.push(Command::SendExport);
    }
    if widgets::secondary_button(ui, "Back", "Esc").clicked() {
        commands.push(Command::CancelExport);
    }
}

pub(super) fn asking_buttons(ui: &mut Ui, commands: &mut Vec<Command>) {
    let help = "Closes the connection; nothing is written";
    if widgets::secondary_button(ui, "Cancel", "Esc")
        .on_hover_text(help)
        .clicked()
    {
        commands.push(Command::CancelExport);
    }
}

pub(super) fn review_buttons(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    export: &Export,
    review: &Review,
    commands: &mut Vec<Command>,
) {
    if !review.preview.changes {
        super::compact_anyway(ui, input, export, commands);
    }
    let is_worth_it = review.preview.changes || export.draft.what == What::Saw;
    ui.add_enabled_ui(is_worth_it, |ui| {
        let name = if export.draft.is_for_store(input.document) {
            "Go on…"
        } else {
            "Write the export"
        };
        if widgets::primary_button(ui, name).clicked() {
            commands.push(Command::WriteReviewed);
        }
    });
    if widgets::secondary_button(ui, "Back", "Esc").clicked() {
        commands.push(Command::CancelExport);
    }
}

fn strong(ui: &mut Ui, text: String) {
    ui.label(RichText::new(text).text_style(theme::strong()));
}

fn boxed(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    Frame::new()
        .fill(palette(ui).background)
        .corner_radius(f32::from(space::RADIUS_SMALL))
        .inner_margin(Margin::symmetric(10, 6))
        .show(ui, content);
}
