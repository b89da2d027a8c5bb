//! Converts the records of one conversation, in file order, to messages, model calls and compactions.
//!
//! The program writes an answer as several records, one for each block, and other records may stand between them. The
//! whole answer is added at its first record. What follows a compaction's boundary belongs to its context as long as it
//! is the summary or an attachment. Versions that record the texts they sent are read in the order of
//! [`super::sent_order`] instead.

mod sent;

use super::answers::{answered, with_names_of_tools};
use super::entry::{Boundary, ClaudeAnswer, ClaudeEntry, ClaudeMessage, EntryKind, recorded_title};
use super::file_records::FileRecords;
use super::id::Id;
use super::records;
use super::sent_order::SentContent;
use super::tree::{RecordPlace, uuid};
use crate::formats::json::member;
use crate::formats::{Warning, counts, title};
use crate::progress::{Cancelled, Progress};
use crate::session::{
    CallDraft, CutAnswer, Draft, Part, Role, Session, SessionBuilder, Span, Usage,
};
use crate::units::Tokens;
use sent::SentSteps;
use std::collections::HashMap;

/// A conversation read from its records.
pub(super) struct ReadConversation {
    pub session: Session,
    /// Whether each record is in its context.
    pub is_context: Vec<bool>,
    /// Warnings about single records.
    pub warnings: Vec<Warning>,
}

/// Reads the conversation of the records whose place is in it. `parts` holds the parts of each record. `number` is the
/// number of the conversation, from 2, if the file has several.
pub(super) fn read_conversation(
    file: FileRecords<'_>,
    number: Option<usize>,
    parts: Vec<Vec<Part>>,
    places: &[RecordPlace],
    progress: &Progress,
) -> Result<ReadConversation, Cancelled> {
    let entries = file.entries;
    let source = file.input.source(super::FORMAT.name, number);
    let parts = with_names_of_tools(parts, entries, places);
    let sent = file.since.map(|since| SentSteps::new(file, &parts, places, since));
    let mut line = ConversationBuilder::new(SessionBuilder::new(source), entries, parts, places);
    let mut is_context = vec![false; entries.len()];
    if let Some(sent) = sent {
        line = sent.add_to(line, &mut is_context, progress)?;
    } else {
        for (at, (entry, place)) in entries.iter().zip(places).enumerate() {
            progress.check_cancelled()?;
            is_context[at] = *place == RecordPlace::Main && line.add(at, entry);
        }
    }
    line.close_compaction();
    Ok(ReadConversation {
        warnings: std::mem::take(&mut line.warnings),
        session: line.finish(recorded_title(entries)),
        is_context,
    })
}

/// A session under construction.
struct ConversationBuilder<'a> {
    builder: SessionBuilder,
    entries: &'a [ClaudeEntry],
    /// Parts of the records, until they are moved into a message.
    parts: Vec<Vec<Part>>,
    /// Indices of the records of each answer.
    answers: HashMap<&'a str, Vec<usize>>,
    /// Messages by their record ids, if a compaction refers to any.
    messages: Option<HashMap<&'a Id, usize>>,
    /// The compaction whose context is being read.
    compaction: Option<OpenCompaction<'a>>,
    has_history: bool,
    first_prompt: Option<String>,
    warnings: Vec<Warning>,
    /// Index of the mark of a managed conversation. Records before it were managed.
    managed_end: usize,
    /// Messages with the instructions of the context.
    instructions: Vec<usize>,
    /// Parts of the next message that are not in its record.
    next: NextMessage,
}

/// Parts of a message that are not in its record.
#[derive(Default)]
struct NextMessage {
    /// Byte ranges of the reminders in it.
    reminders: Vec<Span>,
    /// Its content as it was sent.
    sent: Option<SentContent>,
}

impl NextMessage {
    /// Adds it to a message.
    fn add_to(self, raw: &mut Vec<Span>, parts: &mut [Part]) {
        raw.extend(self.reminders);
        let Some(sent) = self.sent else {
            return;
        };
        for (part, body) in parts.iter_mut().zip(sent.bodies) {
            part.body = body;
        }
        raw.push(sent.record);
    }
}

/// A compaction and the messages it wrote.
struct OpenCompaction<'a> {
    boundary: Option<&'a Boundary>,
    before: Option<Tokens>,
    after: Option<Tokens>,
    /// The context before it is in another file. Its messages are the start of this file's history.
    is_first: bool,
    written: Vec<usize>,
}

impl<'a> ConversationBuilder<'a> {
    fn new(
        mut builder: SessionBuilder,
        entries: &'a [ClaudeEntry],
        parts: Vec<Vec<Part>>,
        places: &[RecordPlace],
    ) -> Self {
        let n_answered = answered(entries, places).count();
        let mut answers: HashMap<&str, Vec<usize>> = HashMap::with_capacity(n_answered);
        for (at, answer) in answered(entries, places) {
            if let Some(group) = &answer.group {
                answers.entry(group).or_default().push(at);
            }
        }
        let n_messages = parts.iter().filter(|parts| !parts.is_empty()).count();
        let n_parts = parts.iter().map(Vec::len).sum();
        builder.reserve(n_messages, answers.len(), n_parts);
        let names_messages = |entry: &ClaudeEntry| matches!(&entry.kind, EntryKind::Boundary(it) if it.keeps_messages());
        Self {
            builder,
            entries,
            parts,
            answers,
            messages: entries.iter().any(names_messages).then(HashMap::new),
            compaction: None,
            has_history: false,
            first_prompt: None,
            warnings: Vec::new(),
            managed_end: entries
                .iter()
                .rposition(|entry| matches!(entry.kind, EntryKind::Managed(_)))
                .unwrap_or(0),
            instructions: Vec::new(),
            next: NextMessage::default(),
        }
    }

    /// Adds a record. Returns false if it is not in the context.
    fn add(&mut self, at: usize, entry: &'a ClaudeEntry) -> bool {
        match &entry.kind {
            EntryKind::Message(message) => self.add_message(at, entry, message),
            EntryKind::Answer(answer) => self.add_answer(at, entry, answer),
            EntryKind::Boundary(boundary) => {
                self.close_compaction();
                // A managed conversation begins with a boundary that this program wrote.
                if self.has_history || at >= self.managed_end {
                    let [before, after] = self.sizes(entry, boundary);
                    self.compaction = Some(OpenCompaction {
                        before,
                        after,
                        boundary: Some(boundary),
                        is_first: !self.has_history,
                        written: Vec::new(),
                    });
                }
                false
            }
            EntryKind::Managed(calibration) => {
                self.builder.calibration(calibration.clone());
                false
            }
            EntryKind::Rejection(error) => {
                self.close_compaction();
                self.builder.call(CallDraft { time: entry.time, ..CallDraft::default() });
                self.builder.fail_last_call(error);
                false
            }
            EntryKind::Leaf(_)
            | EntryKind::Title(..)
            | EntryKind::Microcompaction
            | EntryKind::Snapshot(_)
            | EntryKind::Shape(..)
            | EntryKind::Blob(_)
            | EntryKind::Request(_)
            | EntryKind::Other => false,
        }
    }

    fn add_message(&mut self, at: usize, entry: &'a ClaudeEntry, message: &ClaudeMessage) -> bool {
        if self.parts[at].is_empty() {
            return false;
        }
        if let Some(effort) = &message.effort {
            self.builder.effort(effort);
        }
        if records::is_abort(&self.parts[at]) {
            self.builder.aborted();
        }
        let is_root = entry.node.as_ref().is_some_and(|n| n.parent.is_none());
        if message.is_summary && self.compaction.is_none() && self.has_history && is_root {
            // Old versions begin again with a summary and write no boundary.
            self.compaction = Some(OpenCompaction {
                boundary: None,
                before: None,
                after: None,
                is_first: false,
                written: Vec::new(),
            });
        }
        let is_written = match &self.compaction {
            Some(compaction) if message.is_summary => compaction.written.is_empty(),
            // Attachments directly after the summary repeat earlier ones.
            Some(compaction) => message.origin.is_attachment() && !compaction.written.is_empty(),
            None => false,
        };
        if !is_written {
            self.close_compaction();
        }
        let draft = Draft {
            in_history: !is_written || self.compaction.as_ref().is_some_and(|c| c.is_first),
            ..self.draft(at, entry, message)
        };
        if self.first_prompt.is_none() && !message.is_injected && !message.is_summary {
            self.first_prompt = records::user_text(&draft.parts).and_then(title::first_line);
        }
        let idx = self.push(entry, draft);
        if let Some(compaction) = self.compaction.as_mut().filter(|_| is_written) {
            compaction.written.push(idx);
        }
        true
    }

    /// Returns the message of a record, with the reminders in it.
    fn draft(&mut self, at: usize, entry: &ClaudeEntry, message: &ClaudeMessage) -> Draft {
        let mut parts = std::mem::take(&mut self.parts[at]);
        let mut raw = vec![entry.span.clone()];
        std::mem::take(&mut self.next).add_to(&mut raw, &mut parts);
        Draft {
            id: uuid(entry).map(|id| id.to_string().into()),
            time: entry.time,
            is_injected: message.is_injected,
            is_summary: message.is_summary,
            raw,
            ..Draft::new(Role::User, parts)
        }
    }

    /// Adds the whole answer at its first record. Further records are skipped.
    fn add_answer(&mut self, at: usize, entry: &'a ClaudeEntry, answer: &'a ClaudeAnswer) -> bool {
        let lines = match &answer.group {
            Some(group) => self.answers.remove(&**group).unwrap_or_default(),
            None => vec![at],
        };
        if lines.is_empty() {
            return true;
        }
        self.close_compaction();
        let usage = self.usage(&lines);
        let is_cut =
            |at: &usize| matches!(&self.entries[*at].kind, EntryKind::Answer(a) if a.is_cut);
        let cut = lines.iter().any(is_cut).then(CutAnswer::default);
        self.builder.call(CallDraft {
            model: answer.model.as_deref().map(Into::into),
            usage,
            time: entry.time,
            cut,
            ..CallDraft::default()
        });
        let mut draft = Draft::new(Role::Assistant, Vec::new());
        draft.id = answer.group.as_deref().map(Into::into);
        draft.time = entry.time;
        for (record, at) in lines.iter().enumerate() {
            let record = u32::try_from(record).unwrap_or(u32::MAX);
            draft.raw.push(self.entries[*at].span.clone());
            let parts = std::mem::take(&mut self.parts[*at]);
            draft.parts.extend(parts.into_iter().map(|part| Part { record, ..part }));
        }
        std::mem::take(&mut self.next).add_to(&mut draft.raw, &mut draft.parts);
        let idx = self.push(entry, draft);
        let entries = self.entries;
        if let Some(messages) = &mut self.messages {
            let uuids = lines.iter().filter_map(|at| uuid(&entries[*at]));
            messages.extend(uuids.map(|uuid| (uuid, idx)));
        }
        true
    }

    /// Returns the plausible sizes of the context before and after a compaction.
    fn sizes(&mut self, entry: &ClaudeEntry, boundary: &Boundary) -> [Option<Tokens>; 2] {
        [
            self.checked(entry, boundary.before, "the tokens before this compaction"),
            self.checked(entry, boundary.after, "the tokens after this compaction"),
        ]
    }

    /// Returns a plausible count of a record, else adds a warning.
    fn checked(
        &mut self,
        entry: &ClaudeEntry,
        tokens: Option<Tokens>,
        what: &str,
    ) -> Option<Tokens> {
        counts::checked(tokens, what).unwrap_or_else(|why| {
            self.warn(entry, why);
            None
        })
    }

    /// Returns the usage of the call of an answer. The last record has the whole count, earlier ones were written while
    /// the answer was streamed.
    fn usage(&mut self, lines: &[usize]) -> Option<Usage> {
        let entries = self.entries;
        let reported = lines.iter().filter_map(|at| match &entries[*at].kind {
            EntryKind::Answer(answer) if *at >= self.managed_end => {
                Some((&entries[*at], answer.usage?))
            }
            _ => None,
        });
        let (mut found, mut odd) = (Vec::new(), None);
        for (entry, usage) in reported {
            match counts::checked_usage(Some(usage)) {
                Ok(usage) => found.extend(usage),
                Err(why) => odd = odd.or(Some((entry, why))),
            }
        }
        if let Some((entry, why)) = odd {
            self.warn(entry, why);
        }
        found.into_iter().max_by_key(|usage| usage.output)
    }

    fn warn(&mut self, entry: &ClaudeEntry, text: String) {
        self.warnings.push(Warning { line: Some(entry.line), text });
    }

    fn push(&mut self, entry: &'a ClaudeEntry, draft: Draft) -> usize {
        self.has_history |= draft.in_history;
        let idx = self.builder.message(draft);
        if let Some(messages) = &mut self.messages {
            messages.extend(uuid(entry).map(|uuid| (uuid, idx)));
        }
        idx
    }

    /// Adds the current compaction to the session, once its context is complete.
    fn close_compaction(&mut self) {
        let Some(OpenCompaction { boundary, before, after, is_first: _, written }) =
            self.compaction.take()
        else {
            return;
        };
        let Some(boundary) = boundary else {
            self.builder.compaction("", None, None, written);
            return;
        };
        let preserved = self.preserved(boundary);
        let kept: Vec<usize> = if boundary.preserved_first {
            preserved.into_iter().chain(written).collect()
        } else {
            // The summary, the kept messages, the attachments.
            let split = written.len().min(1);
            [&written[..split], &preserved, &written[split..]].concat()
        };
        self.push_compaction(boundary, [before, after], &kept);
    }

    /// Adds a compaction with the messages of the context after its instructions.
    fn push_compaction(
        &mut self,
        boundary: &Boundary,
        [before, after]: [Option<Tokens>; 2],
        messages: &[usize],
    ) {
        let kept = [&self.instructions[..], messages].concat();
        self.builder.compaction(boundary.trigger.as_str(), before, after, kept);
    }

    /// Returns the messages that a compaction kept, in order.
    fn preserved(&self, boundary: &Boundary) -> Vec<usize> {
        let message = |uuid: &Id| self.messages.as_ref()?.get(uuid).copied();
        let mut found: Vec<usize> = boundary.preserved.iter().filter_map(message).collect();
        if let Some((first, last)) = &boundary.preserved_range
            && let (Some(first), Some(last)) = (message(first), message(last))
        {
            let messages = &self.builder.session().messages;
            found.extend((first..=last).filter(|idx| messages[*idx].in_history));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn finish(mut self, title: Option<String>) -> Session {
        if let Some(title) = title.or(self.first_prompt) {
            self.builder.title(title);
        }
        let mut session = self.builder.finish();
        session.project = first_member(&session, self.entries, "cwd");
        session.id = first_member(&session, self.entries, "sessionId");
        session.agent_version = first_member(&session, self.entries, "version");
        session
    }
}

/// Returns a member that every record of a conversation has, as it has the project folder. Few other records do.
fn first_member(session: &Session, entries: &[ClaudeEntry], name: &str) -> Option<String> {
    let text = |entry: &ClaudeEntry| {
        let text = session.raw(&entry.span);
        let place = member(&text, &(0..text.len()), name)?;
        Some(serde_json::from_slice(&text[place]).ok())
    };
    let mut named = entries.iter().filter(|entry| entry.names_folder);
    named.find_map(text)?
}
