//! The events of a run and their causes.

use crate::engine::case::storage::NewFile;
use crate::engine::vocabulary::{ActionKind, OwnMeasure};
use crate::units::Tokens;
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;

/// An event that leaves less than 1/20 of the conversation counts as leaving nothing. Chosen: a policy that keeps the
/// newest messages as its settings say keeps more than that; at 1/10, a useful compaction of a context full of tool
/// results would count.
const MIN_LEFT: u64 = 20;

/// One action of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Index of the call at which it acted; the number of calls if a recorded compaction came after the last.
    pub call: usize,
    /// It acted after the request of this call, so that the next call is the first with the changed context.
    pub is_after_request: bool,
    /// Id of the stage.
    pub stage: String,
    /// The kind of action.
    pub action: ActionKind,
    /// The cause: the trigger as written, and its quantities with their values at that moment.
    pub cause: Cause,
    /// The context before, in the policy's own count; zero if the policy did not act.
    pub measured: OwnMeasure,
    /// True tokens before.
    pub before: Tokens,
    /// True tokens after.
    pub after: Tokens,
    /// Indices of the session's messages that it changed, as ascending ranges.
    pub messages: Vec<Range<usize>>,
    /// True size of the summary request, if one was made.
    pub request: Option<RequestSize>,
    /// The result.
    pub effect: Effect,
    /// Number of calls and results that lost their partner in this event.
    pub orphans: usize,
    /// Number of earlier summaries that were removed without being shown to the author of the new one.
    pub forgotten: usize,
    /// Number of messages in the context afterwards, without instructions.
    pub left: usize,
    /// Lines that the system itself logs or shows, verbatim.
    pub log: Vec<String>,
    /// Files that it writes.
    pub files: Vec<NewFile>,
    /// The provider error that it responds to, if the user placed one.
    pub error: Option<Arc<str>>,
}

/// Size of a request to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestSize {
    /// Tokens of the prompt.
    pub sent: Tokens,
    /// Tokens of the answer. Their maximum before the request is sent.
    pub answer: Tokens,
}

impl RequestSize {
    /// Returns the tokens of the prompt and of the answer.
    pub fn total(self) -> Tokens {
        self.sent + self.answer
    }
}

/// The result of a stage that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Content of the session was removed from the context.
    Removed,
    /// The context changed, and no content of the session was removed.
    Changed,
    /// It ran by the system's own count, and nothing changed.
    Nothing,
    /// It only logged a message.
    Logged,
}

/// The cause of an action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// The trigger as the preset defines it.
    pub when: String,
    /// Its quantities with their values.
    pub terms: Vec<(String, f64)>,
}

impl Cause {
    /// Returns the trigger as written, each name followed by its value as `say` formats it. A trigger that is always
    /// met is omitted: then only the terms are listed.
    pub fn filled_in(&self, say: impl Fn(f64) -> String) -> String {
        if self.when.trim() == "true" {
            let all = self.terms.iter();
            let all: Vec<_> = all.map(|(name, value)| format!("{name} {}", say(*value))).collect();
            return all.join(", ");
        }
        let mut out = String::new();
        let mut rest = self.when.as_str();
        while let Some(c) = rest.chars().next() {
            let name = name_at(rest);
            if name.is_empty() {
                out.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            out.push_str(name);
            if let Some(value) = self.value(name) {
                out.push(' ');
                out.push_str(&say(value));
            }
            rest = &rest[name.len()..];
        }
        out.replace(">=", "≥").replace("<=", "≤")
    }

    /// Returns the value of a quantity at that moment.
    pub fn value(&self, name: &str) -> Option<f64> {
        let term = self.terms.iter().find(|(term, _)| term == name);
        term.map(|(_, value)| *value)
    }
}

/// Returns the name or number at the start of a text; empty if there is neither.
fn name_at(text: &str) -> &str {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    &text[..text.find(|c| !is_inside(c)).unwrap_or(text.len())]
}

impl Effect {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Nothing => "nothing",
            Self::Logged => "logged",
        }
    }
}

impl Event {
    /// Returns the index of the first call with the context that it left.
    pub fn first_call_after(&self) -> usize {
        self.call + usize::from(self.is_after_request)
    }

    /// Returns whether a stage removed almost all of the conversation without a summary. `overhead`, which every call
    /// sends, is not part of the conversation.
    pub fn wipes(&self, overhead: Tokens) -> bool {
        let is_own = self.effect == Effect::Removed && self.request.is_none() && !self.is_manual();
        let conversation = |tokens: Tokens| (tokens - overhead).0;
        let (before, after) = (conversation(self.before), conversation(self.after));
        let leaves_nothing = self.left == 0 || after.saturating_mul(MIN_LEFT) < before;
        is_own && self.n_messages() > 0 && leaves_nothing
    }

    /// The stage of a compaction that the recorded program performed.
    pub const RECORDED: &str = "recorded";

    /// Returns whether the recorded program performed it.
    pub fn is_recorded(&self) -> bool {
        self.stage == Self::RECORDED && self.action == ActionKind::Recorded
    }

    /// The stage and the cause of a manual edit.
    pub const MANUAL: &str = "manually";

    /// Returns whether this is a manual edit rather than an action of the policy. No trigger has this text.
    pub fn is_manual(&self) -> bool {
        self.stage == Self::MANUAL && self.cause.when == Self::MANUAL
    }

    /// Returns the number of messages it changed.
    pub fn n_messages(&self) -> usize {
        self.messages.iter().map(ExactSizeIterator::len).sum()
    }
}

impl From<&Event> for OwnMeasure {
    fn from(event: &Event) -> Self {
        event.measured
    }
}
