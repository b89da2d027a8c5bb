//! Builds the conversation of a version that records what it sent, in the order in which it was sent.

use super::super::entry::{Boundary, EntryKind, Version};
use super::super::file_records::FileRecords;
use super::super::instructions::Instructions;
use super::super::recorded_order::add_recorded;
use super::super::sent_order::{
    self, ContextRecord, PlacedRecord, RevisedMessage, Step, add_reminders,
};
use super::super::tree::{RecordPlace, uuid};
use super::ConversationBuilder;
use crate::formats::Warning;
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, Draft, Part, Pieces as _, Role};
use std::collections::{HashMap, HashSet};

/// The steps in which a conversation is built.
pub(super) struct SentSteps<'a> {
    file: FileRecords<'a>,
    steps: Vec<Step>,
    /// Calls, numbered from 1, before which the program sent messages in another form than before.
    revised: Vec<usize>,
}

impl<'a> SentSteps<'a> {
    /// Finds the steps of a conversation.
    pub(super) fn new(
        file: FileRecords<'a>,
        parts: &[Vec<Part>],
        places: &[RecordPlace],
        since: Version,
    ) -> Self {
        let mut steps = sent_order::steps(file.entries, parts, places, since);
        let revised = add_recorded(file, parts, places, &mut steps);
        Self { file, steps, revised }
    }

    /// Adds the conversation to an empty session, and marks the records that are in the context.
    pub(super) fn add_to<'b>(
        self,
        line: ConversationBuilder<'b>,
        is_context: &mut [bool],
        progress: &Progress,
    ) -> Result<ConversationBuilder<'b>, Cancelled>
    where
        'a: 'b,
    {
        let copied = sent_order::changed_later(&self.steps);
        let is_revision = |step: &Step| matches!(step, Step::Revision(_));
        let has_revisions = self.steps.iter().any(is_revision);
        let mut builder = SentBuilder {
            tools: if has_revisions { tools(&line.parts) } else { HashMap::new() },
            file: self.file,
            line,
            copied,
            originals: HashMap::new(),
            placed: Vec::new(),
            recorded: HashMap::new(),
        };
        for step in self.steps {
            progress.check_cancelled()?;
            builder.add(step, is_context);
        }
        let mut line = builder.line;
        if let Some(first) = self.revised.first() {
            let text = match self.revised.len() {
                1 => format!(
                    "before call {first}, the program changed messages that it had sent before; the context has what it sent"
                ),
                n => format!(
                    "before {n} calls, first before call {first}, the program changed messages that it had sent before; the context has what it sent"
                ),
            };
            line.warnings.push(Warning { line: None, text });
        }
        Ok(line)
    }
}

/// A conversation under construction.
struct SentBuilder<'a, 'b> {
    file: FileRecords<'a>,
    line: ConversationBuilder<'b>,
    /// Records that a compaction kept with more reminders than before.
    copied: HashSet<usize>,
    /// Parts of these records without reminders.
    originals: HashMap<usize, Vec<Part>>,
    /// Message of each placed record, if it has one.
    placed: Vec<Option<usize>>,
    /// Messages of requests that no record of the conversation has.
    recorded: HashMap<u32, usize>,
    /// Tools of the calls by their ids, for these messages.
    tools: HashMap<Box<str>, Box<str>>,
}

/// Returns the tools of all calls by their ids.
fn tools(parts: &[Vec<Part>]) -> HashMap<Box<str>, Box<str>> {
    let tool = |part: &Part| match &part.body {
        Body::ToolCall { call, tool, .. } => Some((call.clone(), tool.clone())),
        _ => None,
    };
    parts.iter().flatten().filter_map(tool).collect()
}

impl SentBuilder<'_, '_> {
    /// Adds a step, and marks the records that are in the context.
    fn add(&mut self, step: Step, is_context: &mut [bool]) {
        match step {
            Step::Record(placed) => {
                let (at, n_before) = (placed.at, self.line.builder.len());
                if self.copied.contains(&at) {
                    self.originals.insert(at, self.line.parts[at].clone());
                }
                self.prepare(&placed);
                let is_sent = self.line.add(at, &self.line.entries[at]);
                let last = self.line.builder.len().checked_sub(1);
                self.placed.push(last.filter(|last| *last >= n_before));
                for at in std::iter::once(at).chain(placed.reminders) {
                    is_context[at] = is_sent;
                }
            }
            Step::Compaction { at, context } => {
                for record in &context {
                    is_context[record.placed.at] = true;
                    record.placed.reminders.iter().for_each(|at| is_context[*at] = true);
                }
                if let EntryKind::Boundary(boundary) = &self.line.entries[at].kind {
                    self.add_compaction(at, boundary, &context);
                }
            }
            Step::Instructions { at, is_revision } => {
                is_context[at] = true;
                self.add_instructions(at, is_revision);
            }
            Step::Revision(messages) => {
                let mut kept = self.line.instructions.clone();
                for message in messages {
                    kept.extend(self.revised_message(message));
                }
                kept.dedup();
                self.line.builder.revision(kept);
            }
        }
    }

    /// Writes reminders into the last tool result of a record, and sets what its message has beside the record.
    fn prepare(&mut self, placed: &PlacedRecord) {
        let line = &mut self.line;
        line.next.sent.clone_from(&placed.sent);
        if placed.reminders.is_empty() {
            return;
        }
        let EntryKind::Message(message) = &line.entries[placed.at].kind else {
            return;
        };
        let mut parts = std::mem::take(&mut line.parts[placed.at]);
        let texts = placed.reminders.iter().flat_map(|at| &line.parts[*at]);
        add_reminders(&mut parts, message.result_content, texts.map(|part| part.body.text()));
        line.parts[placed.at] = parts;
        let spans = placed.reminders.iter().map(|at| line.entries[*at].span.clone());
        line.next.reminders = spans.collect();
    }

    /// Adds a compaction with its context.
    fn add_compaction(&mut self, at: usize, boundary: &Boundary, context: &[ContextRecord]) {
        // A managed conversation begins with a boundary that this program wrote.
        let is_first = !self.line.has_history;
        let is_own = is_first && at < self.line.managed_end;
        let sizes = self.line.sizes(&self.line.entries[at], boundary);
        let mut kept = Vec::with_capacity(context.len());
        for record in context {
            let message = self.context_message(record, is_first);
            self.placed.push(Some(message));
            if kept.last() != Some(&message) {
                kept.push(message);
            }
        }
        if !is_own {
            self.line.push_compaction(boundary, sizes, &kept);
        }
    }

    /// Returns the message of a record in the context of a compaction.
    fn context_message(&mut self, record: &ContextRecord, in_history: bool) -> usize {
        let entry = &self.line.entries[record.placed.at];
        let known = uuid(entry).filter(|_| record.is_unchanged);
        if let Some(message) = known.and_then(|id| self.line.messages.as_ref()?.get(id)) {
            return *message;
        }
        let at = record.placed.at;
        if let Some(original) = self.originals.get(&at) {
            self.line.parts[at].clone_from(original);
        }
        self.prepare(&record.placed);
        let draft = match &entry.kind {
            EntryKind::Message(message) => self.line.draft(at, entry, message),
            _ => Draft {
                id: uuid(entry).map(|id| id.to_string().into()),
                time: entry.time,
                raw: vec![entry.span.clone()],
                ..Draft::new(Role::Assistant, std::mem::take(&mut self.line.parts[at]))
            },
        };
        self.line.has_history |= in_history;
        self.line.builder.message(Draft { in_history, ..draft })
    }

    /// Adds the messages of instructions in place of those before.
    fn add_instructions(&mut self, at: usize, is_revision: bool) {
        let span = &self.line.entries[at].span;
        let Some(found) = Instructions::read(&self.file.input.bytes.piece(span)) else {
            return;
        };
        let builder = &mut self.line.builder;
        let context = builder.session().real_context(builder.len());
        let in_history = self.line.instructions.is_empty();
        let added = found.messages(span).map(|draft| Draft { in_history, ..draft });
        let added: Vec<usize> = added.map(|draft| builder.message(draft)).collect();
        let before = std::mem::replace(&mut self.line.instructions, added.clone());
        if is_revision {
            let rest = context.into_iter().filter(|message| !before.contains(message));
            builder.revision(added.into_iter().chain(rest).collect());
        }
    }

    /// Returns a message of a revised context.
    fn revised_message(&mut self, message: RevisedMessage) -> Option<usize> {
        let number = match message {
            RevisedMessage::Placed(number) => return *self.placed.get(number)?,
            RevisedMessage::Recorded(number) => number,
        };
        if let Some(message) = self.recorded.get(&number) {
            return Some(*message);
        }
        let requests = self.file.requests?;
        let (role, mut parts) = requests.message(number)?;
        for part in &mut parts {
            if let Body::ToolResult { call, tool, .. } = &mut part.body
                && let Some(name) = self.tools.get(call)
            {
                tool.clone_from(name);
            }
        }
        let is_result = |part: &Part| matches!(part.body, Body::ToolResult { .. });
        let message = self.line.builder.message(Draft {
            is_injected: role == Role::User && !parts.iter().any(is_result),
            in_history: false,
            raw: requests.spans(number),
            ..Draft::new(role, parts)
        });
        self.recorded.insert(number, message);
        Some(message)
    }
}
