//! The context in the format of an agent's own program: the input of named actions and named meters.

use super::pieces::WRITTEN;
use crate::chat::{
    Block, BlockBody, ChatMessage, Content, Fields, Messages, Replaced, Shape, Text, join_answer,
    messages_of, push_grouped,
};
use crate::engine::case::Case;
use crate::engine::context::{Context, Edited, Entry, EntryBody, Marker, PartStatus, Written};
use crate::session::{Body, Part, Role};
use std::borrow::Cow;
use std::sync::Arc;

/// The entries that messages consist of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spans {
    /// First and last entry, by message.
    of: Vec<(u32, u32)>,
    /// Entries that no message contains.
    hidden: Vec<u32>,
}

impl Spans {
    /// Returns the first and last entry of a message.
    pub(crate) fn of(&self, message: usize) -> Option<(usize, usize)> {
        let (first, last) = *self.of.get(message)?;
        Some((first as usize, last as usize))
    }

    /// Returns the entries that no message contains, ascending.
    pub(crate) fn hidden(&self) -> &[u32] {
        &self.hidden
    }

    /// Discards the messages that contain an entry or follow it. Returns the number of messages left and the first
    /// entry that they do not contain.
    fn truncate(&mut self, entry: usize) -> (usize, usize) {
        let n_messages = self.of.partition_point(|(_, last)| (*last as usize) < entry);
        let first = self.of(n_messages).map_or(entry, |(first, _)| first.min(entry));
        self.of.truncate(n_messages);
        let n_hidden = self.hidden.partition_point(|idx| (*idx as usize) < first);
        self.hidden.truncate(n_hidden);
        (n_messages, first)
    }

    /// Records that some entries became `n_given` messages, for a new total of `n_messages`.
    fn note(&mut self, (first, last): (usize, usize), n_given: usize, n_messages: usize) {
        let span = (first as u32, last as u32);
        if n_given == 0 {
            self.hidden.extend(span.0..=span.1);
        }
        // An entry that was joined to the last message has no message of its own.
        if self.of.len() + n_given > n_messages
            && let Some(joined) = self.of.last_mut()
        {
            joined.1 = span.1;
        }
        self.of.resize(n_messages, span);
    }
}

/// The context from an entry on, as a named action receives it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    messages: Messages,
    spans: Arc<Spans>,
    /// Entries before this one are included or omitted.
    end: usize,
    /// Entries from this one on changed.
    changed: Option<usize>,
    shape: Option<Shape>,
}

impl Shown {
    /// Builds the messages of the context from an entry on.
    pub(crate) fn from(case: &Case, context: &Context, first: usize, shape: Shape) -> Self {
        let mut shown = Self { end: first, shape: Some(shape), ..Self::default() };
        shown.add(case, context, shape);
        shown
    }

    /// Builds the whole context in a shape; after the first use, only new entries are added.
    pub(crate) fn all(&mut self, case: &Case, context: &Context, shape: Shape) -> &Self {
        if self.shape != Some(shape) {
            *self = Self { shape: Some(shape), ..Self::default() };
        }
        let last = self.end.checked_sub(1).and_then(|last| context.entries.get(last));
        if self.end < context.entries.len() && last.is_some_and(Entry::joins_next) {
            self.mark_changed(self.end - 1);
        }
        if let Some(changed) = self.changed.take() {
            self.discard_from(case, context, changed);
        }
        if self.end < context.entries.len() {
            self.add(case, context, shape);
        }
        debug_assert!(
            self.equals_new(case, context, shape),
            "the messages of changed entries were kept"
        );
        self
    }

    /// Returns the messages.
    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Returns the entries that they consist of.
    pub(crate) fn spans(&self) -> Arc<Spans> {
        Arc::clone(&self.spans)
    }

    /// Records that the entries from this one on changed.
    pub(crate) fn mark_changed(&mut self, first: usize) {
        if first < self.end {
            self.changed = Some(self.changed.map_or(first, |changed| changed.min(first)));
        }
    }

    fn equals_new(&self, case: &Case, context: &Context, shape: Shape) -> bool {
        let new = Self::from(case, context, 0, shape);
        new.spans == self.spans && *new.messages == *self.messages
    }

    /// Discards the messages of the entries from this one on, and those that they may be joined to.
    fn discard_from(&mut self, case: &Case, context: &Context, changed: usize) {
        let unchanged = &context.entries[..changed];
        let apart = unchanged.iter().rposition(|entry| !may_join_next(case, entry));
        let first = apart.map_or(0, |apart| apart + 1);
        let (n_messages, end) = Arc::make_mut(&mut self.spans).truncate(first);
        // Clones may exist: copying what is left is less work than changing the list.
        self.messages = self.messages[..n_messages].to_vec().into();
        self.end = end;
    }

    fn add(&mut self, case: &Case, context: &Context, shape: Shape) {
        let spans = Arc::make_mut(&mut self.spans);
        let from = self.end;
        self.end = context.entries.len();
        // The first new entry may be joined to the last message.
        let last = self.messages.last().cloned();
        let n_before = self.messages.len() - usize::from(last.is_some());
        let mut new = Vec::with_capacity(self.end - from + 1);
        new.extend(last.clone());
        let note = |entries, n_given, n_new| spans.note(entries, n_given, n_before + n_new);
        add_messages(&mut new, case, context, from, shape, note);
        match (last, new.first()) {
            (Some(last), Some(first)) if !first.is_copy_of(&last) => {
                self.messages.truncate(n_before);
                self.messages.extend(new);
            }
            (last, _) => {
                let new = new.into_iter().skip(usize::from(last.is_some()));
                self.messages.grow(new);
            }
        }
    }
}

/// Adds the entries from one on to the messages of those before it. Passes to `note` the first and last of the entries
/// that belong together, the number of their messages, and the new total.
fn add_messages(
    messages: &mut Vec<ChatMessage>,
    case: &Case,
    context: &Context,
    first: usize,
    shape: Shape,
    mut note: impl FnMut((usize, usize), usize, usize),
) {
    let entries = &context.entries;
    let mut at = first;
    while let Some(entry) = entries.get(at) {
        if let Some((n, whole)) = joined(case, &entries[at..], &context.markers, shape) {
            push_grouped(messages, &whole, shape);
            note((at, at + n - 1), 1, messages.len());
            at += n;
            continue;
        }
        let mut n_given = 0;
        give(case, entry, &context.markers, shape, |message| {
            push_grouped(messages, message, shape);
            n_given += 1;
        });
        note((at, at), n_given, messages.len());
        at += 1;
    }
}

/// Returns the message that the first entries form and their number, if they are several: an answer that the file
/// splits, or a written text with the answer behind it.
fn joined<'a>(
    case: &'a Case,
    entries: &[Entry],
    markers: &[Marker],
    shape: Shape,
) -> Option<(usize, Cow<'a, ChatMessage>)> {
    let (entry, behind) = entries.split_first()?;
    match &entry.body {
        EntryBody::Original(message) => {
            let answer = case.originals().answer(&case.session, shape, *message)?;
            are_whole(entries, answer.0).then_some((answer.0, Cow::Borrowed(&answer.1)))
        }
        EntryBody::Written(written) if written.joins_next => {
            let (n, answer) = joined(case, behind, markers, shape).or_else(|| {
                let mut only = None;
                give(case, behind.first()?, markers, shape, |message| {
                    only = Some(Cow::Owned(message.clone()));
                });
                Some((1, only?))
            })?;
            let text = written_message(written, entry.id, shape);
            let whole = (answer.content.is_silent() && !answer.calls().is_empty())
                .then(|| join_answer(&[text, answer.into_owned()]))??;
            Some((n + 1, Cow::Owned(whole)))
        }
        _ => None,
    }
}

/// Returns whether an entry may form one message with the entry behind it.
fn may_join_next(case: &Case, entry: &Entry) -> bool {
    match entry.body {
        EntryBody::Original(message) => {
            case.session.messages[message as usize].role == Role::Assistant
        }
        _ => entry.joins_next(),
    }
}

/// Returns the session's own first message, if it contains instructions as one text.
pub(super) fn first_instruction(case: &Case) -> Option<Arc<str>> {
    let first = case.session.messages.first()?;
    let parts = case.session.parts_of(first);
    match (first.role, parts) {
        (Role::System, [Part { body: Body::Text(text), .. }]) => Some((&**text).into()),
        _ => None,
    }
}

/// Returns whether the first `n` entries are consecutive untouched messages.
fn are_whole(entries: &[Entry], n: usize) -> bool {
    let untouched = |entry: &Entry| match entry.body {
        EntryBody::Original(message) => Some(message),
        _ => None,
    };
    let Some(first) = entries.first().and_then(untouched) else {
        return false;
    };
    let follows = |(nth, entry): (usize, &Entry)| untouched(entry) == Some(first + nth as u32);
    entries.len() >= n && entries[..n].iter().enumerate().all(follows)
}

/// Passes the messages of one entry in a shape to `give`: several if results are separate, none for tool definitions.
pub(crate) fn give(
    case: &Case,
    entry: &Entry,
    markers: &[Marker],
    shape: Shape,
    give: impl FnMut(&ChatMessage),
) {
    match &entry.body {
        EntryBody::Original(message) => {
            case.originals().message(&case.session, shape, *message).iter().for_each(give);
        }
        EntryBody::Edited(edited) => match cleared_message(case, edited, markers, shape) {
            Some(cleared) => [cleared].iter().for_each(give),
            None => edited_messages(case, edited, markers, shape).iter().for_each(give),
        },
        EntryBody::Written(written) => {
            [written_message(written, entry.id, shape)].iter().for_each(give);
        }
    }
}

/// Returns a message whose only part has another text; the original caches its rendering.
fn cleared_message(
    case: &Case,
    edited: &Edited,
    markers: &[Marker],
    shape: Shape,
) -> Option<ChatMessage> {
    let [PartStatus::Cleared { marker }] = edited.parts.as_slice() else {
        return None;
    };
    match case.originals().message(&case.session, shape, edited.message) {
        [original] if original.text().is_some() => {
            Some(original.with_text(Arc::clone(&markers[*marker as usize].text)))
        }
        _ => None,
    }
}

fn edited_messages(
    case: &Case,
    edited: &Edited,
    markers: &[Marker],
    shape: Shape,
) -> Vec<ChatMessage> {
    let message = &case.session.messages[edited.message as usize];
    let first = message.parts.start;
    messages_of(&case.session, message, shape, |part| {
        match &edited.parts.as_slice()[part - first] {
            PartStatus::Kept => Replaced::Kept,
            PartStatus::Cleared { marker } => {
                Replaced::By(Arc::clone(&markers[*marker as usize].text))
            }
            PartStatus::Removed { .. } => Replaced::Removed,
        }
    })
}

fn written_message(written: &Written, id: u32, shape: Shape) -> ChatMessage {
    let part = Some(WRITTEN + id);
    let of_entry = |block: &Block| Block { part, ..block.clone() };
    let content = match &written.blocks {
        Some(blocks) if shape == Shape::Anthropic || blocks.len() > 1 => {
            Content::Blocks(blocks.iter().map(of_entry).collect())
        }
        _ => Content::Text(Text { text: Arc::clone(&written.text), part }),
    };
    let answered = written.answers.as_ref();
    if let (Shape::Anthropic, Some(answered)) = (shape, answered) {
        let result = BlockBody::ToolResult {
            id: Arc::clone(&answered.call),
            content: Box::new(content),
            is_error: None,
        };
        return ChatMessage::from(Fields {
            content: Content::Blocks(vec![Block { part, body: result }]),
            written: Some(written.kind),
            ..ChatMessage::new("user", "").into_fields()
        });
    }
    ChatMessage::from(Fields {
        content,
        call_id: answered.map(|answered| Arc::clone(&answered.call)),
        name: answered.and_then(|answered| answered.tool.clone()),
        written: Some(written.kind),
        ..ChatMessage::new(written.role.name(), "").into_fields()
    })
}
