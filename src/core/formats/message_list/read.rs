//! Reads the conversations of a file. Each format reads its own messages ([`Dialect`]).

use super::dialect::Dialect;
use super::layout::{self, Layout};
use super::settings::Settings;
use crate::formats::content::{self, CallMatcher};
use crate::formats::read_log::ReadLog;
use crate::formats::{ImportReport, Input, ParseError, Parsed, counts, json, title};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::{CallDraft, Draft, Role, Session, SessionBuilder, Source, Span};
use crate::units::Tokens;
use rayon::prelude::*;

/// Number of elements that are parsed at once. Values take several times the memory of their text.
// Chosen: enough for all cores, and at a kilobyte an element some 50 MB of values. Lists of fewer elements are one
// batch.
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
    call: Option<Box<CallDraft>>,
}

/// Reads a file.
pub(crate) fn read(
    input: &Input,
    progress: &Progress,
    dialect: &Dialect,
) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let layouts = layout::find(&input.bytes.whole(), &dialect.shape, progress, &mut log.warnings)?;
    let is_many = layouts.len() > 1;
    let mut sessions = Vec::with_capacity(layouts.len());
    for (idx, layout) in layouts.iter().enumerate() {
        let source = input.source(dialect.name, is_many.then_some(idx + 1));
        let session = read_one(source, layout, progress, dialect, &mut log)?;
        if session.messages.is_empty() {
            let text = "this conversation has no messages";
            log.notes.add(layout.whole.start, text);
        } else {
            sessions.push(session);
        }
    }
    log.finish(input, sessions, "a list of messages without any message")
}

fn read_one(
    source: Source,
    layout: &Layout,
    progress: &Progress,
    dialect: &Dialect,
    log: &mut ReadLog,
) -> Result<Session, Cancelled> {
    let mut settings = Settings::new(&source.bytes.whole(), layout, dialect);
    let checked = counts::checked(settings.window, "the recorded context window");
    settings.window = checked.unwrap_or_else(|why| {
        log.notes.add(layout.whole.start, why);
        None
    });
    let elements = read_elements(&source, layout, progress, &mut settings, dialect, log)?;
    let reports_usage = |e: &ReadElement| e.call.as_ref().is_some_and(|call| call.usage.is_some());
    let n_managed = settings.n_managed();
    // A managed conversation keeps the response around its list, which reports the last call of the source.
    let is_copy = n_managed > 0 && n_managed >= elements.len();
    let around = (dialect.call)(&Value::Object(settings.members.clone()));
    let mut builder = ConversationBuilder {
        dialect,
        is_recorded: dialect.answers_in_runs || elements.iter().any(reports_usage),
        session: start(source, settings, dialect, &mut log.report),
        is_answering: false,
        has_question: false,
        first_words: None,
        pending_count: None,
    };
    let drafts = || elements.iter().flat_map(|e| e.drafts.iter().flatten());
    let n_parts = drafts().map(|draft| draft.parts.len()).sum();
    builder.session.reserve(drafts().count(), 0, n_parts);
    for (idx, element) in elements.into_iter().enumerate() {
        progress.check_cancelled()?;
        match element.drafts {
            Ok(drafts) => builder.add(&element.span, drafts, element.call, idx < n_managed),
            Err(why) => log.notes.add(element.span.start, why),
        }
    }
    // Usage of the document itself belongs to its last answer.
    if dialect.answers_in_runs
        && let Some(call) = builder.session.last_call_mut()
        && let Some(around) = around.filter(|_| !is_copy)
    {
        let around = || log.notes.usage(layout.whole.start, around.usage);
        call.usage = call.usage.or_else(around);
    }
    Ok(builder.finish())
}

/// Reads the elements of the list and the answers stored outside of it.
fn read_elements(
    source: &Source,
    layout: &Layout,
    progress: &Progress,
    settings: &mut Settings,
    dialect: &Dialect,
    log: &mut ReadLog,
) -> Result<Vec<ReadElement>, Cancelled> {
    let mut elements = Vec::with_capacity(layout.elements.len() + layout.answers.len());
    let mut calls = CallMatcher::default();
    let mut read = |parsed: Vec<Element>| {
        settings.find_mark(parsed.iter().filter_map(|e| e.value.as_ref()));
        elements.extend(parsed.into_iter().map(|element| {
            if let Some(note) = element.value.as_ref().and_then(dialect.note) {
                log.notes.once(element.span.start, note);
            }
            let mut read = read_element(&element, settings, dialect, &mut calls, &mut log.report);
            let usage = read.call.as_ref().and_then(|call| call.usage);
            if let Err(why) = counts::checked_usage(usage) {
                log.notes.add(element.span.start, why);
                read.call = None;
            }
            read
        }));
    };
    let bytes = source.bytes.whole();
    // A batch is parsed while the one before it is read.
    let mut parsed = Ok(Vec::new());
    for spans in layout.elements.chunks(ELEMENTS_PER_BATCH) {
        let before = parsed?;
        parsed = rayon::join(|| read(before), || parse_elements(&bytes, spans, progress)).1;
    }
    read(parsed?);
    read(parse_answers(&bytes, layout));
    Ok(elements)
}

/// Adds the messages and calls of the elements to a session.
struct ConversationBuilder<'a> {
    dialect: &'a Dialect,
    session: SessionBuilder,
    /// The file records the calls.
    is_recorded: bool,
    /// The last message is an answer.
    is_answering: bool,
    /// There is a message that can be answered.
    has_question: bool,
    /// First line that the user wrote.
    first_words: Option<String>,
    /// Count recorded before the next answer.
    pending_count: Option<CallDraft>,
}

impl ConversationBuilder<'_> {
    /// Adds the messages of an element. The usage of a managed element is ignored.
    fn add(
        &mut self,
        span: &Span,
        drafts: Vec<Draft>,
        call: Option<Box<CallDraft>>,
        is_managed: bool,
    ) {
        let mut call = call.map(|call| *call);
        if drafts.is_empty()
            && let Some(found) = call.take().filter(|_| !is_managed)
        {
            self.pending_count = count_between(found, self.is_answering, &mut self.session);
        }
        for mut draft in drafts {
            draft.raw = vec![span.clone()];
            if self.first_words.is_none() && draft.role == Role::User && !draft.is_injected {
                self.first_words =
                    draft.parts.iter().find_map(|p| title::first_line(p.body.text()));
            }
            self.has_question |= matches!(draft.role, Role::User | Role::Tool);
            // A fixed greeting answers nothing.
            let is_greeting = !self.has_question
                && !self.dialect.answers_in_runs
                && call.is_none()
                && self.pending_count.is_none();
            let continued = self.is_answering && self.dialect.answers_in_runs;
            self.is_answering = draft.role == Role::Assistant;
            if self.is_answering && self.is_recorded && !continued && !is_greeting {
                let found = call.take().or_else(|| self.pending_count.take());
                let mut call = found.unwrap_or_default();
                // A thought keeps its size. The context of the call is no longer in the file.
                content::assign_reasoning(&mut draft.parts, call.usage.as_ref());
                call.usage = call.usage.filter(|_| !is_managed);
                self.session.call(call);
            }
            self.pending_count = None;
            self.session.message(draft);
        }
    }

    fn finish(self) -> Session {
        let mut session = self.session.finish();
        // Conversations that users store themselves have names of their own.
        let has_name = self.dialect.is_request || session.title != session.source.name;
        if let Some(first_words) = self.first_words.filter(|_| !has_name) {
            session.title = first_words;
        }
        session
    }
}

/// Takes a count recorded between messages. Directly after an answer, it includes the answer. Elsewhere it is the
/// context of the following answer and is returned for it.
fn count_between(
    found: CallDraft,
    is_answering: bool,
    builder: &mut SessionBuilder,
) -> Option<CallDraft> {
    let Some(call) = builder.last_call_mut().filter(|_| is_answering) else {
        return Some(found);
    };
    let total = found.usage.map(|usage| usage.input);
    match &mut call.usage {
        Some(usage) => {
            let answer = total.and_then(|total| total.0.checked_sub(usage.input.0));
            usage.output = usage.output.or(answer.map(Tokens));
        }
        None => call.usage = found.usage,
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
    if let Some(model) = settings.text("model").or_else(|| settings.text("modelId")) {
        builder.usual_model(model);
    }
    builder.calibration(settings.calibration());
    let members = Value::Object(settings.members);
    if let Some(title) = (dialect.title)(&members) {
        builder.title(title);
    }
    for (kind, draft) in (dialect.body)(&members) {
        report.count_record(kind, true);
        builder.message(draft);
    }
    builder
}

/// Reads an element and counts it in the report.
fn read_element(
    element: &Element,
    settings: &Settings,
    dialect: &Dialect,
    calls: &mut CallMatcher,
    report: &mut ImportReport,
) -> ReadElement {
    let value = element.value.as_ref();
    let kind = value.map_or("other", |v| dialect.shape.kind(v));
    let drafts = value
        .ok_or_else(|| "this message is nested too deeply to be read".to_owned())
        .and_then(|value| (dialect.messages)(value, calls));
    report.count_record(kind, drafts.as_ref().is_ok_and(|drafts| !drafts.is_empty()));
    ReadElement {
        span: element.span.clone(),
        drafts,
        call: settings.call_of(value, element.response.as_ref(), dialect).map(Box::new),
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
        Ok(Element { span: span.clone(), value: json::parse_span(bytes, span), response: None })
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
