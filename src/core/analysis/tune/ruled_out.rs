//! The reasons why a setting is ruled out, as text and as names for JSON.

use crate::analysis::lower_bound::Stuck;
use crate::analysis::{FindingKind, times as times_text};
use crate::engine::Policy;
use std::fmt;

/// Why a setting is ruled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuledOut {
    /// The reason.
    pub reason: Reason,
    /// Index of the first call that shows it.
    pub call: usize,
    /// Number of occurrences.
    pub times: usize,
}

/// Reason why a setting is ruled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It cannot get below its own trigger; proven without a run.
    CannotGetBelow(Stuck),
    /// Calls overflow.
    Overflows,
    /// It pays for summaries before consecutive calls.
    Thrashes,
    /// It removes almost all of the conversation without a summary.
    Wipes,
    /// A summary request would overflow.
    RequestTooLong,
    /// The system itself would end the run.
    GivesUp,
    /// It removes or cuts a tool result before the first call that could read it.
    CutsUnread,
    /// More edits are blind than in the recorded run.
    EditsBlindly {
        /// Blind edits of the recorded run.
        recorded: usize,
    },
    /// The system's documentation advises against a value; known without a run.
    NotAdvised {
        /// Index of the setting in its policy.
        knob: usize,
    },
    /// Another bad finding ([`FindingKind::is_bad`]).
    Flawed(FindingKind),
}

impl Reason {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::CannotGetBelow(_) => "cannot_get_below_trigger",
            Self::Overflows => "overflows",
            Self::Thrashes => "thrashes",
            Self::Wipes => "wipes",
            Self::RequestTooLong => "request_too_long",
            Self::GivesUp => "gives_up",
            Self::CutsUnread => "cuts_unread",
            Self::EditsBlindly { .. } => "edits_blindly",
            Self::NotAdvised { .. } => "not_advised",
            Self::Flawed(kind) => kind.name(),
        }
    }

    /// Returns what a setting with this reason does: a singular verb phrase, and the plural one.
    fn phrases(self) -> [&'static str; 2] {
        match self {
            Self::CannotGetBelow(_) => ["cannot get below the trigger"; 2],
            Self::Overflows => ["overflows", "overflow"],
            Self::Thrashes => ["summarizes call after call", "summarize call after call"],
            Self::Wipes => [
                "leaves next to nothing of the conversation",
                "leave next to nothing of the conversation",
            ],
            Self::RequestTooLong => {
                ["sends a summary request that overflows", "send a summary request that overflows"]
            }
            Self::GivesUp => ["ends the run", "end the run"],
            Self::CutsUnread => [
                "removes or cuts a tool result before it was read",
                "remove or cut a tool result before it was read",
            ],
            Self::EditsBlindly { .. } => [
                "makes more edits blind than the recorded run",
                "make more edits blind than the recorded run",
            ],
            Self::NotAdvised { .. } => [
                "is outside the range that the system's documentation advises",
                "are outside the range that the system's documentation advises",
            ],
            Self::Flawed(FindingKind::NeverAgain) => [
                "stays over its own limit and removes nothing any more",
                "stay over their own limit and remove nothing any more",
            ],
            Self::Flawed(FindingKind::UnrelatedError) => [
                "gives up history for an error that is not about its length",
                "give up history for an error that is not about its length",
            ],
            Self::Flawed(FindingKind::OrphanedPairs) => {
                ["separates calls from their results", "separate calls from their results"]
            }
            Self::Flawed(_) => ["has a bad insight", "have a bad insight"],
        }
    }

    /// Returns the description of `n` settings with this reason, to follow their number.
    pub fn description(self, n: usize) -> &'static str {
        let [one, several] = self.phrases();
        if n == 1 { one } else { several }
    }
}

impl RuledOut {
    /// Returns the reason with the name of the setting that its policy advises against.
    pub fn text(&self, policy: &Policy) -> String {
        let knob = match self.reason {
            Reason::NotAdvised { knob } => policy.knobs.get(knob),
            _ => None,
        };
        let Some((knob, sensible)) = knob.and_then(|knob| Some((knob, knob.sensible.as_ref()?)))
        else {
            return self.to_string();
        };
        let ([low, high], source) = (sensible.range, &sensible.source);
        format!("{} is not from {low} to {high} ({source})", knob.name)
    }
}

impl fmt::Display for RuledOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (call, times) = (self.call + 1, self.times);
        let calls = match times {
            1 => "1 call".to_owned(),
            n => format!("{n} calls"),
        };
        match self.reason {
            Reason::CannotGetBelow(stuck) => write!(
                f,
                "cannot get below its trigger at {calls}: it keeps {} of {} tokens in any case (call {call})",
                stuck.least.short(),
                stuck.limit.short()
            ),
            Reason::Overflows => {
                let verb = if times == 1 { "overflows" } else { "overflow" };
                write!(f, "{calls} {verb}, the first is call {call}")
            }
            Reason::Thrashes => {
                write!(f, "pays for a summary before each of {calls} in a row, from call {call} on")
            }
            Reason::Wipes => {
                let times = match times {
                    1 => String::new(),
                    n => format!(" {n} times"),
                };
                write!(
                    f,
                    "leaves next to nothing of the conversation{times}, first before call {call}"
                )
            }
            Reason::RequestTooLong => {
                write!(f, "sends a summary request before call {call} that overflows")
            }
            Reason::CutsUnread => {
                let results = match times {
                    1 => "a tool result".to_owned(),
                    n => format!("{n} tool results"),
                };
                write!(
                    f,
                    "removes or cuts {results} before a call could read {}, first at call {call}",
                    if times == 1 { "it" } else { "them" }
                )
            }
            Reason::EditsBlindly { recorded } => {
                let edits = if times == 1 { "edit is" } else { "edits are" };
                write!(
                    f,
                    "{times} {edits} blind ({recorded} in the recorded run), first at call {call}"
                )
            }
            Reason::NotAdvised { .. } => f.write_str(self.reason.phrases()[0]),
            Reason::GivesUp => write!(f, "the system itself would end the run at call {call}"),
            Reason::Flawed(_) => {
                let ([does, _], times) = (self.reason.phrases(), times_text(times));
                write!(f, "{does} ({times}, first at call {call})")
            }
        }
    }
}
