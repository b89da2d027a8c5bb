//! Reads the conversations: the main one, those of sub-agents, and those before rewinds.

use super::FORMAT;
use super::event::{CopilotEvent, EventContent};
use crate::formats::notes::Notes;
use crate::formats::parsed::OriginPlaces;
use crate::formats::read_log::ReadLog;
use crate::formats::transcript::Transcript;
use crate::formats::{Input, ParseError, Parsed, json};
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, CallDraft, Draft, Role, Session, SubAgent, Track, Usage};
use crate::units::Tokens;
use std::collections::HashMap;

/// Maximum number of conversations before rewinds that are kept.
// Chosen: each repeats the conversation up to its rewind, so that the memory of a file is bounded by 21 conversations.
const MAX_REWINDS: usize = 20;

/// Models by the ids of the tool calls that name them.
type Models<'a> = HashMap<&'a str, &'a str>;

/// Reads the conversations of the file.
#[expect(clippy::needless_pass_by_value, reason = "the events are not used afterwards")]
pub(super) fn read(
    input: &Input,
    events: Vec<CopilotEvent>,
    progress: &Progress,
    mut log: ReadLog,
) -> Result<Parsed, ParseError> {
    let (is_valid, rewinds) = rewound(&events, &mut log.notes);
    for (event, is_valid) in events.iter().zip(&is_valid) {
        count(event, *is_valid, &mut log);
    }
    let ran = events.iter().filter_map(|event| event.ran.as_ref());
    let models: Models<'_> = ran.map(|(call, model)| (&**call, &**model)).collect();
    let valid = || {
        let all = events.iter().zip(&is_valid);
        all.filter_map(|(event, is_valid)| is_valid.then_some(event))
    };
    let is_main = |event: &&CopilotEvent| event.agent.is_none();
    let mut sessions = Vec::new();
    sessions.extend(read_conversation(
        Transcript::new(input, FORMAT.name, None),
        valid().filter(is_main),
        &models,
        progress,
        &mut log.notes,
    )?);
    for (call, name, events) in agents(valid()) {
        let transcript = Transcript::new(input, FORMAT.name, Some(sessions.len() + 1));
        let events = events.into_iter();
        let read = read_conversation(transcript, events, &models, progress, &mut log.notes)?;
        sessions.extend(read.map(|session| of_agent(session, call, name)));
    }
    for (n, end) in rewinds.into_iter().enumerate() {
        let transcript = Transcript::new(input, FORMAT.name, Some(sessions.len() + 1));
        let before = events[..end].iter().filter(is_main);
        let notes = &mut Notes::default();
        let read = read_conversation(transcript, before, &models, progress, notes)?;
        sessions.extend(read.map(|session| Session {
            title: format!("{} (rewound {})", session.title, n + 1),
            track: Track::Branch,
            ..session
        }));
    }
    let spans = events.iter().map(|event| &event.span);
    let places = OriginPlaces {
        folder: &["data", "context", "cwd"],
        version: &["data", "copilotVersion"],
        id: &["data", "sessionId"],
    };
    input.set_origin(&mut sessions, &spans, &places);
    log.finish(input, sessions, "GitHub Copilot CLI events without a message")
}

/// Counts an event in the report and warns of an unknown one.
fn count(event: &CopilotEvent, is_valid: bool, log: &mut ReadLog) {
    let branch = match (is_valid, &event.agent) {
        (false, _) => " (rewound)",
        (true, Some(_)) => " (sub-agent)",
        (true, None) => "",
    };
    let is_sent = matches!(
        event.content,
        EventContent::Message(_) | EventContent::Answer(..) | EventContent::Compaction { .. }
    );
    let in_context = is_valid && event.agent.is_none() && is_sent;
    let kind = format!("{}{branch}", event.kind);
    log.report.count_record(&kind, in_context);
    if matches!(event.content, EventContent::Unknown) {
        let kind = json::shortened(&event.kind);
        let text = format!("unknown event type `{kind}`: not counted");
        log.notes.once(event.span.start, text);
    }
}

/// Marks a session as that of the sub-agent with this name, which this call started.
fn of_agent(session: Session, call: &str, name: String) -> Session {
    let has_title = session.title != session.source.name;
    Session {
        title: if has_title { session.title } else { name.clone() },
        track: Track::SubAgent(SubAgent {
            id: None,
            kind: Some(name.into()),
            call: Some(call.into()),
        }),
        ..session
    }
}

/// Returns whether each event is still valid, and the indices of the rewinds.
fn rewound(events: &[CopilotEvent], notes: &mut Notes) -> (Vec<bool>, Vec<usize>) {
    let mut is_valid = vec![true; events.len()];
    let mut rewinds = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let EventContent::Rewind(id) = &event.content else {
            continue;
        };
        match events[..at].iter().position(|e| e.id.as_ref() == Some(id)) {
            Some(from) => {
                is_valid[from..at].fill(false);
                if rewinds.len() < MAX_REWINDS {
                    rewinds.push(at);
                }
            }
            None => notes.add(
                event.span.start,
                "this rewinds to an event that is not in the file; nothing was removed",
            ),
        }
    }
    (is_valid, rewinds)
}

/// Returns the sub-agents in order of their first event: the call that started each, its name, and its events.
fn agents<'a>(
    events: impl Iterator<Item = &'a CopilotEvent>,
) -> Vec<(&'a str, String, Vec<&'a CopilotEvent>)> {
    let mut names: HashMap<&str, &String> = HashMap::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut found: Vec<(&str, Vec<&CopilotEvent>)> = Vec::new();
    for event in events {
        if let EventContent::Agent(call, name) = &event.content {
            names.insert(call, name);
        }
        if let Some(agent) = event.agent.as_deref() {
            let place = *places.entry(agent).or_insert(found.len());
            if place == found.len() {
                found.push((agent, Vec::new()));
            }
            found[place].1.push(event);
        }
    }
    let name = |agent: &str| json::shortened(names.get(agent).map_or(agent, |name| name));
    found.into_iter().map(|(agent, events)| (agent, name(agent), events)).collect()
}

fn read_conversation<'a>(
    transcript: Transcript,
    events: impl Iterator<Item = &'a CopilotEvent>,
    models: &Models<'_>,
    progress: &Progress,
    notes: &mut Notes,
) -> Result<Option<Session>, Cancelled> {
    let mut reader = CopilotReader {
        transcript,
        models,
        context: Vec::new(),
        model: None,
        next_size: None,
        size_before: None,
        compacting_from: None,
        is_named: false,
    };
    for event in events {
        progress.check_cancelled()?;
        reader.event(event, notes);
    }
    Ok(reader.transcript.finish())
}

struct CopilotReader<'a> {
    transcript: Transcript,
    models: &'a Models<'a>,
    /// Indices of the messages in the context.
    context: Vec<usize>,
    model: Option<String>,
    /// Recorded size of the next call's context.
    next_size: Option<Tokens>,
    /// Recorded size of the context before the current compaction.
    size_before: Option<Tokens>,
    /// Number of messages in the context when the current compaction began.
    compacting_from: Option<usize>,
    is_named: bool,
}

impl CopilotReader<'_> {
    fn event(&mut self, event: &CopilotEvent, notes: &mut Notes) {
        let at = event.span.start;
        match &event.content {
            EventContent::Message(draft) if !draft.parts.is_empty() => {
                if let Some(user_text) = event.user_text.as_deref().filter(|_| !self.is_named) {
                    self.transcript.title(user_text);
                    self.is_named = true;
                }
                let message = self.transcript.add_message(draft.clone());
                self.context.push(message);
            }
            EventContent::Answer(call, draft) if !draft.parts.is_empty() => {
                self.answer(call, draft);
            }
            EventContent::Usage(usage) => {
                let usage = notes.usage(at, Some(*usage));
                if let Some(call) = self.transcript.builder.last_call_mut() {
                    call.usage = usage.or(call.usage);
                }
            }
            EventContent::Ended(ended) => {
                self.end(notes.tokens(at, ended.size, CONTEXT_SIZE));
                if let Some(model) = &ended.model {
                    self.transcript.builder.usual_model(model);
                }
                // The program counts anew when a session is resumed.
                for (model, usage) in &ended.totals {
                    if let Some(usage) = notes.usage(at, Some(*usage)) {
                        self.transcript.builder.total(model, &usage);
                    }
                }
            }
            EventContent::Model(model) => self.model = Some(model.clone()),
            EventContent::Aborted => self.transcript.builder.aborted(),
            EventContent::Title(title) => {
                self.transcript.title(title);
                self.is_named = true;
            }
            EventContent::CompactionStarts(size) => {
                self.compacting_from = Some(self.context.len());
                self.next_size = notes.tokens(at, *size, CONTEXT_SIZE);
                self.size_before = self.next_size;
            }
            EventContent::Compaction { summary, before, after, request } => {
                let from = self.compacting_from.take().unwrap_or(self.context.len());
                let summary = summary.clone();
                let summary = summary.map(|draft| self.transcript.add_message(draft));
                let mut kept = self.systems();
                kept.extend(summary);
                kept.extend(self.context.iter().skip(from));
                let (before, after) = checked(*before, *after, at, notes);
                let before = before.or(self.size_before.take());
                self.next_size = None;
                self.compact(before, after, kept);
                if let Some((model, usage)) = request
                    && let Some(usage) = notes.usage(at, Some(*usage))
                {
                    let builder = &mut self.transcript.builder;
                    builder.summary_usage(model.as_deref(), usage);
                }
            }
            EventContent::Truncation { messages, before, after } if *messages > 0 => {
                notes.once(at, "a truncation does not record which messages it removed; the oldest are assumed to be removed");
                let all = &self.transcript.builder.session().messages;
                let is_system = |idx: &&usize| all[**idx].role == Role::System;
                let others = self.context.iter().filter(|idx| !is_system(idx));
                let left = others.skip(*messages).copied();
                let kept = self.systems().into_iter().chain(left).collect();
                let (before, after) = checked(*before, *after, at, notes);
                self.compact(before, after, kept);
            }
            _ => {}
        }
    }

    /// Adds an answer, with the model that it or one of its tool calls names.
    fn answer(&mut self, call: &CallDraft, draft: &Draft) {
        let ran = draft.parts.iter().find_map(|part| match &part.body {
            Body::ToolCall { call, .. } => self.models.get(&**call),
            _ => None,
        });
        let named = call.model.clone().or(ran.map(|model| (*model).to_owned()));
        self.model = named.or(self.model.take());
        let call = CallDraft {
            model: self.model.clone(),
            usage: self.next_size.take().map(of_size),
            ..call.clone()
        };
        let message = self.transcript.add_answer(call, draft.clone());
        self.context.push(message);
    }

    /// Assigns the size of the context at the end to the last call, unless a compaction followed it.
    fn end(&mut self, size: Option<Tokens>) {
        let session = self.transcript.builder.session();
        let n_calls = session.calls.len();
        let is_its = session.compactions.last().is_none_or(|c| c.call < n_calls);
        let last = n_calls.checked_sub(1).filter(|_| is_its);
        let last = last.and_then(|last| self.transcript.builder.call_mut(last));
        if let (Some(call), Some(size)) = (last, size.filter(|s| *s > Tokens::ZERO)) {
            call.usage.get_or_insert(of_size(size));
        }
    }

    /// Adds a compaction that keeps these messages.
    fn compact(&mut self, before: Option<Tokens>, after: Option<Tokens>, kept: Vec<usize>) {
        let builder = &mut self.transcript.builder;
        builder.compaction("auto", before, after, kept.clone());
        self.context = kept;
    }

    /// Returns the system messages in the context, which are always kept.
    fn systems(&self) -> Vec<usize> {
        let messages = &self.transcript.builder.session().messages;
        let is_system = |idx: &&usize| messages[**idx].role == Role::System;
        self.context.iter().filter(is_system).copied().collect()
    }
}

/// Name of a size of the context in a warning.
const CONTEXT_SIZE: &str = "a size of the context";

fn of_size(input: Tokens) -> Usage {
    Usage { input, ..Usage::default() }
}

fn checked(
    before: Option<Tokens>,
    after: Option<Tokens>,
    at: usize,
    notes: &mut Notes,
) -> (Option<Tokens>, Option<Tokens>) {
    let what = "a count of this compaction";
    (notes.tokens(at, before, what), notes.tokens(at, after, what))
}
