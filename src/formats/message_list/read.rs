//! Reads the conversations of a file; what a message says is the format's own ([`Dialect`]).

use super::edit::Editing;
use super::layout::{self, Layout};
use super::shape::Shape;
use crate::formats::notes::Notes;
use crate::formats::{ImportReport, Input, Parsed, Refused, Unread, counts, json, title};
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, Draft, Part, Role, Session, SessionBuilder, Source, Span, StepDraft};
use crate::units::Tokens;
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

/// The member of a document that says that its messages were managed.
pub(in crate::formats) const MARK: &str = "plimsoll";

/// What sets the formats apart.
#[derive(Debug)]
pub(in crate::formats) struct Dialect {
    /// Name of the format.
    pub(in crate::formats) name: &'static str,
    /// Where the list stands and what tells a message.
    pub(in crate::formats) shape: Shape,
    /// The document may be sent as it is: what is no message must go where anything changes.
    pub(in crate::formats) is_request: bool,
    /// An answer is a run of messages of the model, and a call for each run is made out.
    pub(in crate::formats) answers_in_runs: bool,
    /// What the members beside the list call the conversation.
    pub(in crate::formats) title: fn(&Value) -> Option<String>,
    /// The messages that stand in the body beside the list, with the kind of record they are.
    pub(in crate::formats) body: fn(&Value) -> Vec<(&'static str, Draft)>,
    /// Reads an element of the list, which may hold a call with its result, or says why it is no message.
    pub(in crate::formats) messages: fn(&Value, &mut Calls) -> Result<Vec<Draft>, String>,
    /// The call that an element, or the answer kept beside the list, reports.
    pub(in crate::formats) step: fn(&Value) -> Option<StepDraft>,
    /// How a document is written again, where it can be.
    pub(in crate::formats) writes: Option<Writes>,
}

/// How elements of the list are written.
#[derive(Debug)]
pub(in crate::formats) struct Writes {
    /// The text of an element after an edit; `None` where nothing of it is left.
    pub(in crate::formats) edit: fn(&Editing<'_>) -> Option<Vec<u8>>,
    /// A message of ours.
    pub(in crate::formats) written: fn(Role, &str) -> Value,
}

/// The calls of a conversation so far, to name the results.
#[derive(Debug, Default)]
pub(in crate::formats) struct Calls {
    tools: HashMap<Box<str>, Box<str>>,
    open: VecDeque<Box<str>>,
    made: usize,
}

/// What is said about a conversation beside its messages.
struct Settings {
    members: Map<String, Value>,
    window: Option<Tokens>,
}

/// A message of the file, parsed, with where the call that made it is recorded.
struct Element {
    span: Span,
    value: Option<Value>,
    response: Option<Value>,
}

impl Calls {
    /// Notes a call and gives it an id if it has none.
    pub(in crate::formats) fn make(&mut self, id: Option<&str>, tool: &str) -> Box<str> {
        self.made += 1;
        let id: Box<str> = id.map_or_else(|| format!("call-{}", self.made).into(), Into::into);
        self.tools.insert(id.clone(), tool.into());
        self.open.push_back(id.clone());
        id
    }

    /// The id and the tool of the call that a result answers: that of its id, or the oldest without an answer.
    pub(in crate::formats) fn answer(&mut self, id: Option<&str>) -> (Box<str>, Box<str>) {
        let place = id.map_or(Some(0), |id| {
            self.open.iter().position(|open| **open == *id)
        });
        let open = place.and_then(|place| self.open.remove(place));
        let id = id.map(Into::into).or(open).unwrap_or_default();
        let tool = self.tools.get(&id).cloned().unwrap_or_default();
        (id, tool)
    }

    /// Gives the calls of a message their ids and joins its results with their calls.
    pub(in crate::formats) fn join(&mut self, parts: &mut [Part]) {
        let mut latest: Box<str> = "".into();
        for part in parts {
            match &mut part.body {
                Body::ToolCall { call, tool, .. } => {
                    *call = self.make(Some(&**call).filter(|id| !id.is_empty()), tool);
                }
                Body::ToolResult { call, tool, .. } => {
                    let (id, name) = self.answer(Some(&**call).filter(|id| !id.is_empty()));
                    *call = id;
                    if tool.is_empty() {
                        *tool = name;
                    }
                    latest.clone_from(call);
                }
                Body::Media {
                    within: Some(within),
                    ..
                } if within.is_empty() => within.clone_from(&latest),
                _ => {}
            }
        }
    }
}

/// Reads a file.
pub(in crate::formats) fn read(
    input: &Input,
    progress: &Progress,
    dialect: &Dialect,
) -> Result<Parsed, Unread> {
    let mut warnings = Vec::new();
    let mut report = ImportReport::default();
    let mut notes = Notes::default();
    let layouts = layout::find(&input.bytes, &dialect.shape, progress, &mut warnings)?;
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
            bytes: std::sync::Arc::clone(&input.bytes),
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
            looks_like: "this looks like a list of messages without a single message".to_owned(),
        }
        .into());
    }
    Ok(Parsed {
        sessions,
        warnings,
        report,
    })
}

/// What a document calls itself.
pub(in crate::formats) fn title(members: &Value) -> Option<String> {
    let title = json::str_at(members, &["title"])?;
    (!title.trim().is_empty()).then(|| title.to_owned())
}

/// A part of a message's one record.
pub(in crate::formats) fn part(block: usize, body: Body) -> Part {
    Part {
        body,
        record: 0,
        block: u32::try_from(block).unwrap_or(u32::MAX),
    }
}

/// A block unknown to us.
pub(in crate::formats) fn opaque(block: &Value) -> Body {
    let name = json::str_at(block, &["type"]).unwrap_or("unknown");
    Body::Opaque {
        name: name.into(),
        json: block.to_string().into(),
    }
}

/// Definitions of tools as one message, from members of a body that list them.
pub(in crate::formats) fn tool_definitions(body: &Value, keys: &[&str]) -> Option<Draft> {
    let listed = keys
        .iter()
        .filter_map(|key| body.get(key)?.as_array())
        .flatten();
    let definition = |(block, tool): (usize, &Value)| {
        let name =
            json::str_at(tool, &["function", "name"]).or_else(|| json::str_at(tool, &["name"]));
        let name = name
            .or_else(|| json::str_at(tool, &["custom", "name"]))
            .or_else(|| json::str_at(tool, &["type"]));
        let body = Body::ToolDefinition {
            tool: name.unwrap_or_default().into(),
            json: tool.to_string().into(),
        };
        part(block, body)
    };
    let parts: Vec<Part> = listed.enumerate().map(definition).collect();
    (!parts.is_empty()).then(|| Draft::new(Role::System, parts))
}

fn read_one(
    source: Source,
    layout: &Layout,
    progress: &Progress,
    dialect: &Dialect,
    (report, notes): (&mut ImportReport, &mut Notes),
) -> Result<Session, Cancelled> {
    let mut settings = Settings::new(&source.bytes, layout, dialect);
    let checked = counts::checked(settings.window, "the recorded context window");
    settings.window = checked.unwrap_or_else(|why| {
        notes.add(layout.whole.start, why);
        None
    });
    let elements = parse_elements(&source.bytes, layout, progress)?;
    let step_of = |e| settings.step_of(e, dialect);
    let mut steps: Vec<Option<StepDraft>> = elements.iter().map(step_of).collect();
    for (element, step) in elements.iter().zip(&mut steps) {
        let usage = step.as_ref().and_then(|s| s.usage);
        if let Err(why) = counts::checked_usage(usage) {
            notes.add(element.span.start, why);
            *step = None;
        }
    }
    let is_recorded = steps
        .iter()
        .any(|s| s.as_ref().is_some_and(|s| s.usage.is_some()));
    let is_recorded = is_recorded || dialect.answers_in_runs;
    let n_managed = settings.n_managed();
    let around = (dialect.step)(&Value::Object(settings.members.clone()));
    let mut is_answering = false;
    let mut builder = start(source, settings, dialect, report);
    let mut calls = Calls::default();
    let mut words = None;
    for (idx, (element, step)) in elements.into_iter().zip(steps).enumerate() {
        progress.go_on()?;
        let value = element.value.as_ref();
        let kind = value.map_or("other", |v| dialect.shape.kind(v));
        let value = value.ok_or_else(|| "this message nests too deep to be read".to_owned());
        match value.and_then(|value| (dialect.messages)(value, &mut calls)) {
            Ok(drafts) => {
                report.note(kind, !drafts.is_empty());
                let mut step = step;
                for mut draft in drafts {
                    draft.raw = vec![element.span.clone()];
                    if words.is_none() && draft.role == Role::User && !draft.is_injected {
                        words = draft.parts.iter().find_map(|p| title::of(p.body.text()));
                    }
                    let goes_on = is_answering && dialect.answers_in_runs;
                    is_answering = draft.role == Role::Assistant;
                    if is_answering && is_recorded && !goes_on {
                        let mut step = step.take().unwrap_or_default();
                        // A thought weighs the same wherever it stands; the call's context is not there any more.
                        note_reasoning(&mut draft, &step);
                        step.usage = step.usage.filter(|_| idx >= n_managed);
                        builder.step(step);
                    }
                    builder.message(draft);
                }
            }
            Err(why) => {
                report.note(kind, false);
                notes.add(element.span.start, why);
            }
        }
    }
    // What the document reports itself belongs to its last answer.
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
    // What people keep by hand has a name of its own.
    if let Some(words) =
        words.filter(|_| !dialect.is_request && session.title == session.source.name)
    {
        session.title = words;
    }
    Ok(session)
}

/// A session with what is said about it and with the messages that stand in the body.
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

/// The provider's count of reasoning tokens belongs to the one thought of the message.
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

fn parse_elements(
    bytes: &[u8],
    layout: &Layout,
    progress: &Progress,
) -> Result<Vec<Element>, Cancelled> {
    let listed = layout.elements.par_iter().map(|span| {
        progress.go_on()?;
        progress.advance(span.len() as u64 / json::DOCUMENT_PASSES);
        Ok(Element {
            span: span.clone(),
            value: json::parse_span(bytes, span),
            response: None,
        })
    });
    let mut elements: Vec<Element> = listed.collect::<Result<_, _>>()?;
    elements.extend(layout.answers.iter().map(|answer| Element {
        span: answer.message.clone(),
        value: json::parse_span(bytes, &answer.message),
        response: json::parse_span(bytes, &answer.response),
    }));
    Ok(elements)
}

impl Settings {
    /// All members of the outermost object and of the body, but the messages and answers.
    fn new(bytes: &[u8], layout: &Layout, dialect: &Dialect) -> Self {
        let mut found = Map::new();
        let body = layout
            .body
            .as_ref()
            .filter(|body| layout.root.as_ref() != Some(*body));
        for object in layout.root.iter().chain(body) {
            for (key, span) in json::members(bytes, object).unwrap_or_default() {
                if layout.answers_in == Some(&*key)
                    || dialect.shape.lists.contains(&&*key)
                    || span.contains(&layout.list.start)
                {
                    continue;
                }
                if let Some(value) = json::parse_span(bytes, &span) {
                    found.insert(key, value);
                }
            }
        }
        let window = found
            .get("context_window")
            .and_then(|window| counts::window_at(window, &[]));
        Self {
            members: found,
            window,
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.members
            .get(key)?
            .as_str()
            .filter(|text| !text.trim().is_empty())
    }

    /// How many messages were managed by us: what they report belongs to contexts that the file does not hold.
    fn n_managed(&self) -> usize {
        let mark = self
            .members
            .get(MARK)
            .filter(|m| json::is_true(m, &["managed"]));
        let n = mark.and_then(|mark| json::u64_at(mark, &["messages"]));
        n.map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX))
    }

    /// The call that made a message, with what the file says for all calls.
    fn step_of(&self, element: &Element, dialect: &Dialect) -> Option<StepDraft> {
        let recorded = element.value.as_ref().and_then(dialect.step);
        let mut step = recorded.or_else(|| (dialect.step)(element.response.as_ref()?))?;
        step.window = self.window;
        Some(step)
    }
}
