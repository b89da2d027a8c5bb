//! Reads the conversations of a sample.

use super::attachments::Attachments;
use super::message;
use super::pool::Pool;
use super::track::{RecordedEvent, Track};
use crate::formats::read_log::ReadLog;
use crate::formats::transcript::Transcript;
use crate::formats::{Input, counts, json, rows};
use crate::json::Value;
use crate::session::{CallDraft, CutAnswer, Role, Session, Span, SubAgent, Track as SessionTrack};
use std::collections::{HashMap, HashSet};

/// Maximum number of conversations to which a call is compared.
// Chosen: agents alternate between a few conversations.
const MAX_COMPARED: usize = 64;
/// Maximum depth of events within events, which old versions wrote for each tool.
const MAX_DEPTH: usize = 8;
/// Maximum number of spans around an event. Spans of a damaged log may form a circle.
const MAX_SPANS: usize = 256;
/// Members of a sample that are read elsewhere, or not at all.
const LARGE: [&str; 9] = [
    "messages",
    "events",
    "events_data",
    "message_pool",
    "attachments",
    "store",
    "output",
    "timelines",
    "error_retries",
];

/// A sample in a file.
pub(super) struct SampleSource<'a> {
    pub(super) input: &'a Input,
    pub(super) bytes: &'a [u8],
    pub(super) span: &'a Span,
    /// Name of the task.
    pub(super) task: &'a str,
    /// Number of conversations before it.
    pub(super) n_before: usize,
    pub(super) is_one_of_many: bool,
}

impl SampleSource<'_> {
    fn member(&self, key: &str) -> Option<Span> {
        json::member(self.bytes, self.span, key)
    }

    fn transcript(&self) -> Transcript {
        Transcript::new(self.input, super::FORMAT.name, None)
    }
}

/// Returns the conversations of a sample.
pub(super) fn read(place: &SampleSource<'_>, log: &mut ReadLog) -> Vec<Session> {
    let bytes = place.bytes;
    let around = rows::members_except(bytes, place.span, &LARGE);
    let texts = place.member("attachments").and_then(|span| json::parse_span(bytes, &span));
    let mut attachments = Attachments::new(texts, place.span.len());
    let listed =
        place.member("events_data").and_then(|data| json::member(bytes, &data, "messages"));
    let listed = listed.or_else(|| place.member("message_pool"));
    let listed = listed.and_then(|list| json::elements(bytes, &list)).unwrap_or_default();
    let pool = Pool::new(bytes, &listed, &mut attachments);
    let title = title(place.task, &around);
    let mut reader = SampleReader {
        place,
        log,
        attachments,
        pool,
        tracks: Vec::new(),
        spans: HashMap::new(),
        calls: HashMap::new(),
        compactions: HashMap::new(),
    };
    for _ in &listed {
        reader.log.report.count_record("message of events", true);
    }
    if let Some(events) = place.member("events") {
        reader.events(&events, None, 0);
    }
    if reader.tracks.is_empty() {
        reader.messages(&around);
    }
    if reader.attachments.is_missing {
        let text = "some texts are stored as attachments that the log does not contain";
        reader.log.notes.once(place.span.start, text);
    }
    if reader.attachments.is_over_limit {
        let text = "the attachments of this sample are too large: some texts are left out";
        reader.log.notes.once(place.span.start, text);
    }
    let mut sessions = Vec::new();
    for track in reader.tracks {
        sessions.extend(finish(track, &title, place, sessions.len()));
    }
    sessions
}

/// Returns the title of a sample's conversations.
fn title(task: &str, sample: &Value) -> String {
    let text = |key| match sample.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(value) if value.is_number() => value.to_string(),
        _ => String::new(),
    };
    format!("{task}: sample {}, epoch {}", text("id"), text("epoch"))
}

/// Returns a conversation with its title and its number, if it has messages. `idx` is its index in the sample.
fn finish(track: Track, title: &str, place: &SampleSource<'_>, idx: usize) -> Option<Session> {
    let Track { agent, mut transcript, .. } = track;
    let name = agent.as_ref().and_then(|agent| Some(format!(" ({})", agent.kind.as_deref()?)));
    let other = || if idx > 0 { format!(" ({})", idx + 1) } else { String::new() };
    transcript.title(&format!("{title}{}", name.unwrap_or_else(other)));
    let mut session = transcript.finish()?;
    if place.is_one_of_many || idx > 0 {
        session.source = place.input.source(super::FORMAT.name, Some(place.n_before + idx + 1));
    }
    if let Some(agent) = agent {
        session.track = SessionTrack::SubAgent(agent);
    }
    Some(session)
}

/// A span of events.
struct EventSpan {
    parent: Option<Box<str>>,
    kind: Box<str>,
    name: Box<str>,
}

struct SampleReader<'a, 'b> {
    place: &'a SampleSource<'a>,
    log: &'b mut ReadLog,
    attachments: Attachments,
    pool: Pool,
    tracks: Vec<Track>,
    spans: HashMap<Box<str>, EventSpan>,
    /// Ids of the calls that started agents, by the spans of the agents.
    calls: HashMap<Box<str>, Box<str>>,
    /// Recorded compactions that no call shows yet, by the span of the agent.
    compactions: HashMap<Option<Box<str>>, RecordedEvent>,
}

impl SampleReader<'_, '_> {
    /// Reads a list of events, which a tool may contain.
    fn events(&mut self, list: &Span, within: Option<&SubAgent>, depth: usize) {
        let bytes = self.place.bytes;
        for span in json::elements(bytes, list).unwrap_or_default() {
            let event = rows::members_except(bytes, &span, &["call", "events", "input", "output"]);
            let kind = json::str_at(&event, &["event"]).unwrap_or("other");
            let is_call = kind == "model";
            self.log.report.count_record(&format!("event/{kind}"), is_call);
            match kind {
                "model" => self.call(&span, &event, within),
                "compaction" => {
                    let agent = self.agent(&event).or_else(|| within.cloned());
                    let recorded = RecordedEvent {
                        kind: json::str_at(&event, &["type"]).unwrap_or_default().to_owned(),
                        before: counts::tokens_at(&event, &["tokens_before"]),
                        after: counts::tokens_at(&event, &["tokens_after"]),
                    };
                    self.compactions.insert(agent.and_then(|agent| agent.id), recorded);
                }
                "span_begin" => self.span_begin(&event),
                "tool" => self.tool(&event),
                _ => {}
            }
            let inner = json::member(bytes, &span, "events").filter(|_| depth < MAX_DEPTH);
            if let Some(inner) = inner {
                let name = json::str_at(&event, &["function"])
                    .or_else(|| json::str_at(&event, &["name"]))
                    .unwrap_or_default();
                let agent = SubAgent {
                    id: Some(span.start.to_string().into()),
                    kind: Some(name.into()),
                    call: json::str_at(&event, &["id"]).map(Into::into),
                };
                self.events(&inner, Some(within.unwrap_or(&agent)), depth + 1);
            }
        }
    }

    fn span_begin(&mut self, event: &Value) {
        let text = |key| json::str_at(event, &[key]).map(Box::<str>::from);
        if let Some(id) = text("id") {
            let span = EventSpan {
                parent: text("parent_id"),
                kind: text("type").unwrap_or_default(),
                name: text("name").unwrap_or_default(),
            };
            self.spans.insert(id, span);
        }
    }

    /// Remembers the call of a tool for the agent that it starts.
    fn tool(&mut self, event: &Value) {
        let text = |key| json::str_at(event, &[key]);
        if let Some((agent, call)) = text("agent_span_id").zip(text("id")) {
            self.calls.insert(agent.into(), call.into());
        }
    }

    /// Returns the agent that a tool started, if an event is in its span.
    fn agent(&self, event: &Value) -> Option<SubAgent> {
        let mut id = json::str_at(event, &["span_id"])?;
        let mut agent: Option<SubAgent> = None;
        for _ in 0..MAX_SPANS {
            let span = self.spans.get(id)?;
            match &*span.kind {
                "agent" if agent.is_none() => {
                    let kind = Some(span.name.clone());
                    let call = self.calls.get(id).cloned();
                    agent = Some(SubAgent { id: Some(id.into()), kind, call });
                }
                "tool" | "handoff" if agent.is_some() => return agent,
                _ => {}
            }
            id = span.parent.as_deref()?;
        }
        None
    }

    /// Reads the call of an event.
    fn call(&mut self, span: &Span, event: &Value, within: Option<&SubAgent>) {
        let bytes = self.place.bytes;
        let Some(context) = self.context(span, event) else {
            let text =
                "the requests of this sample are too long to be read: later calls are left out";
            self.log.notes.once(span.start, text);
            return;
        };
        let output = json::member(bytes, span, "output");
        let around = output.as_ref().map(|o| rows::members_except(bytes, o, &["choices"]));
        let around = around.unwrap_or_default();
        let choices = output.and_then(|output| json::member(bytes, &output, "choices"));
        let choice = choices.and_then(|list| json::elements(bytes, &list)?.into_iter().next());
        let reason = choice.as_ref().and_then(|choice| {
            let reason = json::parse_span(bytes, &json::member(bytes, choice, "stop_reason")?)?;
            reason.as_str().map(str::to_owned)
        });
        let answer = choice.and_then(|choice| json::member(bytes, &choice, "message"));
        let is_stored = json::str_at(event, &["cache"]) == Some("read");
        if is_stored {
            let text =
                "answers from the cache of Inspect were not requested: their usage is left out";
            self.log.notes.once(span.start, text);
        }
        let usage = around.get("usage").and_then(message::usage).filter(|_| !is_stored);
        let model = json::str_at(&around, &["model"]).filter(|model| !model.is_empty());
        let model = model.or_else(|| json::str_at(event, &["model"]));
        let call = CallDraft {
            model: model.map(str::to_owned),
            usage: self.log.notes.usage(span.start, usage),
            time: json::millis_at(event, &["timestamp"]),
            cut: matches!(reason.as_deref(), Some("max_tokens")).then(CutAnswer::default),
            ..CallDraft::default()
        };
        let agent = self.agent(event).or_else(|| within.cloned());
        let track = self.track(&context, agent, span, event);
        let id = self.tracks[track].agent.as_ref().and_then(|agent| agent.id.clone());
        let recorded = || self.compactions.remove(&id).unwrap_or_default();
        if self.tracks[track].update(context, &self.pool, recorded) {
            let text = "the instructions differ from call to call; the first are shown";
            self.log.notes.once(span.start, text);
        }
        let error = json::str_at(event, &["error"]).filter(|error| !error.is_empty());
        let answer = answer.filter(|_| error.is_none()).and_then(|span| {
            let message = self.pool.add(bytes, &span, &mut self.attachments)?;
            Some((message, self.pool.draft(message)?))
        });
        self.tracks[track].answer(call, answer);
        if let Some(error) = error {
            self.tracks[track].transcript.builder.fail_last_call(error);
        }
    }

    /// Returns the messages of a request.
    fn context(&mut self, span: &Span, event: &Value) -> Option<Vec<usize>> {
        let bytes = self.place.bytes;
        let mut context = Vec::new();
        let refs = event.get("input_refs").and_then(Value::as_array);
        for range in refs.into_iter().flatten() {
            let limit = |idx: usize| {
                let limit = range.get(idx).and_then(|limit| json::u64_at(limit, &[]));
                limit.map_or(0, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
            };
            context.extend(self.pool.in_range(limit(0)..limit(1))?);
        }
        let listed = json::member(bytes, span, "input");
        let listed = listed.and_then(|list| json::elements(bytes, &list)).unwrap_or_default();
        for message in listed {
            context.extend(self.pool.add(bytes, &message, &mut self.attachments));
        }
        Some(context)
    }

    /// Returns the conversation that a call continues, or a new one.
    fn track(
        &mut self,
        context: &[usize],
        agent: Option<SubAgent>,
        span: &Span,
        event: &Value,
    ) -> usize {
        let own: HashSet<usize> = context.iter().copied().collect();
        let id = |agent: &Option<SubAgent>| agent.as_ref().and_then(|agent| agent.id.clone());
        let tracks = self.tracks.iter().enumerate().rev().take(MAX_COMPARED);
        let tracks = tracks.filter(|(_, track)| id(&track.agent) == id(&agent));
        let known = tracks
            .map(|(at, track)| (track.shared(&own, &self.pool), at))
            .filter(|((_, n), _)| *n > 0)
            .max();
        if let Some((_, at)) = known {
            return at;
        }
        let mut transcript = self.place.transcript();
        let mut tools = event.get("tools").cloned().unwrap_or_default();
        self.attachments.resolve(&mut tools);
        if let Some(tools) = message::tools(&tools, span) {
            transcript.add_message(tools);
        }
        self.tracks.push(Track::new(transcript, agent));
        self.tracks.len() - 1
    }

    /// Reads the messages at the end of a sample without model events.
    fn messages(&mut self, sample: &Value) {
        let bytes = self.place.bytes;
        let list = self.place.member("messages");
        let list = list.and_then(|list| json::elements(bytes, &list)).unwrap_or_default();
        let mut transcript = self.place.transcript();
        let totals = sample.get("model_usage").and_then(Value::as_object);
        for (model, total) in totals.into_iter().flat_map(|totals| totals.iter()) {
            let total = self.log.notes.usage(self.place.span.start, message::usage(total));
            transcript.builder.usual_model(model);
            if let Some(total) = total {
                transcript.builder.total(model, &total);
            }
        }
        for span in &list {
            let value = json::parse_span(bytes, span).map(|mut value| {
                self.attachments.resolve(&mut value);
                value
            });
            let draft = value.and_then(|value| message::draft(&value, span));
            self.log.report.count_record("message", draft.is_some());
            match draft {
                Some(draft) if draft.role == Role::Assistant => {
                    transcript.add_answer(CallDraft::default(), draft);
                }
                Some(draft) => {
                    transcript.add_message(draft);
                }
                None => self.log.notes.add(span.start, "this message cannot be read"),
            }
        }
        if !list.is_empty() {
            let text = "the log has no model events: a request for each answer is assumed, with all messages before it";
            self.log.notes.once(self.place.span.start, text);
        }
        self.tracks.push(Track::new(transcript, None));
    }
}
