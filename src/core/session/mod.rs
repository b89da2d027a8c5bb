//! One recorded conversation, parsed once and never changed.
//!
//! A session holds its *full history* (every message) and the compactions that its program recorded
//! ([`RecordedCompaction`]). Both the full conversation and the context of each call are therefore known. Token counts
//! are in [`crate::tokens`].

mod blank;
mod build;
mod bytes;
mod changes;
mod check;
mod draft;
mod identifier;
mod implausible_usage;
mod managed;
mod message;
mod model_name;
mod packed;
mod part;
mod pieces;
mod rejected;
mod repeats;
mod tool_arguments;
mod tool_calls;
mod track;

pub use blank::is_blank;
pub use build::{MAX_KEPT, SessionBuilder};
pub use bytes::FileBytes;
pub use changes::{ContextChange, ContextRevision};
pub use check::{Issue, IssueKind, issues};
pub use draft::{CallDraft, Draft};
pub use identifier::identifiers;
pub use implausible_usage::{ImplausibleUsage, remove_implausible_usage};
pub use managed::{Calibration, Managed, ManagedEntry, ManagedPart, WrittenKind};
pub use message::{EmptyContent, Message, Role, Span, kind_of};
pub use model_name::{bare_model_name, begins_with_key, model_key, model_keys};
pub use packed::Packer;
pub use part::{Body, ImageDetail, Kind, MediaKind, Part};
pub use pieces::{LineRange, Pieces};
pub use rejected::{says_too_long, stated_size};
pub use repeats::{GrowingRepeats, Repeats};
pub use tool_arguments::{COMMAND_KEYS, PATH_KEYS};
pub use tool_calls::{GrowingToolCalls, ToolCalls};
pub use track::{Conversation, Size, Start, SubAgent, Track};

use crate::units::{Millis, Tokens};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// One recorded conversation.
#[derive(Clone, Debug)]
pub struct Session {
    /// Origin of the session, with its bytes.
    pub source: Source,
    /// The title recorded in the file, or else the file name.
    pub title: String,
    /// Relation to the other conversations of its file.
    pub track: Track,
    /// The agent's working directory, if recorded.
    pub project: Option<String>,
    /// Id of the session, if recorded.
    pub id: Option<String>,
    /// Version of the agent that recorded the session, if recorded.
    pub agent_version: Option<String>,
    /// Models that answered, in order of first use.
    pub models: Vec<String>,
    /// Vendor of the models of a session that names none, if its format implies one.
    pub default_vendor: Option<ModelVendor>,
    /// The share of a model's context window that the recorded windows are: below 1 if the program keeps a margin of its
    /// own.
    pub window_share: f64,
    /// All messages in order, including those that only a recorded compaction wrote (see [`Message::in_history`]).
    pub messages: Vec<Message>,
    /// All parts of all messages, in order. Each message has a range of them.
    pub parts: Vec<Part>,
    /// All model calls, in order. Index 0 is displayed as call 1.
    pub calls: Vec<Call>,
    /// Whether the calls are recorded.
    pub calls_from: CallsFrom,
    /// Recorded compactions, in order.
    pub compactions: Vec<RecordedCompaction>,
    /// Other recorded changes of the context, in order.
    pub revisions: Vec<ContextRevision>,
    /// Usage that the program itself totals, by model. Includes requests that are not calls of this conversation: those
    /// of sub-agents and for summaries.
    pub totals: Vec<UsageTotal>,
    /// Calibration of the source, if this is a managed conversation.
    pub calibration: Option<Calibration>,
    /// Number of turns. They are numbered from 1; messages before the first have 0 (see [`Message::turn`]).
    pub turns: u32,
}

/// The file that a session was read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name or another short name.
    pub name: String,
    /// Name of the format.
    pub format: &'static str,
    /// The whole file.
    pub bytes: FileBytes,
}

/// A vendor of models with its own rules for counting media and tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelVendor {
    /// Anthropic.
    Anthropic,
    /// `OpenAI`.
    OpenAi,
}

/// Whether the file records its model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallsFrom {
    /// The file records which messages belong to a call.
    Recorded,
    /// Each assistant message counts as one call.
    AssistantMessages,
}

/// One model call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The context of the call consists of messages before this index.
    pub context_end: usize,
    /// Index of its turn, from 1.
    pub turn: u32,
    /// Index into [`Session::models`].
    pub model: Option<usize>,
    /// Context window recorded for this call.
    pub window: Option<Tokens>,
    /// Reported usage; `None` if nothing plausible was reported.
    pub usage: Option<Usage>,
    /// Reported usage that is implausible.
    pub left_out: Option<ImplausibleUsage>,
    /// Time of the call or of its answer.
    pub time: Option<Millis>,
    /// Recorded reasoning effort.
    pub effort: Option<Arc<str>>,
    /// Whether the previous call was aborted.
    pub is_after_abort: bool,
    /// Whether the file records that the provider rejected it because its context was too long.
    pub is_rejected: bool,
    /// Size of the context as the provider's rejection states it.
    pub rejected_size: Option<Tokens>,
    /// Recorded tokens of the answer, if the file records nothing else of the usage.
    pub answer: Option<Tokens>,
    /// Set if the answer ended because it reached its maximum length.
    pub cut: Option<CutAnswer>,
}

impl Call {
    /// Returns the size of the whole context as the provider counted it: the usage of an answer, or the size that a
    /// rejection states.
    pub fn reported_size(&self) -> Option<Tokens> {
        let answered = self.usage.map(|usage| usage.input);
        answered.filter(|input| *input > Tokens::ZERO).or(self.rejected_size)
    }
}

/// An answer that ended because it reached its maximum length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutAnswer {
    /// Context window of the program, if its rule for the maximum length of an answer shows it.
    pub window: Option<Tokens>,
}

/// Usage that a program totals for one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageTotal {
    /// Name of the model; empty if not recorded.
    pub model: String,
    /// Sums over all requests.
    pub usage: Usage,
}

/// Usage of one call as the provider reported it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The whole context of the call, cached or not.
    pub input: Tokens,
    /// The part of `input` read from the provider's prompt cache.
    pub cache_read: Option<Tokens>,
    /// The part of `input` written to the provider's prompt cache.
    pub cache_write: Option<Tokens>,
    /// The part of `cache_write` that is cached for an hour, if the provider offers that.
    pub cache_write_hour: Option<Tokens>,
    /// Tokens of the answer including reasoning, if the record is reliable.
    pub output: Option<Tokens>,
    /// The part of `output` used for reasoning.
    pub reasoning: Option<Tokens>,
}

/// A compaction that the recorded program performed.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCompaction {
    /// Position: the context after it consists of `kept` and the history from this message on.
    pub before_message: usize,
    /// Index of the first call after it, or the number of calls if it is the last event.
    pub call: usize,
    /// Trigger: `auto`, `manual` or the file's own word; empty if not recorded.
    pub trigger: String,
    /// Recorded tokens before it.
    pub tokens_before: Option<Tokens>,
    /// Recorded tokens after it.
    pub tokens_after: Option<Tokens>,
    /// Request for its summary, if the file records its usage.
    pub request: Option<SummaryUsage>,
    /// Messages of the context directly after it: its summary and the messages it kept.
    pub kept: Vec<usize>,
}

/// Recorded usage of the request for a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryUsage {
    /// Name of the model; `None` if not recorded.
    pub model: Option<Box<str>>,
    /// Reported usage.
    pub usage: Usage,
}

impl Usage {
    /// Returns whether the provider counted more than the context. A program that records only a size of the context
    /// may have estimated it.
    pub fn is_of_provider(&self) -> bool {
        let others = self.cache_read.or(self.cache_write).or(self.output);
        others.is_some()
    }

    /// Adds the counts of another request.
    pub fn add(&mut self, other: &Self) {
        let each = |a: &mut Option<Tokens>, b: Option<Tokens>| {
            if let Some(b) = b {
                *a = Some(a.unwrap_or_default() + b);
            }
        };
        self.input += other.input;
        each(&mut self.cache_read, other.cache_read);
        each(&mut self.cache_write, other.cache_write);
        each(&mut self.cache_write_hour, other.cache_write_hour);
        each(&mut self.output, other.output);
        each(&mut self.reasoning, other.reasoning);
    }
}

impl Session {
    /// Returns the parts of a message.
    pub fn parts_of(&self, message: &Message) -> &[Part] {
        &self.parts[message.parts.clone()]
    }

    /// Returns the bytes of a span of the file. Before reading many spans, call [`FileBytes::whole`] and keep its
    /// result.
    pub fn raw(&self, span: &Span) -> Cow<'_, [u8]> {
        self.source.bytes.piece(span)
    }

    /// Returns the messages added since the previous call, including its answer. The answer of `call` itself is
    /// excluded.
    pub fn new_messages(&self, call: usize) -> Range<usize> {
        let start = if call == 0 { 0 } else { self.calls[call - 1].context_end };
        start..self.calls[call].context_end
    }

    /// Returns the index of the call that wrote a message or included it first; `None` if no call included it.
    pub fn call_of(&self, message: usize) -> Option<usize> {
        let written_by = self.messages[message].call;
        written_by.or_else(|| self.first_call_with(message))
    }

    /// Returns the index of the first call whose context includes a message, if any.
    pub fn first_call_with(&self, message: usize) -> Option<usize> {
        let call = self.calls.partition_point(|s| s.context_end <= message);
        (call < self.calls.len()).then_some(call)
    }

    /// Returns the recorded context of the messages before index `end`: those that the last compaction or revision kept,
    /// and the history since.
    pub fn real_context(&self, end: usize) -> Vec<usize> {
        let last = self.context_changes().rev().find(|c| c.before_message() <= end);
        let (kept, start) = last.map_or((&[][..], 0), |c| (c.kept(), c.before_message()));
        let is_kept: HashSet<usize> = kept.iter().copied().collect();
        let since = (start..end.min(self.messages.len()))
            .filter(|idx| self.messages[*idx].in_history && !is_kept.contains(idx));
        kept.iter().copied().chain(since).collect()
    }

    /// Returns the number of messages of the history. Messages that only recorded compactions wrote are not among them.
    pub fn n_history(&self) -> usize {
        self.messages.iter().filter(|m| m.in_history).count()
    }

    /// Returns the largest context that the provider reported for one call.
    pub fn largest_reported(&self) -> Option<Tokens> {
        self.calls.iter().filter_map(Call::reported_size).max()
    }
}
