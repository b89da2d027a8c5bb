//! Replays the lines in order to rebuild the history and the rewound conversations.
//!
//! A line adds a message, replaces an earlier one with the same id, rewinds to one, or states the whole history. The
//! lines are therefore reduced to a list of changes first, and messages are built from the changes that are left at the
//! end.

use super::FORMAT;
use super::line::GeminiLine;
use super::record::GeminiRecord;
use crate::formats::notes::Notes;
use crate::formats::read_log::ReadLog;
use crate::formats::transcript::Transcript;
use crate::formats::{Input, ParseError, Parsed, json};
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, Calibration, CallDraft, Draft, Role, Session, Track};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of rewound conversations that are kept.
// Chosen: each repeats the conversation up to its rewind. Later ones are only counted.
const MAX_REWINDS: usize = 50;

/// A change of the history.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all changes are messages")]
enum Change {
    Message(GeminiRecord),
    /// The history from here on.
    History(Vec<GeminiRecord>),
}

impl Change {
    /// Discards the usage of the calls so far, whose contexts were written by this program.
    fn discard_usage(&mut self) {
        let records = match self {
            Self::Message(record) => std::slice::from_mut(record),
            Self::History(records) => records,
        };
        for call in records.iter_mut().filter_map(|record| record.call.as_mut()) {
            call.usage = None;
        }
    }
}

/// Reads the session of these lines.
pub(super) fn read(
    input: &Input,
    lines: Vec<GeminiLine>,
    progress: &Progress,
    log: ReadLog,
) -> Result<Parsed, ParseError> {
    let mut replay = Replay { log, ..Replay::default() };
    for line in lines {
        progress.check_cancelled()?;
        replay.line(line);
    }
    let Replay { changes, rewound, mut log, title, calibration, .. } = replay;
    let mut branches = Vec::new();
    for (n, changes) in rewound.into_iter().enumerate() {
        let mut aside = Notes::default();
        let transcript = Transcript::new(input, FORMAT.name, Some(n + 2));
        if let Some(mut session) = read_conversation(transcript, changes, progress, &mut aside)? {
            session.title = format!("{} (rewound {})", session.title, n + 1);
            session.track = Track::Branch;
            branches.push(session);
        }
    }
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    transcript.title(title.as_deref().unwrap_or_default());
    transcript.builder.calibration(calibration);
    let session = read_conversation(transcript, changes, progress, &mut log.notes)?;
    if !branches.is_empty() {
        log.report.count_record("rewound messages", false);
    }
    let sessions = session.into_iter().chain(branches).collect();
    log.finish(input, sessions, "a Gemini CLI session without a message")
}

#[derive(Default)]
struct Replay {
    /// Changes in order.
    changes: Vec<Change>,
    /// Position of each message id in the changes: its index, and the index within a history.
    positions: HashMap<Box<str>, (usize, usize)>,
    /// Ids of the answers so far.
    answers: HashSet<Box<str>>,
    rewound: Vec<Vec<Change>>,
    log: ReadLog,
    title: Option<Box<str>>,
    calibration: Option<Calibration>,
}

impl Replay {
    fn line(&mut self, line: GeminiLine) {
        let in_context = match &line {
            GeminiLine::Message(record) => record.content.is_some() || record.results.is_some(),
            GeminiLine::History(_) => true,
            GeminiLine::Rewind(..)
            | GeminiLine::Head(_)
            | GeminiLine::Managed(_)
            | GeminiLine::Unknown(_) => false,
        };
        if !matches!(line, GeminiLine::Managed(_)) {
            self.log.report.count_record(line.label(), in_context);
        }
        match line {
            GeminiLine::Message(record) => self.message(record),
            GeminiLine::History(records) => {
                if matches!(self.changes.last(), Some(Change::History(_))) {
                    // Nothing was sent between it and the next one. When a session resumes, a history with only its
                    // first message precedes the whole one.
                    self.changes.pop();
                }
                // Messages that the history leaves out can be neither replaced nor rewound to.
                self.positions.clear();
                for (n, record) in records.iter().enumerate() {
                    if let Some(id) = &record.id {
                        self.positions.insert(id.clone(), (self.changes.len(), n));
                    }
                }
                self.changes.push(Change::History(records));
            }
            GeminiLine::Rewind(id, span) => self.rewind(&id, span.start),
            GeminiLine::Head(title) => self.title = title.or(self.title.take()),
            GeminiLine::Managed(calibration) => {
                self.changes.iter_mut().for_each(Change::discard_usage);
                self.calibration = calibration.or(self.calibration.take());
            }
            GeminiLine::Unknown(span) => {
                self.log.notes.once(span.start, "unknown record: not counted");
            }
        }
    }

    fn message(&mut self, mut record: GeminiRecord) {
        if !super::record::KINDS.contains(&&*record.kind) {
            let kind = json::shortened(&record.kind);
            let text = format!("unknown message type `{kind}`: not counted");
            self.log.notes.once(record.span.start, text);
        }
        let position = record.id.as_ref().and_then(|id| self.positions.get(id).copied());
        match position.and_then(|(at, n)| Some((self.changes.get_mut(at)?, n))) {
            Some((Change::Message(before), _)) => *before = record,
            Some((Change::History(list), n)) if n < list.len() => list[n] = record,
            _ => {
                if let Some(id) = &record.id {
                    // An answer whose first record left the history is not another call.
                    if record.call.is_some() && !self.answers.insert(id.clone()) {
                        record.call = None;
                    }
                    self.positions.insert(id.clone(), (self.changes.len(), 0));
                }
                self.changes.push(Change::Message(record));
            }
        }
    }

    /// Removes this message and all later ones. The previous state becomes a separate conversation.
    fn rewind(&mut self, id: &str, at: usize) {
        if self.rewound.len() < MAX_REWINDS && !self.changes.is_empty() {
            self.rewound.push(self.changes.clone());
        }
        if let Some((position, n)) = self.positions.get(id).copied() {
            self.changes.truncate(position + 1);
            if let Some(Change::History(list)) = self.changes.last_mut() {
                list.truncate(n);
            } else {
                self.changes.pop();
            }
        } else {
            self.log.notes.add(at, "this rewinds to a missing message: all messages are removed");
            self.changes.clear();
        }
        let changes = &self.changes;
        self.positions.retain(|_, (at, n)| match changes.get(*at) {
            Some(Change::History(list)) => *n < list.len(),
            Some(Change::Message(_)) => true,
            None => false,
        });
    }
}

/// Builds the conversation of these changes.
fn read_conversation(
    mut transcript: Transcript,
    mut changes: Vec<Change>,
    progress: &Progress,
    notes: &mut Notes,
) -> Result<Option<Session>, Cancelled> {
    remove_repeated_results(&mut changes);
    let mut reader = GeminiReader::default();
    for change in changes {
        progress.check_cancelled()?;
        match change {
            Change::Message(record) => reader.message(&mut transcript, record, notes),
            Change::History(records) => reader.history(&mut transcript, records),
        }
    }
    Ok(transcript.finish())
}

/// Removes results from the records of their calls if they are also in a separate message.
fn remove_repeated_results(changes: &mut [Change]) {
    for change in &mut *changes {
        if let Change::History(records) = change {
            let answered: HashSet<Box<str>> =
                records.iter().flat_map(GeminiRecord::answered).map(Into::into).collect();
            for record in &mut *records {
                record.remove_results(&answered);
            }
        }
    }
    let messages = |change: &Change| match change {
        Change::Message(record) => record.answered().map(Into::into).collect::<Vec<Box<str>>>(),
        Change::History(_) => Vec::new(),
    };
    let answered: HashSet<Box<str>> = changes.iter().flat_map(messages).collect();
    for change in changes {
        if let Change::Message(record) = change {
            record.remove_results(&answered);
        }
    }
}

/// Builds a conversation and tracks the messages of each record.
#[derive(Default)]
struct GeminiReader {
    /// Message indices of the current context.
    context: Vec<usize>,
}

impl GeminiReader {
    fn message(&mut self, transcript: &mut Transcript, record: GeminiRecord, notes: &mut Notes) {
        let usage = record.call.as_ref().and_then(|s| s.usage);
        let usage = notes.usage(record.span.start, usage);
        let call = record.call.map(|call| CallDraft { usage, ..call });
        let mut added = Vec::new();
        match (record.content, call) {
            (Some(content), Some(call)) => added.push(transcript.add_answer(call, content)),
            (Some(content), None) => added.push(transcript.add_message(content)),
            // The call was made, although its answer has no content for a message.
            (None, Some(call)) if call.usage.is_some() => {
                transcript.builder.call(call);
            }
            (None, _) => {}
        }
        added.extend(record.results.map(|results| transcript.add_message(results)));
        self.context.extend(&added);
    }

    /// Adds a new history, which states the whole context. The program writes one after a compaction, but also when it
    /// starts and resumes, with results repeated and under new ids. It is a compaction only if it contains a snapshot that
    /// the context lacks; any other difference is a revision.
    fn history(&mut self, transcript: &mut Transcript, records: Vec<GeminiRecord>) {
        let session = transcript.builder.session();
        let known: HashSet<u64> =
            bodies(session, &self.context).filter(|b| is_snapshot(b)).map(key).collect();
        let is_compaction = records
            .iter()
            .flat_map(GeminiRecord::bodies)
            .any(|body| is_snapshot(body) && !known.contains(&key(body)));
        // Messages of the context by content, the latest first, so that repeated ones are taken in order.
        let mut unused: HashMap<u64, Vec<usize>> = HashMap::new();
        for idx in self.context.iter().rev() {
            unused.entry(message_key(session, *idx)).or_default().push(*idx);
        }
        let mut stated = Vec::new();
        for record in records {
            for draft in record.content.into_iter().chain(record.results) {
                let same = unused.get_mut(&draft_key(&draft)).and_then(Vec::pop);
                stated.push((same, draft));
            }
        }
        let n_known = stated.iter().rposition(|(same, _)| same.is_some()).map_or(0, |at| at + 1);
        let is_extended = stated[..n_known]
            .iter()
            .map(|(same, _)| *same)
            .eq(self.context.iter().map(|idx| Some(*idx)));
        let n_revised = if is_compaction {
            stated.len()
        } else if is_extended {
            0
        } else {
            n_known
        };
        let later =
            stated.split_off(if is_extended && !is_compaction { n_known } else { n_revised });
        let mut kept = Vec::with_capacity(stated.len());
        for (same, draft) in stated {
            let idx = same.unwrap_or_else(|| {
                let is_summary = draft.role == Role::User
                    && draft.parts.iter().any(|part| is_snapshot(&part.body));
                transcript.add_message(Draft { in_history: false, is_summary, ..draft })
            });
            kept.push(idx);
        }
        if is_compaction {
            transcript.builder.compaction("", None, None, kept.clone());
        } else if !is_extended {
            transcript.builder.revision(kept.clone());
        }
        self.context = kept;
        for (_, draft) in later {
            let idx = transcript.add_message(draft);
            self.context.push(idx);
        }
    }
}

/// Returns whether a text is the snapshot of a compaction.
fn is_snapshot(body: &Body) -> bool {
    matches!(body, Body::Text(text) if text.contains("<state_snapshot>"))
}

/// Returns a key of the content of a message in the session.
fn message_key(session: &Session, message: usize) -> u64 {
    let message = &session.messages[message];
    content_key(message.role, session.parts_of(message).iter().map(|part| &part.body))
}

/// Returns a key of the content of a message.
fn draft_key(draft: &Draft) -> u64 {
    content_key(draft.role, draft.parts.iter().map(|part| &part.body))
}

fn content_key<'a>(role: Role, bodies: impl Iterator<Item = &'a Body>) -> u64 {
    let mut hasher = DefaultHasher::new();
    role.hash(&mut hasher);
    bodies.for_each(|body| key(body).hash(&mut hasher));
    hasher.finish()
}

/// Returns a key of a content. Of results only call and text are part of it, and ids of messages never are.
fn key(body: &Body) -> u64 {
    let mut hasher = DefaultHasher::new();
    match body {
        Body::ToolResult { call, text, .. } => (call, text).hash(&mut hasher),
        body => format!("{body:?}").hash(&mut hasher),
    }
    hasher.finish()
}

/// Iterates over the bodies of these messages' parts.
fn bodies<'a>(session: &'a Session, messages: &'a [usize]) -> impl Iterator<Item = &'a Body> {
    let parts = |idx: &usize| session.parts_of(&session.messages[*idx]);
    messages.iter().flat_map(parts).map(|part| &part.body)
}
