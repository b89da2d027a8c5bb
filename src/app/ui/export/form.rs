//! The form of an export: lane, content, summarizer, format and output path.

use crate::app::state::command::Commands;
use crate::app::state::export::command::{ExportCommand, ExportPath};
use crate::app::state::export::draft::{
    ExportContent, ExportDraft, SummarySource, Target, writable,
};
use crate::app::state::export::job::Export;
use crate::app::state::open_session::OpenSession;
use crate::app::state::run_logs::list::RunLogsCommand;
use crate::app::state::wording;
use crate::app::ui::parts::model_fields::ModelFieldAction;
use crate::app::ui::parts::{form_row, model_fields};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::path_field::PathField;
use crate::app::ui::widgets::text::{small, weak};
use crate::formats::Resume;
use crate::{exec, formats};
use egui::{Align, ComboBox, Id, Layout, ScrollArea, TextEdit, Ui, vec2};
use std::path::Path;

/// Width of the labels, in points.
const LABEL: f32 = 84.0;

/// Shows the form. `takes_focus` focuses the chosen lane.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    export: &Export,
    draft: &mut ExportDraft,
    takes_focus: bool,
    commands: &mut Commands,
) {
    line(ui, "lane", |ui, _| lanes(ui, input, draft, takes_focus));
    line(ui, "content", |ui, _| ui.vertical(|ui| content_choice(ui, input, draft)));
    let manual_edits = crate::app::state::model::marks::summary(&input.runs.case.manual_edits);
    if !manual_edits.is_empty() {
        line(ui, "edits", |ui, _| {
            let size = vec2(ui.available_width(), space::CONTROL);
            let layout = Layout::left_to_right(Align::Center);
            ui.allocate_ui_with_layout(size, layout, |ui| {
                ui.label(&manual_edits);
                ui.label(small(ui, "messages, as shown in the table"));
            });
        });
    }
    if draft.lane.is_some() {
        line(ui, "summaries", |ui, _| ui.vertical(|ui| summaries(ui, export, draft, commands)));
    }
    line(ui, "format", |ui, label| {
        let chosen = formats::by_name(draft.format).map_or("none", |f| f.label);
        let combo =
            ComboBox::from_id_salt("export format").selected_text(chosen).show_ui(ui, |ui| {
                for format in writable(input.document) {
                    ui.selectable_value(&mut draft.format, format.name, format.label);
                }
            });
        combo.response.labelled_by(label);
    });
    if let Some(resume) = draft.resume(input.document) {
        line(ui, "as", |ui, _| ui.vertical(|ui| target(ui, draft, resume)));
    }
    let is_for_store = draft.is_for_store(input.document);
    if let Some(resume) = draft.resume(input.document).filter(|_| is_for_store) {
        line(ui, "write to", |ui, _| {
            let size = vec2(ui.available_width(), space::CONTROL);
            let layout = Layout::left_to_right(Align::Center);
            ui.allocate_ui_with_layout(size, layout, |ui| {
                let text = format!("the session folder of {}", resume.program);
                ui.label(weak(ui, text));
            });
        });
    } else {
        line(ui, "write to", |ui, label| {
            let field =
                PathField { id: "export path", label, hint: "/home/me/session-managed-1.jsonl" };
            if field.show(ui, &mut draft.output) {
                commands.push(ExportCommand::Browse(ExportPath::Output));
            }
        });
    }
    if draft.content != ExportContent::Context && writes_files(input, draft) {
        let beside = if is_for_store { "the recorded session" } else { "it" };
        line(ui, "files to", |ui, label| {
            files(ui, draft, label, beside, commands);
        });
    }
}

/// Shows a labelled line of the form. The label aligns with the first line of its content.
fn line<R>(ui: &mut Ui, label: &str, content: impl FnOnce(&mut Ui, Id) -> R) {
    widgets::labelled(ui, label, LABEL, space::M, content);
    ui.add_space(space::XS);
}

fn lanes(ui: &mut Ui, input: &OpenSession<'_>, draft: &mut ExportDraft, takes_focus: bool) {
    ui.horizontal_wrapped(|ui| {
        let labels = input.runs.labels.iter().enumerate();
        let lanes = labels.map(|(lane, label)| (Some(lane), &**label, palette(ui).lane(lane)));
        let recorded = (None, "Recorded", palette(ui).recorded);
        for (lane, label, color) in lanes.chain([recorded]).collect::<Vec<_>>() {
            let is_chosen = draft.lane == lane;
            let toggle = widgets::toggle(ui, label, is_chosen, color);
            if takes_focus && is_chosen {
                toggle.request_focus();
            }
            let toggle = match lane {
                Some(_) => toggle,
                None => toggle.on_hover_text("The recorded context"),
            };
            if toggle.clicked() {
                draft.lane = lane;
            }
        }
    });
}

fn content_choice(ui: &mut Ui, input: &OpenSession<'_>, draft: &mut ExportDraft) {
    let n_calls = input.document.session().calls.len();
    let place = wording::place(draft.call, n_calls);
    if draft.lane.is_some() {
        let as_shown = format!("As shown in this lane {place}");
        ui.radio_value(&mut draft.content, ExportContent::AsShown, as_shown)
            .on_hover_text("Apply the policy from the first call on; generates its summaries");
        let last = input.runs.recorded.outcome.end;
        let now =
            format!("Compact now: the last recorded context, {} tokens", wording::tokens(last));
        ui.radio_value(&mut draft.content, ExportContent::CompactNow, now).on_hover_text(
            "At the end of the session; applies the policy once if its trigger is met",
        );
        let forced = "Compact now, regardless of the trigger";
        ui.radio_value(&mut draft.content, ExportContent::CompactNowForced, forced)
            .on_hover_text("At the end of the session; applies the policy once");
    }
    let saw = match draft.lane {
        Some(_) => format!("Context of this lane {place}, file only"),
        None => format!("Recorded context {place}, file only"),
    };
    ui.radio_value(&mut draft.content, ExportContent::Context, saw).on_hover_text(
        "Ends before the answer to that call; written even if the policy has not acted by then",
    );
}

fn summaries(ui: &mut Ui, export: &Export, draft: &mut ExportDraft, commands: &mut Commands) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::L;
        let mut source = |source: SummarySource, name: &str, help: &str| {
            ui.radio_value(&mut draft.summaries, source, name).on_hover_text(help);
        };
        source(SummarySource::Digest, "Digest", "Extracted from the conversation, without a model");
        source(SummarySource::Pasted, "My text", "Paste an existing summary");
        source(SummarySource::Model, "A model", "Sends the content to a model after you confirm");
        source(
            SummarySource::Log,
            "A log",
            "Answers from the log of an earlier run: nothing is sent",
        );
    });
    match draft.summaries {
        SummarySource::Digest => {}
        SummarySource::Pasted => pasted(ui, draft),
        SummarySource::Model => {
            let action = model_fields::show(ui, &export.key, export.keeps_state, &mut draft.model);
            commands.extend(action.map(|action| match action {
                ModelFieldAction::SetKey(key) => ExportCommand::SetKey(key),
                ModelFieldAction::Browse(path) => ExportCommand::Browse(ExportPath::Model(path)),
            }));
        }
        SummarySource::Log => replayed(ui, draft, commands),
    }
}

fn pasted(ui: &mut Ui, draft: &mut ExportDraft) {
    ScrollArea::vertical().id_salt("summary").max_height(80.0).show(ui, |ui| {
        let edit = TextEdit::multiline(&mut draft.text)
            .desired_width(ui.available_width() - 16.0)
            .desired_rows(4)
            .hint_text("Paste the summary here");
        ui.add(edit).accessible_name("Summary text");
    });
}

/// Shows the field for the log that supplies the answers.
fn replayed(ui: &mut Ui, draft: &mut ExportDraft, commands: &mut Commands) {
    ui.add_space(space::XS);
    form_row::row(ui, "log", |ui, label| {
        let field = PathField {
            id: "replayed log",
            label,
            hint: "log of an earlier run with the same settings",
        };
        if field.show(ui, &mut draft.replay) {
            commands.push(ExportCommand::Browse(ExportPath::Replay));
        }
    });
    form_row::row(ui, "", |ui, _| {
        if ui.link("Choose from saved logs…").clicked() {
            commands.push(RunLogsCommand::Show);
        }
    });
}

/// Shows the choice between a file and a session that the program can resume.
fn target(ui: &mut Ui, draft: &mut ExportDraft, resume: &Resume) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::L;
        ui.radio_value(&mut draft.target, Target::File, "a new file");
        let name = format!("a new session in {}", resume.program);
        let help = format!(
            "Into the session folder of {}, under a new id. The recorded session is not changed. You can check the path before it is written.",
            resume.program
        );
        ui.radio_value(&mut draft.target, Target::Store, name)
            .on_hover_text(help);
    });
}

/// Returns whether the lane's policy moves texts into files.
fn writes_files(input: &OpenSession<'_>, draft: &ExportDraft) -> bool {
    let Some(lane) = draft.lane.and_then(|lane| input.runs.lanes.get(lane)) else {
        return false;
    };
    lane.policy.stages.iter().any(|stage| stage.action.spills())
        || lane.outcome.events.iter().any(|event| !event.files.is_empty())
}

fn files(ui: &mut Ui, draft: &mut ExportDraft, label: Id, neighbor: &str, commands: &mut Commands) {
    let beside = exec::files_path(Path::new(draft.output.trim()));
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    let field =
        PathField { id: "export files", label, hint: &format!("{name} next to {neighbor}") };
    if field.show(ui, &mut draft.files) {
        commands.push(ExportCommand::Browse(ExportPath::Files));
    }
}
