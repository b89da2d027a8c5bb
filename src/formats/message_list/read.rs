//! Reads the conversations of a file. Each format reads its own messages ([`Dialect`]).

use super::calls::Calls;
use super::dialect::Dialect;
use super::layout::{self, Layout};
use super::settings::Settings;
use crate::formats::notes::Notes;
use crate::formats::{ImportReport, Input, ParseError, Parsed, Refused, counts, json, title};
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, Draft, Part, Role, Session, SessionBuilder, Source, Span, StepDraft};
use crate::units::Tokens;
use rayon::prelude::*;
use serde_json::Value;

/// Number of elements that are parsed at once. Values take several times the memory of their text.
const ELEMENTS_PER_BATCH: usize = 1 << 14;

/// A parsed element of the list, with the response that contains it.
struct Element {
    span: Span,
    value: Option<Value>,
    response: Option<Value>,
}

/// The messages of an element and the call that it reports.
struct ReadElement {
    span: Span,
    drafts: Result<Vec<Draft>, String>,
    step: Option<Box<StepDraft>>,
}

/// Reads a file.
pub(in crate::formats) fn read(
    input: &Input,
    progress: &Progress,
    dialect: &Dialect,
) -> Result<Parsed, ParseError> {
    let mut warnings = Vec::new();
    let mut report = ImportReport::default();
    let mut notes = Notes::default();
    let layouts = layout::find(
        &input.bytes.whole(),
        &dialect.shape,
        progress,
        &mut warnings,
    )?;
    let is_many = layouts.len() > 1;
    let mut sessions = Vec::with_capacity(layouts.len());
    for (idx, layout) in layouts.iter().enumerate() {
        let name = if is_many {
            format!("{} #{}", input.name, idx + 1)
        } else {
            input.name.clone()
        };
        let source = Source {
            name,
            format: dialect.name,
            bytes: input.bytes.clone(),
        };
        let session = read_one(source, layout, progress, dialect, (&mut report, &mut notes))?;
        if session.messages.is_empty() {
            notes.add(layout.whole.start, "this conversation has no messages");
        } else {
            sessions.push(session);
        }
    }
    warnings.extend(notes.warnings(&input.bytes));
    warnings.sort_by_key(|w| w.line);
    if sessions.is_empty() {
        return Err(Refused {
            looks_like: "this looks like a list of messages without any message".to_owned(),
        }
        .into());
    }
    Ok(Parsed {
        sessions,
        warnings,
        report,
    })
}

fn read_one(
    source: Source,
    layout: &Layout,
    progress: &Progress,
    dialect: &Dialect,
    (report, notes): (&mut ImportReport, &mut Notes),
) -> Result<Session, Cancelled> {
    let mut settings = Settings::new(&source.bytes.whole(), layout, dialect);
    let checked = counts::checked(settings.window, "the recorded context window");
    settings.window = checked.unwrap_or_else(|why| {
        notes.add(layout.whole.start, why);
        None
    });
    let mut elements = Vec::with_capacity(layout.elements.len() + layout.answers.len());
    let mut calls = Calls::default();
    let mut read = |parsed: Vec<Element>| {
        settings.find_mark(parsed.iter().filter_map(|e| e.value.as_ref()));
        elements.extend(parsed.into_iter().map(|element| {
            let mut read = read_element(&element, &settings, dialect, &mut calls, report);
            let usage = read.step.as_ref().and_then(|s| s.usage);
            if let Err(why) = counts::checked_usage(usage) {
                notes.add(element.span.start, why);
                read.step = None;
            }
            read
        }));
    };
    let bytes = source.bytes.whole();
    for spans in layout.elements.chunks(ELEMENTS_PER_BATCH) {
        read(parse_elements(&bytes, spans, progress)?);
    }
    read(parse_answers(&bytes, layout));
    drop(bytes);
    let is_recorded = elements
        .iter()
        .any(|e| e.step.as_ref().is_some_and(|s| s.usage.is_some()));
    let is_recorded = is_recorded || dialect.answers_in_runs;
    let n_managed = settings.n_managed();
    // A managed conversation keeps the response around its list, which reports the last call of the source.
    let is_copy = n_managed > 0 && n_managed >= elements.len();
    let around = (dialect.step)(&Value::Object(settings.members.clone()));
    let around = around.filter(|_| !is_copy);
    let mut is_answering = false;
    let mut builder = start(source, settings, dialect, report);
    let mut first_words = None;
    let mut pending_count = None;
    for (idx, element) in elements.into_iter().enumerate() {
        progress.check_cancelled()?;
        match element.drafts {
            Ok(drafts) => {
                let mut step = element.step.map(|step| *step);
                if drafts.is_empty()
                    && let Some(found) = step.take().filter(|_| idx >= n_managed)
                {
                    pending_count = count_between(found, is_answering, &mut builder);
                }
                for mut draft in drafts {
                    draft.raw = vec![element.span.clone()];
                    if first_words.is_none() && draft.role == Role::User && !draft.is_injected {
                        first_words = draft.parts.iter().find_map(|p| title::of(p.body.text()));
                    }
                    let continued = is_answering && dialect.answers_in_runs;
                    is_answering = draft.role == Role::Assistant;
                    if is_answering && is_recorded && !continued {
                        let found = step.take().or_else(|| pending_count.take());
                        let mut step = found.unwrap_or_default();
                        // A thought keeps its size. The context of the call is no longer in the file.
                        note_reasoning(&mut draft, &step);
                        step.usage = step.usage.filter(|_| idx >= n_managed);
                        builder.step(step);
                    }
                    pending_count = None;
                    builder.message(draft);
                }
            }
            Err(why) => notes.add(element.span.start, why),
        }
    }
    // Usage of the document itself belongs to its last answer.
    let last = builder.session().steps.len().checked_sub(1);
    if let (true, Some(step), Some(around)) = (
        dialect.answers_in_runs,
        last.and_then(|last| builder.step_mut(last)),
        around,
    ) {
        let around = || notes.usage(layout.whole.start, around.usage);
        step.usage = step.usage.or_else(around);
    }
    let mut session = builder.finish();
    // Conversations that users store themselves have names of their own.
    if let Some(first_words) =
        first_words.filter(|_| !dialect.is_request && session.title == session.source.name)
    {
        session.title = first_words;
    }
    Ok(session)
}

/// Takes a count recorded between messages. Directly after an answer, it includes the answer. Elsewhere it is the
/// context of the following answer and is returned for it.
fn count_between(
    found: StepDraft,
    is_answering: bool,
    builder: &mut SessionBuilder,
) -> Option<StepDraft> {
    let last = builder.session().steps.len().checked_sub(1);
    let last = last.filter(|_| is_answering);
    let Some(step) = last.and_then(|last| builder.step_mut(last)) else {
        return Some(found);
    };
    let total = found.usage.map(|usage| usage.input);
    match &mut step.usage {
        Some(usage) => {
            let answer = total.and_then(|total| total.0.checked_sub(usage.input.0));
            usage.output = usage.output.or(answer.map(Tokens));
        }
        None => step.usage = found.usage,
    }
    None
}

/// Creates a session with its settings and the messages stored outside of the list.
fn start(
    source: Source,
    settings: Settings,
    dialect: &Dialect,
    report: &mut ImportReport,
) -> SessionBuilder {
    let mut builder = SessionBuilder::new(source);
    if let Some(model) = settings.text("model") {
        builder.usual_model(model);
    }
    builder.calibration(settings.calibration());
    let members = Value::Object(settings.members);
    if let Some(title) = (dialect.title)(&members) {
        builder.title(title);
    }
    for (kind, draft) in (dialect.body)(&members) {
        report.note(kind, true);
        builder.message(draft);
    }
    builder
}

/// Assigns the provider's count of reasoning tokens to the only thought of the message.
fn note_reasoning(draft: &mut Draft, step: &StepDraft) {
    let tokens = step
        .usage
        .and_then(|u| u.reasoning)
        .and_then(|t| u32::try_from(t.0).ok());
    let mut thoughts = draft
        .parts
        .iter_mut()
        .filter(|p| matches!(p.body, Body::Thinking { .. }));
    if let (
        Some(Part {
            body: Body::Thinking { reported, .. },
            ..
        }),
        None,
    ) = (thoughts.next(), thoughts.next())
    {
        *reported = tokens;
    }
}

/// Reads an element and counts it in the report.
fn read_element(
    element: &Element,
    settings: &Settings,
    dialect: &Dialect,
    calls: &mut Calls,
    report: &mut ImportReport,
) -> ReadElement {
    let value = element.value.as_ref();
    let kind = value.map_or("other", |v| dialect.shape.kind(v));
    let drafts = value
        .ok_or_else(|| "this message is nested too deeply to be read".to_owned())
        .and_then(|value| (dialect.messages)(value, calls));
    report.note(kind, drafts.as_ref().is_ok_and(|drafts| !drafts.is_empty()));
    ReadElement {
        span: element.span.clone(),
        drafts,
        step: settings
            .step_of(value, element.response.as_ref(), dialect)
            .map(Box::new),
    }
}

fn parse_elements(
    bytes: &[u8],
    spans: &[Span],
    progress: &Progress,
) -> Result<Vec<Element>, Cancelled> {
    let listed = spans.par_iter().map(|span| {
        progress.check_cancelled()?;
        progress.advance(span.len() as u64 / json::DOCUMENT_PASSES);
        Ok(Element {
            span: span.clone(),
            value: json::parse_span(bytes, span),
            response: None,
        })
    });
    listed.collect()
}

fn parse_answers(bytes: &[u8], layout: &Layout) -> Vec<Element> {
    let answers = layout.answers.iter().map(|answer| Element {
        span: answer.message.clone(),
        value: json::parse_span(bytes, &answer.message),
        response: json::parse_span(bytes, &answer.response),
    });
    answers.collect()
}
