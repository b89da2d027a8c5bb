//! Orders records as their texts were sent, for versions that record these texts.
//!
//! A *run* is all records between two answers. Of a run without tool results, reminders are sent first, then the
//! prompts. In a run with results, reminders are written into the last result or follow it as blocks of their own.
//!
//! After a compaction, the summary is sent first, then the kept messages, then the records behind the summary. Their
//! reminders join the last run of the kept messages, so that a kept result may become larger.
//!
//! The program ends a text with a line break if another text follows it in the same message. That line break is not
//! part of any record and is left out here.

use super::entry::{Boundary, ClaudeEntry, EntryKind, MessageOrigin, ResultContent, Version};
use super::id::Id;
use super::tree::{RecordPlace, uuid};
use crate::session::{Body, Part, Span};
use std::collections::{HashMap, HashSet};

/// A step in which the conversation is built.
#[derive(Debug)]
pub(super) enum Step {
    /// A record of the history, or one that is not sent.
    Record(PlacedRecord),
    /// A compaction, and the context that the program wrote for it.
    Compaction {
        /// Index of its boundary.
        at: usize,
        context: Vec<ContextRecord>,
    },
    /// Instructions and tool definitions that are sent from here on.
    Instructions {
        /// Index of their record.
        at: usize,
        /// They replace others, and no compaction follows that takes them up.
        is_revision: bool,
    },
    /// The next call sends its context in another form than the records have.
    Revision(Vec<RevisedMessage>),
}

/// A message of a revised context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RevisedMessage {
    /// That of a placed record, by its number among all placed records.
    Placed(usize),
    /// A recorded message of a request, by its number.
    Recorded(u32),
}

/// A record at its position in the context.
#[derive(Debug, PartialEq)]
pub(super) struct PlacedRecord {
    /// Index of the record.
    pub at: usize,
    /// Indices of the reminders that are written into its last result.
    pub reminders: Vec<usize>,
    /// The content as it was sent, if it differs from that of the records.
    pub sent: Option<SentContent>,
}

/// Content of a record as a request has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SentContent {
    pub bodies: Box<[Body]>,
    /// Byte range of the recorded message of the request.
    pub record: Span,
}

impl PlacedRecord {
    /// Creates a placed record without reminders.
    fn alone(at: usize) -> Self {
        Self { at, reminders: Vec::new(), sent: None }
    }
}

/// A record in the context after a compaction.
#[derive(Debug)]
pub(super) struct ContextRecord {
    pub placed: PlacedRecord,
    /// It was kept, and its message of the history is sent unchanged.
    pub is_unchanged: bool,
}

/// Returns the first version in the file that recorded what it sent.
pub(super) fn first_version(entries: &[ClaudeEntry]) -> Option<Version> {
    let version = |entry: &ClaudeEntry| match &entry.kind {
        EntryKind::Message(message) => match message.origin {
            MessageOrigin::Rendered { version, .. } => Some(version),
            _ => None,
        },
        EntryKind::Request(request) => Some(request.version),
        EntryKind::Snapshot(version) | EntryKind::Shape(_, version) => Some(*version),
        _ => None,
    };
    entries.iter().filter_map(version).min()
}

/// Returns whether a record is an attachment without a text although its version records them. It was not sent.
pub(super) fn is_unsent(entry: &ClaudeEntry, since: Version) -> bool {
    let EntryKind::Message(message) = &entry.kind else {
        return false;
    };
    matches!(message.origin, MessageOrigin::Attachment { version } if version >= since)
}

/// Returns the records that a compaction keeps with other reminders than before.
pub(super) fn changed_later(steps: &[Step]) -> HashSet<usize> {
    let contexts = steps.iter().filter_map(|step| match step {
        Step::Compaction { context, .. } => Some(context),
        _ => None,
    });
    let changed = contexts.flatten().filter(|record| !record.is_unchanged);
    changed.map(|record| record.placed.at).collect()
}

/// Returns the steps of a conversation. `parts` holds the parts of each record, `since` is the first version that
/// recorded what it sent.
pub(super) fn steps(
    entries: &[ClaudeEntry],
    parts: &[Vec<Part>],
    places: &[RecordPlace],
    since: Version,
) -> Vec<Step> {
    let is_boundary = |entry: &ClaudeEntry| matches!(entry.kind, EntryKind::Boundary(_));
    let by_uuid = if entries.iter().any(is_boundary) {
        entries.iter().enumerate().filter_map(|(at, entry)| Some((uuid(entry)?, at))).collect()
    } else {
        HashMap::new()
    };
    let mut order = SentOrder {
        entries,
        parts,
        places,
        since,
        by_uuid,
        steps: Vec::with_capacity(entries.len()),
        run: Vec::new(),
        group: None,
        folded: HashMap::new(),
        context: None,
    };
    for (at, place) in places.iter().enumerate() {
        if *place == RecordPlace::Main {
            order.add(at);
        }
    }
    order.end_run();
    order.steps
}

/// The order of a conversation so far.
struct SentOrder<'a> {
    entries: &'a [ClaudeEntry],
    parts: &'a [Vec<Part>],
    places: &'a [RecordPlace],
    since: Version,
    /// Records by their ids, if there are compactions.
    by_uuid: HashMap<&'a Id, usize>,
    steps: Vec<Step>,
    /// Records since the last answer.
    run: Vec<usize>,
    /// Key of the last answer.
    group: Option<&'a str>,
    /// Reminders in the results of the history.
    folded: HashMap<usize, Vec<usize>>,
    /// The compaction whose context is not complete.
    context: Option<OpenContext<'a>>,
}

/// The context of a compaction so far.
struct OpenContext<'a> {
    boundary: &'a Boundary,
    at: usize,
    /// Kept records that were added.
    kept: HashSet<usize>,
    records: Vec<ContextRecord>,
}

impl SentOrder<'_> {
    fn add(&mut self, at: usize) {
        match &self.entries[at].kind {
            EntryKind::Message(message) if !self.parts[at].is_empty() => {
                self.run.push(at);
                if self.is_anchor(at, message.is_summary) {
                    self.add_kept();
                }
            }
            EntryKind::Answer(answer) => {
                let group = answer.group.as_deref();
                // Results may be recorded between the records of an answer.
                if group.is_none() || group != self.group {
                    self.end_run();
                }
                self.group = group;
                self.push(at);
            }
            EntryKind::Boundary(boundary) if boundary.version >= self.since => {
                self.end_run();
                self.group = None;
                let (kept, records) = (HashSet::new(), Vec::new());
                self.context = Some(OpenContext { boundary, at, kept, records });
                if boundary.preserved_first {
                    self.add_kept();
                }
            }
            EntryKind::Boundary(_) | EntryKind::Rejection(_) => {
                self.end_run();
                self.push(at);
            }
            _ => self.push(at),
        }
    }

    fn push(&mut self, at: usize) {
        self.steps.push(Step::Record(PlacedRecord::alone(at)));
    }

    /// Returns whether kept messages follow this record.
    fn is_anchor(&self, at: usize, is_summary: bool) -> bool {
        let boundary = self.context.as_ref().filter(|it| it.kept.is_empty()).map(|it| it.boundary);
        boundary.is_some_and(|boundary| match &boundary.anchor {
            Some(anchor) => !boundary.preserved_first && uuid(&self.entries[at]) == Some(anchor),
            None => is_summary && boundary.keeps_messages(),
        })
    }

    /// Adds the records before the kept messages, and these. The last run of them stays open.
    fn add_kept(&mut self) {
        let Some(mut context) = self.context.take() else {
            return;
        };
        self.end_run_in(&mut context);
        for at in self.kept_by(context.boundary) {
            if self.parts[at].is_empty() {
                continue;
            }
            if matches!(self.entries[at].kind, EntryKind::Answer(_)) {
                self.end_run_in(&mut context);
                let placed = PlacedRecord::alone(at);
                context.records.push(ContextRecord { placed, is_unchanged: true });
            } else if context.kept.insert(at) {
                self.run.push(at);
            }
        }
        self.context = Some(context);
    }

    /// Returns the records that a compaction kept, in order.
    fn kept_by(&self, boundary: &Boundary) -> Vec<usize> {
        let place = |uuid: &Id| self.by_uuid.get(uuid).copied();
        if !boundary.preserved.is_empty() {
            return boundary.preserved.iter().filter_map(place).collect();
        }
        let Some((first, last)) = &boundary.preserved_range else {
            return Vec::new();
        };
        match (place(first), place(last)) {
            (Some(first), Some(last)) if first <= last => {
                (first..=last).filter(|at| self.places[*at] == RecordPlace::Main).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Adds the open run to the context of a compaction.
    fn end_run_in(&mut self, context: &mut OpenContext<'_>) {
        for placed in self.placed_run() {
            self.add_to(context, placed);
        }
    }

    fn add_to(&self, context: &mut OpenContext<'_>, placed: PlacedRecord) {
        let before = self.folded.get(&placed.at).map_or(&[][..], Vec::as_slice);
        let is_unchanged = context.kept.contains(&placed.at) && before == placed.reminders;
        context.records.push(ContextRecord { placed, is_unchanged });
    }

    /// Adds the open run to the history, or to the compaction before it.
    fn end_run(&mut self) {
        let kept = self.context.as_ref().map(|context| &context.kept);
        let is_new = |at: &&usize| kept.is_none_or(|kept| !kept.contains(*at));
        let is_prompt = |at: &&usize| matches!(&self.entries[**at].kind, EntryKind::Message(message) if !message.is_injected && !message.is_summary);
        let first_prompt = self.run.iter().filter(is_new).find(is_prompt).copied();
        let mut placed = self.placed_run();
        if let Some(mut context) = self.context.take() {
            let is_attachment = |at: usize| matches!(&self.entries[at].kind, EntryKind::Message(message) if message.origin.is_attachment());
            let is_rewritten = |it: &&PlacedRecord| {
                first_prompt.is_none_or(|prompt| it.at < prompt) && is_attachment(it.at)
            };
            // The program writes its reminders again for a compaction, before anyone can answer.
            let is_forced =
                |it: &PlacedRecord| context.kept.contains(&it.at) || self.is_summary(it.at);
            let end = placed.iter().rposition(is_forced).map_or(0, |last| last + 1);
            let end = end + placed[end..].iter().take_while(is_rewritten).count();
            let history = placed.split_off(end);
            for placed in std::mem::replace(&mut placed, history) {
                self.add_to(&mut context, placed);
            }
            self.steps.push(Step::Compaction { at: context.at, context: context.records });
        }
        for placed in placed {
            if !placed.reminders.is_empty() {
                self.folded.insert(placed.at, placed.reminders.clone());
            }
            self.steps.push(Step::Record(placed));
        }
    }

    fn is_summary(&self, at: usize) -> bool {
        matches!(&self.entries[at].kind, EntryKind::Message(message) if message.is_summary)
    }

    /// Returns the records of the open run in the order in which they are sent.
    fn placed_run(&mut self) -> Vec<PlacedRecord> {
        let (mut results, mut texts) = (Vec::new(), Vec::new());
        let (mut reminders, mut beside) = (Vec::new(), Vec::new());
        for at in std::mem::take(&mut self.run) {
            match &self.entries[at].kind {
                EntryKind::Message(message) => match message.origin {
                    MessageOrigin::Rendered { is_beside, .. } => {
                        let is_text = |part: &Part| matches!(part.body, Body::Text(_));
                        let is_beside = is_beside || !self.parts[at].iter().all(is_text);
                        if is_beside { beside.push(at) } else { reminders.push(at) }
                    }
                    _ if last_result(&self.parts[at]).is_some() => results.push(at),
                    _ => texts.push(at),
                },
                _ => texts.push(at),
            }
        }
        if results.is_empty() {
            // In the order of the file.
            reminders.append(&mut beside);
            reminders.sort_unstable();
            return reminders.into_iter().chain(texts).map(PlacedRecord::alone).collect();
        }
        let mut placed: Vec<_> = results.into_iter().map(PlacedRecord::alone).collect();
        if let Some(last) = placed.last_mut() {
            last.reminders = reminders;
        }
        placed.extend(beside.into_iter().chain(texts).map(PlacedRecord::alone));
        placed
    }
}

/// Returns the index of the last tool result.
fn last_result(parts: &[Part]) -> Option<usize> {
    parts.iter().rposition(|part| matches!(part.body, Body::ToolResult { .. }))
}

/// Writes reminders into the last tool result.
pub(super) fn add_reminders<'t>(
    parts: &mut [Part],
    content: ResultContent,
    reminders: impl Iterator<Item = &'t str>,
) {
    let Some(Body::ToolResult { text, .. }) = last_result(parts).map(|last| &mut parts[last].body)
    else {
        return;
    };
    let reminders = reminders.collect::<Vec<_>>().join("\n\n");
    // Blocks of a list are joined by a line break. The program adds another one to the last text.
    let joint = match content {
        _ if text.is_empty() => "",
        ResultContent::Text | ResultContent::EndsWithText => "\n\n",
        ResultContent::EndsWithOther => "\n",
    };
    let before = if content == ResultContent::Text { trim_end(text) } else { &**text };
    *text = format!("{before}{joint}{reminders}").into();
}

/// Removes white space at the end, as the program's language defines it.
fn trim_end(text: &str) -> &str {
    text.trim_end_matches(|c: char| c == '\u{feff}' || c.is_whitespace() && c != '\u{85}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_reminders(content: ResultContent, text: &str, reminders: &[&str]) -> String {
        let result = |text: &str| Body::ToolResult {
            call: "c".into(),
            tool: "Bash".into(),
            is_error: false,
            text: text.into(),
        };
        let part = |body| Part { body, record: 0, block: 0 };
        let mut parts = vec![part(result("first")), part(result(text))];
        add_reminders(&mut parts, content, reminders.iter().copied());
        assert_eq!(parts[0].body.text(), "first");
        parts[1].body.text().to_owned()
    }

    #[test]
    fn writes_reminders_into_the_last_result() {
        use ResultContent::{EndsWithOther, EndsWithText, Text};
        assert_eq!(with_reminders(Text, "out \u{a0}\n", &["a", "b"]), "out\n\na\n\nb");
        assert_eq!(with_reminders(Text, "", &["a"]), "a");
        assert_eq!(with_reminders(EndsWithText, "out\n", &["a", "b"]), "out\n\n\na\n\nb");
        assert_eq!(with_reminders(EndsWithOther, "out", &["a"]), "out\na");
        assert_eq!(with_reminders(EndsWithOther, "", &["a"]), "a");
    }
}
