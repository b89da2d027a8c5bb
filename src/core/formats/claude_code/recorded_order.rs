//! Compares the context of each call, as the records of the conversation give it, with its recorded request.
//!
//! They are usually equal. If the content of new messages differs, that of the request was sent. If messages that were
//! sent before differ, or their number does, the context is revised before the call. The records of the conversation stay
//! its history in any case.

use super::entry::{ClaudeEntry, EntryKind};
use super::file_records::FileRecords;
use super::instructions::Instructions;
use super::requests::{Chain, Requests};
use super::sent_order::{PlacedRecord, RevisedMessage, SentContent, Step, add_reminders};
use super::tree::RecordPlace;
use crate::session::{Body, Part, Pieces as _, Role};
use std::collections::{HashMap, HashSet};
use std::mem::discriminant;

/// Adds to the steps of a conversation what its recorded requests, or the instructions that it records to be sent again,
/// show. Returns the calls, numbered from 1, before which messages were sent in another form than before.
pub(super) fn add_recorded(
    file: FileRecords<'_>,
    parts: &[Vec<Part>],
    places: &[RecordPlace],
    steps: &mut Vec<Step>,
) -> Vec<usize> {
    let mut inserted = Vec::new();
    let mut revised = Vec::new();
    if let Some(requests) = file.requests {
        let mut calls = RecordedCalls::new(file.entries, parts, places, requests);
        for at in 0..steps.len() {
            calls.add(at, steps);
        }
        (inserted, revised) = (calls.inserted, calls.revised);
    }
    if !inserted.iter().any(|(_, step)| matches!(step, Step::Instructions { .. })) {
        inserted = of_snapshots(file, places, steps);
    }
    for (_, step) in &mut inserted {
        if let Step::Instructions { at, .. } = step {
            *at = snapshot_of(file, places, *at).unwrap_or(*at);
        }
    }
    if !inserted.is_empty() {
        insert(steps, inserted);
    }
    revised
}

/// Number of snapshots that are compared with the instructions of a request.
// Chosen: the first two after a start are enough. Each has the size of all tool definitions.
const MAX_COMPARED: usize = 4;

/// Returns the snapshot with the same instructions as a record. Unlike the record of a request, the program reads it
/// again when it resumes the session.
fn snapshot_of(file: FileRecords<'_>, places: &[RecordPlace], at: usize) -> Option<usize> {
    let read = |at: usize| Instructions::read(&file.input.bytes.piece(&file.entries[at].span));
    let is_snapshot = |at: &usize| {
        places[*at] == RecordPlace::Main && matches!(file.entries[*at].kind, EntryKind::Snapshot(_))
    };
    let wanted = read(at)?;
    let mut snapshots = (at..file.entries.len()).filter(is_snapshot).take(MAX_COMPARED);
    snapshots.find(|at| read(*at).as_ref() == Some(&wanted))
}

/// Inserts steps before those with these indices, which ascend.
fn insert(steps: &mut Vec<Step>, inserted: Vec<(usize, Step)>) {
    let mut all = Vec::with_capacity(steps.len() + inserted.len());
    let mut inserted = inserted.into_iter().peekable();
    for (at, step) in std::mem::take(steps).into_iter().enumerate() {
        while let Some((_, step)) = inserted.next_if(|(place, _)| *place <= at) {
            all.push(step);
        }
        all.push(step);
    }
    all.extend(inserted.map(|(_, step)| step));
    *steps = all;
}

/// Returns the instructions of a conversation without recorded requests: at its start and after each compaction.
fn of_snapshots(
    file: FileRecords<'_>,
    places: &[RecordPlace],
    steps: &[Step],
) -> Vec<(usize, Step)> {
    // Places of the compactions, with the records that they precede.
    let starts = std::iter::once((0, 0)).chain(steps.iter().enumerate().filter_map(
        |(place, step)| match step {
            Step::Compaction { at, .. } => Some((place, *at)),
            _ => None,
        },
    ));
    let starts: Vec<(usize, usize)> = starts.collect();
    let read = |at: usize| {
        let record = file.input.bytes.piece(&file.entries[at].span);
        Some((at, Instructions::read(&record)?))
    };
    let (mut found, mut last) = (Vec::new(), None);
    for (nth, (place, start)) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).map_or(file.entries.len(), |(_, end)| *end);
        let is_candidate = |at: &usize| match file.entries[*at].kind {
            EntryKind::Snapshot(_) => places[*at] == RecordPlace::Main,
            // A managed conversation may have one without its requests.
            EntryKind::Shape(..) => true,
            _ => false,
        };
        // The first snapshot is written before the tools are known.
        let mut best = None;
        for candidate in (*start..end).filter(is_candidate).filter_map(read) {
            let has_tools = candidate.1.has_tools();
            best = best.filter(|_| !has_tools).or(Some(candidate));
            if has_tools {
                break;
            }
        }
        if let Some((at, instructions)) = best.filter(|(_, it)| Some(it) != last.as_ref()) {
            last = Some(instructions);
            found.push((*place, Step::Instructions { at, is_revision: false }));
        }
    }
    found
}

/// A message of the context of a call.
struct SentMessage<'a> {
    /// Key of the answer; `None` for a message of the user.
    answer: Option<&'a str>,
    /// Its records: the index of the step, the index in the context of a compaction, and the number of the placed
    /// record.
    records: Vec<(usize, usize, usize)>,
    /// Its number in the recorded requests, if they have it.
    number: Option<u32>,
    /// A call before sent it.
    was_sent: bool,
}

/// The calls of a conversation so far.
struct RecordedCalls<'a> {
    entries: &'a [ClaudeEntry],
    parts: &'a [Vec<Part>],
    requests: &'a Requests<'a>,
    chain: Chain<'a>,
    /// Records of each answer.
    answers: HashMap<&'a str, Vec<usize>>,
    added: HashSet<&'a str>,
    context: Vec<SentMessage<'a>>,
    /// Number of leading messages of the context that the latest request in the chain has, too.
    n_equal: usize,
    n_placed: usize,
    n_calls: usize,
    /// Record of the instructions of the latest request.
    shape: Option<usize>,
    /// The step of the latest compaction since the last call.
    compaction: Option<usize>,
    inserted: Vec<(usize, Step)>,
    revised: Vec<usize>,
}

impl<'a> RecordedCalls<'a> {
    fn new(
        entries: &'a [ClaudeEntry],
        parts: &'a [Vec<Part>],
        places: &[RecordPlace],
        requests: &'a Requests<'a>,
    ) -> Self {
        let mut answers: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, answer) in super::answers::answered(entries, places) {
            if let Some(group) = &answer.group {
                answers.entry(group).or_default().push(at);
            }
        }
        Self {
            entries,
            parts,
            requests,
            chain: requests.chain(),
            answers,
            added: HashSet::new(),
            context: Vec::new(),
            n_equal: 0,
            n_placed: 0,
            n_calls: 0,
            shape: None,
            compaction: None,
            inserted: Vec::new(),
            revised: Vec::new(),
        }
    }

    /// Adds a step.
    fn add(&mut self, at: usize, steps: &mut [Step]) {
        match &steps[at] {
            Step::Record(placed) => {
                let number = self.n_placed;
                self.n_placed += 1;
                let entry = &self.entries[placed.at];
                match &entry.kind {
                    EntryKind::Message(_) if !self.parts[placed.at].is_empty() => {
                        self.push(None, (at, 0, number));
                    }
                    EntryKind::Rejection(_) => self.end_call(),
                    EntryKind::Answer(answer) => {
                        let group = answer.group.as_deref().unwrap_or_default();
                        if group.is_empty() || self.added.insert(group) {
                            if let Some(request) = self.requests.answered_by(answer) {
                                self.compare(request, at, steps);
                            }
                            self.end_call();
                            self.push(Some(group), (at, 0, number));
                        }
                    }
                    _ => {}
                }
            }
            Step::Compaction { context, .. } => {
                self.context.clear();
                self.n_equal = 0;
                self.compaction = Some(at);
                for (idx, record) in context.iter().enumerate() {
                    let answer = match &self.entries[record.placed.at].kind {
                        EntryKind::Answer(answer) => answer.group.as_deref().or(Some("")),
                        _ => None,
                    };
                    self.push(answer, (at, idx, self.n_placed + idx));
                }
                self.n_placed += context.len();
            }
            Step::Instructions { .. } | Step::Revision(_) => {}
        }
    }

    /// Adds a record to the context. Neighbors with the same author are one message.
    fn push(&mut self, answer: Option<&'a str>, record: (usize, usize, usize)) {
        match self.context.last_mut() {
            Some(last) if last.answer == answer => {
                last.records.push(record);
                last.number = None;
                self.n_equal = self.n_equal.min(self.context.len() - 1);
            }
            _ => {
                let records = vec![record];
                self.context.push(SentMessage { answer, records, number: None, was_sent: false });
            }
        }
    }

    fn end_call(&mut self) {
        self.n_calls += 1;
        self.compaction = None;
        // Those before were sent by the call before, too.
        let new = self.context.iter_mut().rev().take_while(|message| !message.was_sent);
        new.for_each(|message| message.was_sent = true);
    }

    /// Compares the context with the request of the call that the step with this index answers.
    fn compare(&mut self, request: usize, at: usize, steps: &mut [Step]) {
        let is_new = self.add_instructions(request, at);
        let is_revision = is_new.is_some_and(|is_first| !is_first) && self.compaction.is_none();
        let before = self.inserted.len();
        self.compare_messages(request, at, steps);
        // The revision of the messages takes up the instructions.
        let is_revised = self.inserted.len() > before;
        if let Some((_, Step::Instructions { is_revision: own, .. })) =
            before.checked_sub(1).and_then(|last| self.inserted.get_mut(last))
            && is_revision
        {
            *own = !is_revised;
        }
    }

    /// Adds the instructions of a request if they are new. Returns whether they are the first.
    fn add_instructions(&mut self, request: usize, at: usize) -> Option<bool> {
        let shape = self.requests.shape(request)?;
        let last = self.shape.replace(shape);
        if last == Some(shape) {
            return None;
        }
        let step = Step::Instructions { at: shape, is_revision: false };
        if last.is_none() {
            self.inserted.insert(0, (0, step));
        } else {
            self.inserted.push((self.compaction.unwrap_or(at), step));
        }
        Some(last.is_none())
    }

    fn compare_messages(&mut self, request: usize, at: usize, steps: &mut [Step]) {
        let Some(common) = self.chain.go_to(request) else {
            self.n_equal = 0;
            return;
        };
        // Its content is not that of the request.
        if self.requests.is_cut(request) {
            self.n_equal = 0;
            return;
        }
        let n_sent = self.chain.messages().len();
        let start = common.min(self.n_equal).min(self.context.len());
        let added = self.chain.messages()[start..].to_vec();
        let mut contents: HashMap<usize, Vec<Part>> = HashMap::new();
        let mut differing = Vec::new();
        for (idx, number) in (start..).zip(&added) {
            let Some(message) = self.context.get(idx) else {
                differing.push(idx);
                continue;
            };
            if message.number == Some(*number) {
                continue;
            }
            // What is not recorded is not compared.
            if let Some((role, recorded)) = self.requests.message(*number)
                && ((role == Role::Assistant) != message.answer.is_some()
                    || !self.is_equal(message, &recorded, steps))
            {
                differing.push(idx);
                contents.insert(idx, recorded);
            }
        }
        let is_same_length = n_sent == self.context.len();
        let is_replaced = is_same_length && self.replace(&differing, &contents, steps);
        if !is_replaced && (!differing.is_empty() || !is_same_length) {
            self.revise(&differing, at);
        }
        for (message, number) in self.context[start..].iter_mut().zip(added) {
            message.number = Some(number);
        }
        self.n_equal = n_sent;
    }

    /// Returns the parts of a record with its reminders.
    fn parts_of(&self, placed: &PlacedRecord) -> Vec<Part> {
        let mut parts = match &self.entries[placed.at].kind {
            EntryKind::Answer(answer) => {
                let group = answer.group.as_deref().and_then(|group| self.answers.get(group));
                let records = group.map_or(std::slice::from_ref(&placed.at), Vec::as_slice);
                records.iter().flat_map(|at| self.parts[*at].iter().cloned()).collect()
            }
            EntryKind::Message(message) => {
                let mut parts = self.parts[placed.at].clone();
                if !placed.reminders.is_empty() {
                    let texts = placed.reminders.iter().flat_map(|at| &self.parts[*at]);
                    let texts = texts.map(|part| part.body.text());
                    add_reminders(&mut parts, message.result_content, texts);
                }
                parts
            }
            _ => Vec::new(),
        };
        if let Some(sent) = &placed.sent {
            for (part, body) in parts.iter_mut().zip(&sent.bodies) {
                part.body.clone_from(body);
            }
        }
        parts
    }

    /// Returns the parts of a message by its records.
    fn message_parts(&self, message: &SentMessage<'_>, steps: &[Step]) -> Vec<Vec<Part>> {
        let mut records = message.records.as_slice();
        // All records of an answer have one message.
        if message.answer.is_some_and(|group| !group.is_empty()) {
            records = &records[..records.len().min(1)];
        }
        let placed = records.iter().filter_map(|(step, idx, _)| placed(steps, *step, *idx));
        placed.map(|placed| self.parts_of(placed)).collect()
    }

    fn is_equal(&self, message: &SentMessage<'_>, recorded: &[Part], steps: &[Step]) -> bool {
        let own = self.message_parts(message, steps).concat();
        own.len() == recorded.len()
            && own.iter().zip(recorded).all(|(own, sent)| is_same(&own.body, &sent.body))
    }

    /// Replaces the content of messages that no call sent before, if all have the same kinds of parts in the request.
    fn replace(
        &self,
        differing: &[usize],
        contents: &HashMap<usize, Vec<Part>>,
        steps: &mut [Step],
    ) -> bool {
        let mut replaced = Vec::new();
        for idx in differing {
            let number = self.chain.messages()[*idx];
            let (message, Some(sent), Some(span)) =
                (&self.context[*idx], contents.get(idx), self.requests.blob(number))
            else {
                return false;
            };
            let own = self.message_parts(message, steps);
            let is_alike = own.concat().len() == sent.len()
                && own
                    .iter()
                    .flatten()
                    .zip(sent)
                    .all(|(own, sent)| is_alike(&own.body, &sent.body));
            if message.was_sent || !is_alike {
                return false;
            }
            let mut sent = sent.iter();
            for (record, own) in message.records.iter().zip(own) {
                let bodies = own.into_iter().zip(&mut sent);
                let bodies: Vec<Body> =
                    bodies.map(|(own, sent)| as_sent(own.body, &sent.body)).collect();
                replaced
                    .push((*record, SentContent { bodies: bodies.into(), record: span.clone() }));
            }
        }
        for ((step, idx, _), sent) in replaced {
            let placed = match steps.get_mut(step) {
                Some(Step::Record(placed)) => placed,
                Some(Step::Compaction { context, .. }) => {
                    context[idx].is_unchanged = false;
                    &mut context[idx].placed
                }
                _ => continue,
            };
            placed.sent = Some(sent);
        }
        true
    }

    /// Revises the context before the step with this index: it has the messages of the request.
    fn revise(&mut self, differing: &[usize], at: usize) {
        let differing: HashSet<usize> = differing.iter().copied().collect();
        let mut known: HashMap<u32, usize> = HashMap::new();
        for (idx, message) in self.context.iter().enumerate() {
            known.extend(message.number.map(|number| (number, idx)));
        }
        let mut before: Vec<Option<SentMessage<'a>>> =
            std::mem::take(&mut self.context).into_iter().map(Some).collect();
        let mut revised = Vec::new();
        for (idx, number) in self.chain.messages().iter().enumerate() {
            let same =
                if differing.contains(&idx) { known.get(number).copied() } else { Some(idx) };
            let message = same.and_then(|idx| before.get_mut(idx)?.take());
            if let Some(message) = &message {
                let records = message.records.iter();
                revised.extend(records.map(|(_, _, number)| RevisedMessage::Placed(*number)));
            }
            if message.as_ref().is_none_or(|message| message.records.is_empty()) {
                revised.push(RevisedMessage::Recorded(*number));
            }
            self.context.push(message.unwrap_or(SentMessage {
                answer: None,
                records: Vec::new(),
                number: None,
                was_sent: true,
            }));
        }
        self.inserted.push((at, Step::Revision(revised)));
        self.revised.push(self.n_calls + 1);
    }
}

/// Returns the placed record of a step.
fn placed(steps: &[Step], step: usize, idx: usize) -> Option<&PlacedRecord> {
    match steps.get(step)? {
        Step::Record(placed) => Some(placed),
        Step::Compaction { context, .. } => Some(&context.get(idx)?.placed),
        _ => None,
    }
}

/// Compares the content of a record with what was sent. The name of a tool is recorded only for its call, and a text
/// ends with a line break if another one follows it.
fn is_same(own: &Body, sent: &Body) -> bool {
    match (own, sent) {
        (Body::Text(own), Body::Text(sent)) => {
            own == sent || sent.strip_suffix('\n').is_some_and(|sent| sent == &**own)
        }
        (
            Body::ToolResult { call, is_error, text, .. },
            Body::ToolResult { call: sent_call, is_error: sent_error, text: sent, .. },
        ) => (call, is_error, text) == (sent_call, sent_error, sent),
        (own, sent) => own == sent,
    }
}

/// Returns whether a part was sent in place of another one.
fn is_alike(own: &Body, sent: &Body) -> bool {
    let call = |body: &Body| match body {
        Body::ToolCall { call, .. } | Body::ToolResult { call, .. } => Some(call.clone()),
        _ => None,
    };
    discriminant(own) == discriminant(sent) && call(own) == call(sent)
}

/// Returns a part as it was sent, with the name of its tool.
fn as_sent(own: Body, sent: &Body) -> Body {
    if is_same(&own, sent) {
        return own;
    }
    match (own, sent) {
        (Body::ToolResult { tool, .. }, Body::ToolResult { call, is_error, text, .. }) => {
            let (call, text) = (call.clone(), text.clone());
            Body::ToolResult { call, tool, is_error: *is_error, text }
        }
        (_, sent) => sent.clone(),
    }
}
