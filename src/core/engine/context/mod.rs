//! The context of a call: ordered entries with stable ids, one per message.
//!
//! Invariant: the parts of all entries, the messages that they cover, and the dropped messages partition the session so
//! far. So the question "where did this message go, when and why" always has an answer ([`Context::check`]).
pub(super) mod executed;
mod parts;
pub(super) mod prefix;
pub(super) mod taken;

pub use parts::{Left, Marker, PartStatus, PartStatuses};

use crate::chat::Block;
use crate::engine::case::Case;
use crate::session::{Kind, Role, WrittenKind};
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// The context of one model call.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Entries in the order in which the model sees them.
    pub entries: Vec<Entry>,
    /// Messages that were dropped and that no entry covers, with the event that dropped them.
    pub dropped: Vec<Dropped>,
    /// Texts in the place of cleared parts: one per clearing, since most parts share it.
    pub markers: Vec<Marker>,
    /// Tokens that every call sends and the file does not record: system prompt and tools.
    pub overhead: Tokens,
    /// The context accounts for the session's messages before this index.
    pub messages_end: usize,
}

/// One message as the model sees it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Stable id: the message's index, or a separate number for a written message.
    pub id: u32,
    /// True tokens.
    pub tokens: u32,
    /// Tokens on the policy's own meter.
    pub metered: u32,
    /// The content.
    pub body: EntryBody,
}

/// The content of an entry.
#[derive(Clone, Debug)]
pub enum EntryBody {
    /// An untouched message of the session, by its index.
    Original(u32),
    /// A message of the session with some parts changed.
    Edited(Edited),
    /// A message that a policy wrote.
    Written(Box<Written>),
}

/// A message with some parts changed.
#[derive(Clone, Debug)]
pub struct Edited {
    /// Index of the message.
    pub message: u32,
    /// State of its parts, in order.
    pub parts: PartStatuses,
}

/// A message that a policy wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Role of the author.
    pub role: Role,
    /// A summary or a notice.
    pub kind: WrittenKind,
    /// Its text.
    pub text: Arc<str>,
    /// Blocks of the text, if an action in Anthropic's shape wrote it.
    pub blocks: Option<Arc<[Block]>>,
    /// Whether it is the text of the answer behind it, which has only calls: both are one message.
    pub joins_next: bool,
    /// The call that it answers, if it is a result that was not recorded.
    pub answers: Option<AnsweredCall>,
    /// Whether the text is a stand-in of the right size, which cannot be exported.
    pub is_predicted: bool,
    /// Indices of the messages it covers, as ascending ranges.
    pub covers: Vec<Range<u32>>,
    /// Index of the event that wrote it.
    pub event: u32,
}

impl Written {
    /// Returns its texts, which are counted and exported separately: those of its blocks if it has several.
    pub fn texts(&self) -> Vec<&str> {
        let blocks = self.blocks.iter().flat_map(|blocks| blocks.iter());
        let texts: Vec<&str> = blocks.filter_map(Block::as_text).collect();
        match texts.len() {
            0 | 1 => vec![&self.text],
            _ => texts,
        }
    }

    /// Returns its weight. A file has no message for an empty text.
    pub(crate) fn weight(&self, case: &Case) -> Tokens {
        let texts = self.texts().into_iter().filter(|text| !text.is_empty());
        texts.map(|text| case.ledger.weigh(text)).sum()
    }
}

/// A call that a written result answers.
#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredCall {
    /// Its id.
    pub call: Arc<str>,
    /// Name of the tool, if the action states it.
    pub tool: Option<Arc<str>>,
}

/// Dropped messages that no entry covers.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// Indices of the messages, as a range.
    pub messages: Range<u32>,
    /// Index of the event that dropped them; none if the source's own compaction did.
    pub event: Option<u32>,
    /// Whether a summary of the source's own compaction covers them.
    pub is_summarized: bool,
}

/// State of one message of the session, for the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageStatus {
    /// In the context, unchanged.
    Kept,
    /// In the context, with content cleared.
    Cleared,
    /// In the context, shortened.
    Cut,
    /// Covered by a summary.
    Summarized,
    /// Dropped (a notice may cover it).
    Dropped,
    /// Not sent yet at this call, or never part of this lane.
    Absent,
}

impl Context {
    /// Returns the true tokens, overhead included.
    pub fn tokens(&self) -> Tokens {
        self.overhead + self.entries.iter().map(|e| Tokens::from(e.tokens)).sum()
    }

    /// Returns the state of every message of the session and its true tokens in this context, by message.
    pub fn statuses(&self, n_messages: usize) -> Vec<(MessageStatus, u32)> {
        let mut statuses = vec![(MessageStatus::Absent, 0); n_messages];
        let mut cover = |ranges: &[Range<u32>], status| {
            for message in ranges.iter().cloned().flatten() {
                statuses[message as usize] = (status, 0);
            }
        };
        for dropped in &self.dropped {
            let status = if dropped.is_summarized {
                MessageStatus::Summarized
            } else {
                MessageStatus::Dropped
            };
            cover(std::slice::from_ref(&dropped.messages), status);
        }
        for entry in &self.entries {
            if let EntryBody::Written(written) = &entry.body {
                cover(&written.covers, written.kind.status());
            }
        }
        for entry in &self.entries {
            match &entry.body {
                EntryBody::Original(message) => {
                    statuses[*message as usize] = (MessageStatus::Kept, entry.tokens);
                }
                EntryBody::Edited(edited) => {
                    statuses[edited.message as usize] = (self.status_of(edited), entry.tokens);
                }
                EntryBody::Written(_) => {}
            }
        }
        statuses
    }

    /// Returns the state of a message with some parts changed: the most severe state of its parts.
    fn status_of(&self, edited: &Edited) -> MessageStatus {
        let left = |status: &PartStatus| match status {
            PartStatus::Kept => Left::All,
            PartStatus::Cleared { marker } => self.markers[*marker as usize].left,
            PartStatus::Removed { .. } => Left::Nothing,
        };
        match edited.parts.as_slice().iter().map(left).min() {
            Some(Left::All) | None => MessageStatus::Kept,
            Some(Left::Some) => MessageStatus::Cut,
            Some(Left::Nothing | Left::Elsewhere) => MessageStatus::Cleared,
        }
    }

    /// Returns the markers that are in use.
    pub(super) fn markers_in_use(&self) -> impl Iterator<Item = &Marker> {
        let edited = self.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::Edited(edited) => Some(edited.parts.as_slice()),
            _ => None,
        });
        edited.flatten().filter_map(|status| match status {
            PartStatus::Cleared { marker } => Some(&self.markers[*marker as usize]),
            _ => None,
        })
    }

    /// Returns the written messages in the context with their weight, in order.
    pub fn written(&self) -> impl Iterator<Item = (&Written, Tokens)> {
        self.entries.iter().filter_map(|e| match &e.body {
            EntryBody::Written(written) => Some((&**written, Tokens::from(e.tokens))),
            _ => None,
        })
    }

    /// Checks the account: entries, covers and dropped ranges hold every message of the history before `messages_end`
    /// exactly once, and every weight is that of its content.
    ///
    /// # Errors
    /// A sentence that names the first wrong message or entry.
    pub fn check(&self, case: &Case) -> Result<(), String> {
        let mut seen = vec![0_u32; case.session.messages.len()];
        let covered = self.written().flat_map(|(w, _)| w.covers.iter().cloned().flatten());
        let dropped = self.dropped.iter().flat_map(|d| d.messages.clone());
        for message in covered.chain(dropped).chain(self.entries.iter().filter_map(Entry::message))
        {
            seen[message as usize] += 1;
        }
        for (idx, (count, message)) in seen.iter().zip(&case.session.messages).enumerate() {
            let expected = u32::from(message.in_history && idx < self.messages_end);
            if *count != expected && (message.in_history || *count > 1) {
                return Err(format!(
                    "message {} is accounted for {count} times, not {expected}",
                    idx + 1
                ));
            }
        }
        for entry in &self.entries {
            let mut weight = 0;
            entry.each_weight(case, &self.markers, |_, tokens| weight += tokens);
            if let EntryBody::Written(written) = &entry.body {
                weight = written.weight(case).0 as u32;
            }
            if weight != entry.tokens {
                return Err(format!("entry {} weighs {weight}, not {}", entry.id, entry.tokens));
            }
        }
        Ok(())
    }
}

impl Entry {
    /// Returns the index of its message, if it is one of the session's.
    pub fn message(&self) -> Option<u32> {
        match &self.body {
            EntryBody::Original(message) => Some(*message),
            EntryBody::Edited(edited) => Some(edited.message),
            EntryBody::Written(_) => None,
        }
    }

    /// Returns whether another context has this entry unchanged.
    pub fn is_unchanged_in(&self, later: &Self) -> bool {
        prefix::is_same(self, later)
    }

    /// Returns whether it is a written message with this text. A predicted text never matches.
    pub(super) fn says(&self, text: &str) -> bool {
        match &self.body {
            EntryBody::Written(written) => !written.is_predicted && &*written.text == text,
            _ => false,
        }
    }

    /// Returns whether it is joined to the answer behind it.
    pub(crate) fn joins_next(&self) -> bool {
        matches!(&self.body, EntryBody::Written(written) if written.joins_next)
    }

    /// Returns whether it is a summary that the policy wrote.
    pub(super) fn is_summary(&self) -> bool {
        matches!(&self.body, EntryBody::Written(written) if written.kind == WrittenKind::Summary)
    }

    /// Returns its text, if it is a written message.
    pub(super) fn text(&self) -> Option<Arc<str>> {
        match &self.body {
            EntryBody::Written(written) => Some(Arc::clone(&written.text)),
            _ => None,
        }
    }

    /// Returns its position in the session: its message, or the first message that it covers.
    pub(super) fn position(&self) -> u32 {
        match &self.body {
            EntryBody::Written(written) => written.covers.first().map_or(0, |r| r.start),
            _ => self.message().unwrap_or(0),
        }
    }

    /// Passes kind and true tokens of each of its pieces to `give`; `markers` are those of its context.
    pub(super) fn each_weight(
        &self,
        case: &Case,
        markers: &[Marker],
        mut give: impl FnMut(Kind, u32),
    ) {
        let parts = |message: u32| case.index.parts(message as usize);
        let weight = |part: usize| (case.index.kinds[part], case.ledger.truth.per_part[part]);
        match &self.body {
            EntryBody::Original(message) => {
                parts(*message).map(weight).for_each(|(kind, tokens)| give(kind, tokens));
            }
            EntryBody::Edited(edited) => {
                let weights = parts(edited.message).map(weight);
                for ((kind, tokens), status) in weights.zip(edited.parts.as_slice()) {
                    let kind = if *status == PartStatus::Kept { kind } else { Kind::Notice };
                    give(kind, status.tokens(tokens, markers));
                }
            }
            EntryBody::Written(written) => give(written.kind.kind(), self.tokens),
        }
    }
}

impl WrittenKind {
    /// Returns the state of the messages it covers.
    fn status(self) -> MessageStatus {
        match self {
            Self::Summary => MessageStatus::Summarized,
            Self::Notice | Self::Addition => MessageStatus::Dropped,
        }
    }

    /// Returns the kind that its text counts as.
    pub fn kind(self) -> Kind {
        match self {
            Self::Summary => Kind::Summary,
            Self::Notice | Self::Addition => Kind::Notice,
        }
    }
}
