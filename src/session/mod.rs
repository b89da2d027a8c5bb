//! What was said: one recorded conversation, parsed once and never changed.
//!
//! A session holds its *full history* (every message ever said) and beside it what the source's own
//! context management did ([`RecordedCompaction`]), so that both what was said and what the model
//! really saw are known. It weighs nothing (that is [`crate::tokens`]) and decides nothing.

mod build;
mod bytes;
mod check;
mod doubt;
mod identifier;
mod managed;
mod message;
mod packed;
mod part;
mod refused;
mod track;

pub use build::{Draft, MOST_KEPT, SessionBuilder, StepDraft};
pub use bytes::{FileBytes, Pieces, Stretch};
pub use check::{Issue, IssueKind, issues};
pub use doubt::{LeftOut, leave_out_impossible};
pub use identifier::identifiers;
pub use managed::{Calibration, Managed, ManagedEntry, ManagedPart, WrittenKind};
pub use message::{Message, Role, Span, kind_of};
pub use packed::Packer;
pub use part::{Body, Kind, MediaKind, Part};
pub use refused::says_too_long;
pub use track::{Conversation, Size, Start, SubAgent, Track};

use crate::units::{Millis, Tokens};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// One recorded conversation.
#[derive(Clone, Debug)]
pub struct Session {
    /// Where it came from, with its bytes.
    pub source: Source,
    /// What to call it: the file's own title, else its name.
    pub title: String,
    /// What it is to the other conversations of its file.
    pub track: Track,
    /// The folder in which the agent worked, where the file says.
    pub project: Option<String>,
    /// Models that answered, in order of first use.
    pub models: Vec<String>,
    /// All messages in order, those that only the source's own compaction wrote included
    /// (see [`Message::in_history`]).
    pub messages: Vec<Message>,
    /// All parts of all messages, in order; a message names its range.
    pub parts: Vec<Part>,
    /// Every model call, in order. Index 0 is shown as step 1.
    pub steps: Vec<Step>,
    /// How the steps are known.
    pub steps_from: StepsFrom,
    /// What the source's own context management did, in order.
    pub compactions: Vec<RecordedCompaction>,
    /// How the session was weighed that this is a managed copy of.
    pub calibration: Option<Calibration>,
    /// Turns in the session; they are numbered from 1, 0 is what stands before the first (see [`Message::turn`]).
    pub turns: u32,
}

/// The bytes a session was read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name or another short name, for people.
    pub name: String,
    /// Name of the format, as its file in `src/formats`.
    pub format: &'static str,
    /// The whole file.
    pub bytes: FileBytes,
}

/// Whether the file records its model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepsFrom {
    /// The file says which records belong to one call.
    Recorded,
    /// It does not: each assistant message counts as one call.
    AssistantMessages,
}

/// One model call.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The call saw (a managed form of) the messages before this index.
    pub context_end: usize,
    /// Turn it belongs to, from 1.
    pub turn: u32,
    /// Index into [`Session::models`].
    pub model: Option<usize>,
    /// Context window recorded for this call.
    pub window: Option<Tokens>,
    /// What the provider reported; none where it reported nothing, or what cannot be right.
    pub usage: Option<Usage>,
    /// What was reported and cannot be right.
    pub left_out: Option<LeftOut>,
    /// When it was made or answered.
    pub time: Option<Millis>,
    /// The recorded reasoning effort.
    pub effort: Option<Arc<str>>,
    /// The call before it was aborted.
    pub is_after_abort: bool,
    /// The file says that the provider refused it because its context was too long.
    pub is_refused: bool,
}

/// Tokens of one call as the provider reported them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The whole context of the call, cached or not.
    pub input: Tokens,
    /// Of `input`, read from the provider's prompt cache.
    pub cache_read: Option<Tokens>,
    /// Of `input`, written to the provider's prompt cache.
    pub cache_write: Option<Tokens>,
    /// Of `cache_write`, to be kept for an hour, where a provider has that beside its usual time.
    pub cache_write_hour: Option<Tokens>,
    /// The answer, reasoning included, where the record can be trusted.
    pub output: Option<Tokens>,
    /// Of `output`, reasoning.
    pub reasoning: Option<Tokens>,
}

/// A compaction that the recorded program itself carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCompaction {
    /// It stands before this message: the context after it is `kept` and then the history from here on.
    pub before_message: usize,
    /// Index of the first step that saw its result; the number of steps if none did.
    pub step: usize,
    /// Why it ran: `auto`, `manual` or what the file says; empty if it says nothing.
    pub trigger: String,
    /// Tokens before, as recorded.
    pub tokens_before: Option<Tokens>,
    /// Tokens after, as recorded.
    pub tokens_after: Option<Tokens>,
    /// Messages that made up the context right after it: its summary and what it carried over.
    pub kept: Vec<usize>,
}

impl Session {
    /// The parts of a message.
    pub fn parts_of(&self, message: &Message) -> &[Part] {
        &self.parts[message.parts.clone()]
    }

    /// The text of the file that a span names. Who asks for many holds all of them meanwhile ([`FileBytes::whole`]).
    pub fn raw(&self, span: &Span) -> Cow<'_, [u8]> {
        self.source.bytes.piece(span)
    }

    /// The messages that entered the session between the step before `step` and it (its own call excluded).
    /// The step before's answer is among them.
    pub fn new_messages(&self, step: usize) -> Range<usize> {
        let start = if step == 0 {
            0
        } else {
            self.steps[step - 1].context_end
        };
        start..self.steps[step].context_end
    }

    /// What the model really saw of the messages before the index `end`: what the last compaction there left, and the
    /// history since.
    pub fn real_context(&self, end: usize) -> Vec<usize> {
        let mut compactions = self.compactions.iter().rev();
        let last = compactions.find(|c| c.before_message <= end);
        let (kept, start) = last.map_or((&[][..], 0), |c| (&c.kept[..], c.before_message));
        let is_kept: HashSet<usize> = kept.iter().copied().collect();
        let since = (start..end.min(self.messages.len()))
            .filter(|idx| self.messages[*idx].in_history && !is_kept.contains(idx));
        kept.iter().copied().chain(since).collect()
    }

    /// Largest context that the provider reported for one call.
    pub fn largest_reported(&self) -> Option<Tokens> {
        self.steps
            .iter()
            .filter_map(|s| s.usage)
            .map(|u| u.input)
            .max()
    }
}
