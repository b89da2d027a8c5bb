//! Views of the stages of an export: consent, progress of the model, and review of the summaries.

use crate::app::state::command::Commands;
use crate::app::state::export::command::ExportCommand;
use crate::app::state::export::draft::ExportContent;
use crate::app::state::export::job::Export;
use crate::app::state::export::stage::{Consent, Review, StoreConsent};
use crate::app::state::model_form::run::RunHandle;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::parts::form_row::row;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::dialog::error_box;
use crate::app::ui::widgets::text::{small, weak};
use crate::app::ui::{theme, widgets};
use crate::providers::Endpoint;
use crate::units::Tokens;
use egui::{Align, Frame, Label, Layout, Margin, RichText, ScrollArea, TextEdit, Ui, vec2};

/// Height of the incoming text, in points.
const INCOMING: f32 = 110.0;

/// Height of an editable summary, in points.
const SUMMARY: f32 = 220.0;

/// Shows what would be sent and where.
pub(crate) fn consent(ui: &mut Ui, consent: &Consent) {
    let endpoint = &consent.endpoint;
    strong(ui, format!("Send to {}?", endpoint.host()));
    ui.add_space(space::XS);
    let sending = &consent.sending;
    let requests = wording::count(sending.requests, "request");
    let log = match &consent.log {
        Some(path) => path.display().to_string(),
        None => "nothing is logged".to_owned(),
    };
    let rows = [
        ("model", destination(endpoint)),
        (
            "sends",
            format!(
                "{requests}, about {} tokens with this conversation",
                wording::tokens(sending.tokens)
            ),
        ),
        ("receives", format!("at most {} tokens", wording::tokens(sending.answers))),
        ("price", sending.quote.to_string()),
        ("log", log),
    ];
    facts(ui, &rows);
}

/// Returns a model with the kind of its connection.
pub(crate) fn destination(endpoint: &Endpoint) -> String {
    let how = if endpoint.is_local() {
        "this machine"
    } else if endpoint.is_encrypted() {
        "encrypted connection"
    } else {
        "unencrypted connection"
    };
    format!("{} ({how})", endpoint.model)
}

/// Shows the facts that the user confirms, line by line.
pub(crate) fn facts(ui: &mut Ui, rows: &[(&str, String)]) {
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

/// Shows what would be added to a program's session folder.
pub(crate) fn store(ui: &mut Ui, consent: &StoreConsent) {
    let program = consent.program;
    strong(ui, format!("Add a new session to {program}?"));
    ui.add_space(space::XS);
    let folder = match &consent.folder {
        None => "checking…".to_owned(),
        Some(Ok(folder)) => folder.display().to_string(),
        Some(Err(why)) => return error_box(ui, "No session folder found", why),
    };
    let rows = [
        ("folder", folder),
        ("file", "new, named after the new id".to_owned()),
        ("others", "existing sessions are not changed".to_owned()),
        ("after", format!("shows the command that resumes it in {program}")),
    ];
    facts(ui, &rows);
}

pub(crate) fn store_buttons(ui: &mut Ui, consent: &StoreConsent, commands: &mut Commands) {
    ui.add_enabled_ui(matches!(consent.folder, Some(Ok(_))), |ui| {
        let name = format!("Write into {}", consent.program);
        if widgets::primary_button(ui, &name).clicked() {
            commands.push(ExportCommand::WriteToStore);
        }
    });
    if widgets::secondary_button(ui, "Back", "Esc").clicked() {
        commands.push(ExportCommand::Cancel);
    }
}

/// Shows the progress of the model.
pub(crate) fn asking(ui: &mut Ui, run: &RunHandle) {
    let progress = run.progress();
    ui.horizontal(|ui| {
        ui.spinner();
        let text = match (progress.n_requests, progress.text.is_empty()) {
            (0, _) => "Preparing…".to_owned(),
            (n, true) => format!(
                "Request {n}: {} tokens sent, waiting for the answer…",
                wording::tokens(Tokens(progress.tokens))
            ),
            (n, false) => format!("Request {n}: receiving the answer…"),
        };
        ui.label(weak(ui, text));
    });
    if let Some(why) = &progress.waiting {
        ui.label(RichText::new(format!("Retrying soon: {why}")).color(palette(ui).warn));
    }
    if progress.text.is_empty() {
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
                let text = crate::safe_text::visible(&progress.text);
                ui.add(Label::new(text.as_ref()).wrap());
            });
    });
}

/// Shows the summaries for review.
pub(crate) fn review(ui: &mut Ui, review: &Review, commands: &mut Commands) {
    let preview = &review.preview;
    let (before, after) = (wording::tokens(preview.before), wording::tokens(preview.after));
    let sentence = if preview.changes {
        format!("{before} → {after} tokens; not written yet")
    } else {
        format!("{before} tokens, unchanged: nothing to write")
    };
    strong(ui, sentence);
    for note in &preview.notes {
        let note = RichText::new(wording::with_grouped(note));
        ui.label(note.color(palette(ui).warn));
    }
    if preview.requests.is_empty() && preview.changes {
        ui.label(weak(ui, "This policy writes no summary here."));
    }
    for (idx, request) in preview.requests.iter().enumerate() {
        ui.add_space(space::XS);
        ui.label(small(ui, summary_info(review, idx)));
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

/// Returns the source of a summary, its purpose and its resource use.
fn summary_info(review: &Review, idx: usize) -> String {
    let request = &review.preview.requests[idx];
    let mut facts = format!("call {} · {} · {}", request.call, request.stage, request.summarizer);
    if let (Some(sent), Some(received)) = (request.sent, request.received) {
        let (sent, received) = (wording::grouped(sent), wording::grouped(received));
        facts = format!("{facts} · {sent} tokens sent, {received} received (reported)");
    }
    if let Some(millis) = request.millis {
        facts = format!("{facts} · {:.1}\u{2009}s", millis as f64 / 1000.0);
    }
    if request.prompts > 1 {
        facts = format!("{facts} · in {} parts", request.prompts);
    }
    if review.is_edited(idx) {
        facts += " · edited";
    }
    facts
}

/// Shows an editable summary.
fn summary(ui: &mut Ui, idx: usize, text: &str, commands: &mut Commands) {
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
        commands.push(ExportCommand::EditSummary(idx, edited));
    }
}

pub(crate) fn consent_buttons(ui: &mut Ui, consent: &Consent, commands: &mut Commands) {
    let host = consent.endpoint.host();
    if widgets::primary_button(ui, &format!("Send to {host}")).clicked() {
        commands.push(ExportCommand::Send);
    }
    if widgets::secondary_button(ui, "Back", "Esc").clicked() {
        commands.push(ExportCommand::Cancel);
    }
}

pub(crate) fn asking_buttons(ui: &mut Ui, commands: &mut Commands) {
    let help = "Closes the connection; nothing is written";
    if widgets::secondary_button(ui, "Cancel", "Esc").on_hover_text(help).clicked() {
        commands.push(ExportCommand::Cancel);
    }
}

pub(crate) fn review_buttons(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    export: &Export,
    review: &Review,
    commands: &mut Commands,
) {
    let has_content = review.preview.changes || export.draft.content == ExportContent::Context;
    let is_offered = !review.preview.changes
        && crate::app::ui::parts::stage_views::compact_anyway(ui, input, export, commands);
    // A dialog has one primary button.
    if !is_offered {
        ui.add_enabled_ui(has_content, |ui| {
            let name = if export.draft.is_for_store(input.document) {
                "Continue…"
            } else {
                "Write the export"
            };
            if widgets::primary_button(ui, name).clicked() {
                commands.push(ExportCommand::WriteReviewed);
            }
        });
    }
    if widgets::secondary_button(ui, "Back", "Esc").clicked() {
        commands.push(ExportCommand::Cancel);
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

/// Shows the button that compacts the same context although the policy's trigger is not met. Returns whether it is offered.
pub(crate) fn compact_anyway(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    export: &Export,
    commands: &mut Commands,
) -> bool {
    let draft = &export.draft;
    let is_of_end = match draft.content {
        ExportContent::CompactNow => true,
        ExportContent::AsShown => draft.call == input.document.last_call(),
        ExportContent::CompactNowForced | ExportContent::Context => false,
    };
    let policy = draft.lane.and_then(|lane| input.runs.lanes.get(lane));
    let acts = policy.is_some_and(|lane| !lane.policy.stages.is_empty());
    let help = "Apply the policy once to the last recorded context, regardless of its trigger";
    let is_offered = is_of_end && acts;
    if is_offered && widgets::primary_button(ui, "Compact anyway").on_hover_text(help).clicked() {
        commands.push(ExportCommand::CompactAnyway);
    }
    is_offered
}
