//! What a run did, and why.

use super::file::NewFile;
use super::own_trigger::OwnMeasure;
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// What leaves less than one part in so many of the conversation is as good as nothing.
const LEAST_LEFT: u64 = 20;

/// One stage that acted.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Index of the step before whose call it acted; the number of steps where a recorded compaction came after the last.
    pub step: usize,
    /// Id of the stage.
    pub stage: String,
    /// What it did: `drop`, `clear`, `summarize`.
    pub action: &'static str,
    /// Why: the trigger as written, and its quantities with their values at that moment.
    pub cause: Cause,
    /// The context before, as the policy itself counts it; zero where it is not the policy that acted.
    pub measured: OwnMeasure,
    /// True tokens before.
    pub before: Tokens,
    /// True tokens after.
    pub after: Tokens,
    /// Indices of the session's messages that it touched, as ascending ranges.
    pub messages: Vec<Range<usize>>,
    /// True tokens that a summary request would send and get back, where one was made.
    pub request: Option<(Tokens, Tokens)>,
    /// What came of it.
    pub did: Did,
    /// Calls and results that lost their partner in this event.
    pub orphans: usize,
    /// Earlier summaries that are gone although what wrote the new one was not shown them.
    pub forgotten: usize,
    /// Messages in the context afterwards, instructions excepted.
    pub left: usize,
    /// What the system itself logs or shows, in its own words.
    pub log: Vec<String>,
    /// Files that it writes.
    pub files: Vec<NewFile>,
    /// The provider's error that it answers to, where a person placed one.
    pub error: Option<Arc<str>>,
}

/// What came of a stage that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// Something of the session is gone from the context.
    Removed,
    /// The context changed, and nothing of the session is gone.
    Changed,
    /// It ran as the system counts it, and nothing changed.
    Nothing,
    /// It only said something.
    Told,
}

/// Why a stage acted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// The trigger as the preset writes it.
    pub when: String,
    /// Its quantities with their values.
    pub terms: Vec<(String, f64)>,
}

impl Cause {
    /// The trigger as it is written, each name followed by its value as `say` writes it. A trigger that is always met
    /// says nothing: then the terms stand alone.
    pub fn filled_in(&self, say: impl Fn(f64) -> String) -> String {
        if self.when.trim() == "true" {
            let all = self.terms.iter();
            let all: Vec<_> = all
                .map(|(name, value)| format!("{name} {}", say(*value)))
                .collect();
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

    /// The value of a quantity at that moment.
    pub fn value(&self, name: &str) -> Option<f64> {
        let term = self.terms.iter().find(|(term, _)| term == name);
        term.map(|(_, value)| *value)
    }
}

/// The name or number that a text begins with; empty if it begins with neither.
fn name_at(text: &str) -> &str {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    &text[..text.find(|c| !is_inside(c)).unwrap_or(text.len())]
}

impl Did {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Nothing => "nothing",
            Self::Told => "told",
        }
    }
}

/// Whether a firing without a summary leaves next to nothing of the conversation. What every call carries besides
/// (`overhead`) is no part of it; `left` counts the messages that are there still.
pub(super) fn leaves_nothing(
    (before, after): (Tokens, Tokens),
    overhead: Tokens,
    left: usize,
) -> bool {
    let said = |tokens: Tokens| (tokens - overhead).0;
    left == 0 || said(after).saturating_mul(LEAST_LEFT) < said(before)
}

impl Event {
    /// A stage removed so much, and put no summary in its place, that next to nothing of the conversation is left.
    /// `overhead` is what every call carries besides.
    pub fn wipes(&self, overhead: Tokens) -> bool {
        let is_own = self.did == Did::Removed && self.request.is_none() && !self.is_by_hand();
        let around = (self.before, self.after);
        is_own && self.n_messages() > 0 && leaves_nothing(around, overhead, self.left)
    }

    /// The stage of a compaction that the recorded program itself carried out.
    pub const RECORDED: &str = "recorded";

    /// The stage, and the cause, of what a person did by hand.
    pub const BY_HAND: &str = "by hand";

    /// Whether a person did it, and no stage of the policy. No trigger reads like this.
    pub fn is_by_hand(&self) -> bool {
        self.stage == Self::BY_HAND && self.cause.when == Self::BY_HAND
    }

    /// How many messages it touched.
    pub fn n_messages(&self) -> usize {
        self.messages.iter().map(ExactSizeIterator::len).sum()
    }
}
