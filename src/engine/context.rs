//! What the model would see: ordered entries with stable ids, one a message.
//!
//! Invariant: the parts of all entries, what they cover, and what was dropped partition the session so far,
//! so that "where did this message go, when and why" always has an answer ([`Context::check`]).

mod parts;

pub use parts::{Left, Marker, PartFate, PartFates};

use super::Case;
use crate::chat::Block;
use crate::session::{Kind, Role, WrittenKind};
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// The context of one model call.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Entries in the order the model sees them.
    pub entries: Vec<Entry>,
    /// What is gone without an entry standing for it, and since when.
    pub dropped: Vec<Dropped>,
    /// What stands in the place of cleared parts: one a clearing, since most of them share it.
    pub markers: Vec<Marker>,
    /// Tokens of what no entry holds but every call sends: system prompt and tools that the file lacks.
    pub overhead: Tokens,
    /// The context accounts for the session's messages before this index.
    pub messages_end: usize,
}

/// One message as the model would see it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Stable: the message's index, or a number of its own for what we wrote.
    pub id: u32,
    /// True tokens.
    pub tokens: u32,
    /// Tokens on the policy's own meter.
    pub metered: u32,
    /// What it is.
    pub body: EntryBody,
}

/// What an entry is.
#[derive(Clone, Debug)]
pub enum EntryBody {
    /// A message of the session, untouched; the number is its index.
    Original(u32),
    /// A message of the session some of whose parts changed.
    Edited(Edited),
    /// A message of ours.
    Written(Box<Written>),
}

/// A message of which some parts changed.
#[derive(Clone, Debug)]
pub struct Edited {
    /// Index of the message.
    pub message: u32,
    /// What became of its parts, in order.
    pub parts: PartFates,
}

/// A message that a policy wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Who it speaks as.
    pub role: Role,
    /// A summary or a notice.
    pub kind: WrittenKind,
    /// Its text.
    pub text: Arc<str>,
    /// The blocks that hold the text, where an action in Anthropic's shape wrote it so.
    pub blocks: Option<Arc<[Block]>>,
    /// A stand-in of the right size rather than a text to export.
    pub is_predicted: bool,
    /// Indices of the messages it stands for, as ascending ranges.
    pub covers: Vec<Range<u32>>,
    /// Index of the event that wrote it.
    pub event: u32,
}

/// Messages that are gone with nothing standing for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// Indices of the messages, as a range.
    pub messages: Range<u32>,
    /// Index of the event that did it; none for what the source's own compaction took.
    pub event: Option<u32>,
    /// A summary that the source's own compaction wrote stands for it.
    pub is_summarized: bool,
}

/// What became of one message of the session, for the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// In the context as it was.
    Kept,
    /// In the context, with content cleared.
    Cleared,
    /// In the context, shortened.
    Cut,
    /// A summary stands for it.
    Summarized,
    /// Gone (a notice may stand for it).
    Dropped,
    /// Not said yet at this step, or never part of this lane.
    Absent,
}

impl Context {
    /// True tokens, overhead included.
    pub fn tokens(&self) -> Tokens {
        self.overhead + self.entries.iter().map(|e| Tokens::from(e.tokens)).sum()
    }

    /// What became of every message of the session, with its true tokens in this context, by message.
    pub fn fates(&self, n_messages: usize) -> Vec<(Fate, u32)> {
        let mut fates = vec![(Fate::Absent, 0); n_messages];
        let mut cover = |ranges: &[Range<u32>], fate| {
            for message in ranges.iter().cloned().flatten() {
                fates[message as usize] = (fate, 0);
            }
        };
        for dropped in &self.dropped {
            let fate = if dropped.is_summarized {
                Fate::Summarized
            } else {
                Fate::Dropped
            };
            cover(std::slice::from_ref(&dropped.messages), fate);
        }
        for entry in &self.entries {
            if let EntryBody::Written(written) = &entry.body {
                cover(&written.covers, written.kind.fate());
            }
        }
        for entry in &self.entries {
            match &entry.body {
                EntryBody::Original(message) => {
                    fates[*message as usize] = (Fate::Kept, entry.tokens);
                }
                EntryBody::Edited(edited) => {
                    fates[edited.message as usize] = (self.fate_of(edited), entry.tokens);
                }
                EntryBody::Written(_) => {}
            }
        }
        fates
    }

    /// What became of a message of which some parts changed: the worst of what became of them.
    fn fate_of(&self, edited: &Edited) -> Fate {
        let left = |fate: &PartFate| match fate {
            PartFate::Kept => Left::All,
            PartFate::Cleared { marker } => self.markers[*marker as usize].left,
            PartFate::Removed { .. } => Left::Nothing,
        };
        match edited.parts.as_slice().iter().map(left).min() {
            Some(Left::All) | None => Fate::Kept,
            Some(Left::Some) => Fate::Cut,
            Some(Left::Nothing) => Fate::Cleared,
        }
    }

    /// What stands in the place of parts.
    pub(super) fn markers_in_use(&self) -> impl Iterator<Item = &Marker> {
        let edited = self.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::Edited(edited) => Some(edited.parts.as_slice()),
            _ => None,
        });
        edited.flatten().filter_map(|fate| match fate {
            PartFate::Cleared { marker } => Some(&self.markers[*marker as usize]),
            _ => None,
        })
    }

    /// Messages of ours in the context, with their weight, in order.
    pub fn written(&self) -> impl Iterator<Item = (&Written, Tokens)> {
        self.entries.iter().filter_map(|e| match &e.body {
            EntryBody::Written(written) => Some((&**written, Tokens::from(e.tokens))),
            _ => None,
        })
    }

    /// Checks the books: entries, covers and what was dropped account for every message of the history before
    /// `messages_end` exactly once, and every weight is what its content weighs.
    ///
    /// # Errors
    /// A sentence that names the first message or entry that is wrong.
    pub fn check(&self, case: &Case) -> Result<(), String> {
        let mut seen = vec![0_u32; case.session.messages.len()];
        let covered = self
            .written()
            .flat_map(|(w, _)| w.covers.iter().cloned().flatten());
        let dropped = self.dropped.iter().flat_map(|d| d.messages.clone());
        for message in covered
            .chain(dropped)
            .chain(self.entries.iter().filter_map(Entry::message))
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
            if let Some(text) = entry.text() {
                weight = case.ledger.weigh(&text).0 as u32;
            }
            if weight != entry.tokens {
                return Err(format!(
                    "entry {} weighs {weight}, not {}",
                    entry.id, entry.tokens
                ));
            }
        }
        Ok(())
    }
}

impl Entry {
    /// Index of the message it is, if it is one of the session's.
    pub fn message(&self) -> Option<u32> {
        match &self.body {
            EntryBody::Original(message) => Some(*message),
            EntryBody::Edited(edited) => Some(edited.message),
            EntryBody::Written(_) => None,
        }
    }

    /// It is one of ours and says this for certain: a stand-in says nothing yet.
    pub(super) fn says(&self, text: &str) -> bool {
        match &self.body {
            EntryBody::Written(written) => !written.is_predicted && &*written.text == text,
            _ => false,
        }
    }

    /// Its text, if it is one of ours.
    pub(super) fn text(&self) -> Option<Arc<str>> {
        match &self.body {
            EntryBody::Written(written) => Some(Arc::clone(&written.text)),
            _ => None,
        }
    }

    /// Where in the session it stands: its message, or the first that it covers.
    pub(super) fn position(&self) -> u32 {
        match &self.body {
            EntryBody::Written(written) => written.covers.first().map_or(0, |r| r.start),
            _ => self.message().unwrap_or(0),
        }
    }

    /// Gives kind and true tokens of each of its pieces; the markers are those of its context.
    pub(super) fn each_weight(
        &self,
        case: &Case,
        markers: &[Marker],
        mut give: impl FnMut(Kind, u32),
    ) {
        let parts = |message: u32| case.index.parts(message as usize);
        let weight = |part: usize| (case.index.kinds[part], case.ledger.truth.per_part[part]);
        match &self.body {
            EntryBody::Original(message) => parts(*message)
                .map(weight)
                .for_each(|(kind, tokens)| give(kind, tokens)),
            EntryBody::Edited(edited) => {
                let weights = parts(edited.message).map(weight);
                for ((kind, tokens), fate) in weights.zip(edited.parts.as_slice()) {
                    let kind = if *fate == PartFate::Kept {
                        kind
                    } else {
                        Kind::Notice
                    };
                    give(kind, fate.tokens(tokens, markers));
                }
            }
            EntryBody::Written(written) => give(written.kind.kind(), self.tokens),
        }
    }
}

impl WrittenKind {
    /// What became of the messages it stands for.
    fn fate(self) -> Fate {
        match self {
            Self::Summary => Fate::Summarized,
            Self::Notice => Fate::Dropped,
        }
    }

    /// What its text counts as.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Summary => Kind::Summary,
            Self::Notice => Kind::Notice,
        }
    }
}
