//! The context in the format of an agent's own program: the input of named actions and named meters.

use super::Case;
use super::context::{Context, Edited, Entry, EntryBody, Marker, PartFate, Written};
use super::pieces::{Origin, Pieces, Said, WRITTEN, pieces};
use super::taken::ranges;
use crate::chat::{
    Block, ChatMessage, Content, Fields, Messages, Replaced, Shape, Text, join_answer, messages_of,
    push_grouped,
};
use crate::session::{Body, Message, Part, Role, Session};
use crate::units::Tokens;
use serde_json::Value;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Messages of a session in each shape, built at the first use and shared by all lanes.
#[derive(Debug, Default)]
pub(super) struct Originals {
    by_shape: [OnceLock<Column>; 2],
    answers: [OnceLock<Answers>; 2],
    tools: OnceLock<Vec<Value>>,
}

/// Answers that the file splits, joined into one message each, by their first message.
type Answers = HashMap<u32, (usize, ChatMessage)>;

/// By message index.
type Column = Box<[OnceLock<Box<[ChatMessage]>>]>;

impl Originals {
    /// Returns an untouched message.
    pub(super) fn message<'a>(
        &'a self,
        case: &Case,
        shape: Shape,
        message: u32,
    ) -> &'a [ChatMessage] {
        let session = &case.session;
        let column = self.by_shape[shape as usize]
            .get_or_init(|| session.messages.iter().map(|_| OnceLock::new()).collect());
        column[message as usize].get_or_init(|| {
            let message = &session.messages[message as usize];
            messages_of(session, message, shape, |_| Replaced::Kept).into()
        })
    }

    /// Returns the answer that begins with a message and its number of session messages; none if it is not split.
    fn answer(&self, case: &Case, shape: Shape, message: u32) -> Option<&(usize, ChatMessage)> {
        let answers = self.answers[shape as usize].get_or_init(|| {
            let whole = |run: Range<u32>| {
                let messages = run.clone().flat_map(|m| self.message(case, shape, m));
                let messages: Vec<_> = messages.cloned().collect();
                Some((run.start, (run.len(), join_answer(&messages)?)))
            };
            split_answers(&case.session).filter_map(whole).collect()
        });
        answers.get(&message)
    }

    /// Returns the tool definitions in the file, as JSON.
    pub(super) fn tools(&self, case: &Case) -> &[Value] {
        self.tools.get_or_init(|| {
            let json = |body: &Body| match body {
                Body::ToolDefinition { json, .. } => serde_json::from_str(json).ok(),
                _ => None,
            };
            case.session
                .parts
                .iter()
                .filter_map(|p| json(&p.body))
                .collect()
        })
    }
}

/// The entries that messages consist of.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    /// First and last entry, by message.
    of: Vec<(u32, u32)>,
    /// Entries that no message contains.
    unseen: Vec<u32>,
}

impl Spans {
    /// Returns the first and last entry of a message.
    pub(super) fn of(&self, message: usize) -> Option<(usize, usize)> {
        let (first, last) = *self.of.get(message)?;
        Some((first as usize, last as usize))
    }

    /// Returns the entries that no message contains, ascending.
    pub(super) fn unseen(&self) -> &[u32] {
        &self.unseen
    }

    /// Records that some entries became `n_given` messages, for a new total of `n_messages`.
    fn note(&mut self, (first, last): (usize, usize), n_given: usize, n_messages: usize) {
        let span = (first as u32, last as u32);
        if n_given == 0 {
            self.unseen.extend(span.0..=span.1);
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
pub(super) struct Shown {
    messages: Messages,
    spans: Arc<Spans>,
    /// Entries before this one are included or omitted.
    end: usize,
    shape: Option<Shape>,
}

impl Shown {
    /// Builds the messages of the context from an entry on.
    pub(super) fn from(case: &Case, context: &Context, first: usize, shape: Shape) -> Self {
        let mut shown = Self {
            end: first,
            shape: Some(shape),
            ..Self::default()
        };
        shown.add(case, context, shape);
        shown
    }

    /// Builds the whole context in a shape; after the first use, only new entries are added.
    pub(super) fn all(&mut self, case: &Case, context: &Context, shape: Shape) -> &Self {
        if self.shape != Some(shape) {
            *self = Self {
                shape: Some(shape),
                ..Self::default()
            };
        }
        if self.end < context.entries.len() {
            self.add(case, context, shape);
        }
        self
    }

    /// Returns the messages.
    pub(super) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Returns the entries that they consist of.
    pub(super) fn spans(&self) -> Arc<Spans> {
        Arc::clone(&self.spans)
    }

    /// Discards the messages of the entries from this one on, which changed.
    pub(super) fn forget_from(&mut self, first: usize) {
        if first < self.end {
            *self = Self::default();
        }
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
        let answer = match entry.body {
            EntryBody::Original(message) => case.originals().answer(case, shape, message),
            _ => None,
        };
        if let Some((n, whole)) = answer.filter(|(n, _)| are_whole(&entries[at..], *n)) {
            push_grouped(messages, whole, shape);
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

/// Returns the session's own first message, if it contains instructions as one text.
pub(super) fn first_instruction(case: &Case) -> Option<Arc<str>> {
    let first = case.session.messages.first()?;
    let parts = case.session.parts_of(first);
    match (first.role, parts) {
        (
            Role::System,
            [
                Part {
                    body: Body::Text(text),
                    ..
                },
            ],
        ) => Some((&**text).into()),
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

/// Returns ranges of messages that are one answer of the model: some formats write its texts and calls as separate
/// records.
pub(super) fn split_answers(session: &Session) -> impl Iterator<Item = Range<u32>> {
    let is_of_one = |a: &Message, b: &Message| {
        let is_answer = |m: &Message| m.role == Role::Assistant && m.in_history;
        is_answer(a) && is_answer(b) && a.call.is_some() && a.call == b.call
    };
    let runs = session.messages.chunk_by(is_of_one);
    runs.scan(0_u32, |start, run| {
        let range = *start..*start + run.len() as u32;
        *start = range.end;
        Some(range)
    })
    .filter(|range| range.len() > 1)
}

/// Passes the messages of one entry in a shape to `give`: several if results are separate, none for tool definitions.
pub(super) fn give(
    case: &Case,
    entry: &Entry,
    markers: &[Marker],
    shape: Shape,
    give: impl FnMut(&ChatMessage),
) {
    match &entry.body {
        EntryBody::Original(message) => {
            case.originals()
                .message(case, shape, *message)
                .iter()
                .for_each(give);
        }
        EntryBody::Edited(edited) => match cleared_message(case, edited, markers, shape) {
            Some(cleared) => [cleared].iter().for_each(give),
            None => edited_messages(case, edited, markers, shape)
                .iter()
                .for_each(give),
        },
        EntryBody::Written(written) => {
            [written_message(written, entry.id, shape)]
                .iter()
                .for_each(give);
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
    let [PartFate::Cleared { marker }] = edited.parts.as_slice() else {
        return None;
    };
    match case.originals().message(case, shape, edited.message) {
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
            PartFate::Kept => Replaced::Kept,
            PartFate::Cleared { marker } => {
                Replaced::By(Arc::clone(&markers[*marker as usize].text))
            }
            PartFate::Removed { .. } => Replaced::Removed,
        }
    })
}

fn written_message(written: &Written, id: u32, shape: Shape) -> ChatMessage {
    let part = Some(WRITTEN + id);
    let of_entry = |block: &Block| Block {
        part,
        ..block.clone()
    };
    let content = match &written.blocks {
        Some(blocks) if shape == Shape::Anthropic => {
            Content::Blocks(blocks.iter().map(of_entry).collect())
        }
        _ => Content::Text(Text {
            text: Arc::clone(&written.text),
            part,
        }),
    };
    ChatMessage::from(Fields {
        content,
        written: Some(written.kind),
        ..ChatMessage::new(written.role.name(), "").into_fields()
    })
}

/// Content of the messages in an action's own request.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Messages of the session, as ascending ranges.
    pub(super) messages: Vec<Range<u32>>,
    /// Written texts among them.
    pub(super) texts: Vec<Arc<str>>,
    /// True tokens: untouched content by the session's weights, other content by its text.
    pub(super) tokens: Tokens,
}

/// Returns the content of messages.
pub(super) fn contents(case: &Case, messages: &[ChatMessage]) -> Contents {
    let mut contents = Contents::default();
    let mut of_session = Vec::new();
    for message in messages {
        let Pieces { known, new } = pieces(message);
        for (origin, said) in known {
            match origin {
                Origin::Part(part) => {
                    of_session.push(case.index.message_of[part as usize]);
                    contents.tokens += weight(case, part, said);
                }
                Origin::Entry(_) => contents.texts.push(said.to_text()),
            }
        }
        contents.texts.extend(new);
    }
    of_session.sort_unstable();
    contents.messages = ranges(of_session.into_iter());
    contents.tokens += contents
        .texts
        .iter()
        .map(|text| case.ledger.weigh(text))
        .sum();
    contents
}

fn weight(case: &Case, part: u32, said: Said<'_>) -> Tokens {
    let original = &case.session.parts[part as usize].body;
    match said {
        Said::Text(text) if **text != *original.text() => case.ledger.weigh(text),
        _ => Tokens::from(case.ledger.truth.per_part[part as usize]),
    }
}
