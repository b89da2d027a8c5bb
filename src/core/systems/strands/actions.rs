//! Actions of presets.

use super::estimate::projected;
use super::sliding::{Reduced, UNABLE, reduce};
use super::stored_messages::{Pins, StoredMessage, has_calls, stored_messages};
use super::summarize::{n_summarized, summarized};
use crate::chat::{ChatMessage, PendingRequest, Replies, Rule};
use crate::engine::{
    ActionKind, Memory, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten,
};
use crate::json::json;
use crate::systems::stage_settings::{check_keys, choice_setting, numbers_only};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[ANSWER, SLIDE, SUMMARIZE, SHAPE];

const ANSWER: NamedAction = NamedAction::new(
    "strands.answer",
    ActionKind::Repair,
    "Adds a result to each call of an answer that was interrupted before its tools had run.",
    |settings| numbers_only(settings, answer_calls),
);

/// `because` is the reason: `rejected`, `rejected for good` (the turn ends with the provider's error), `projected` (at
/// the share `threshold` of `limit`), `call` (before each call, or each of `per_turn`) or `turn`.
const SLIDE: NamedAction = NamedAction::new(
    "strands.slide",
    ActionKind::Drop,
    "Removes the oldest messages beyond the window; after a rejection, first shortens the oldest results.",
    |settings| Ok(Arc::new(Slide { because: because(settings)? })),
)
.with_numbers(&[
    "reported",
    "tools_tokens",
    "threshold",
    "limit",
    "per_turn",
    "pin_first",
    "window_size",
    "shortens",
]);

/// `because` is `rejected` or `projected`, as of `strands.slide`.
const SUMMARIZE: NamedAction = NamedAction::new(
    "strands.summarize",
    ActionKind::Summarize,
    "Replaces the oldest share of the messages with a summary.",
    |settings| Ok(Arc::new(Summarize { because: because(settings)? })),
)
.with_numbers(&[
    "reported",
    "tools_tokens",
    "threshold",
    "limit",
    "pin_first",
    "ratio",
    "preserved",
]);

const SHAPE: NamedAction = NamedAction::new(
    "strands.shape",
    ActionKind::Repair,
    "Gives answers without content a text.",
    |settings| numbers_only(settings, fill_blank_answers),
);

const IS_BLANK: Rule = Rule::new("strands: blank answers");
/// Text of an answer without content.
const BLANK: &str = "[blank text]";
/// Text of a result that the SDK writes.
const INTERRUPTED: &str = "Tool was interrupted.";
/// Key of the call at which the turn ended with an error, in memory.
const ENDED_AT: &str = "strands_ended_at";
/// Key of the number of calls, in memory.
const N_CALLS: &str = "strands_calls";

/// The reason of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Because {
    Rejected,
    RejectedForGood,
    Projected,
    Call,
    Turn,
}

fn because(settings: &toml::Table) -> Result<Because, String> {
    check_keys(settings, &["because"])?;
    let reasons = [
        ("rejected", Because::Rejected),
        ("rejected for good", Because::RejectedForGood),
        ("projected", Because::Projected),
        ("call", Because::Call),
        ("turn", Because::Turn),
    ];
    choice_setting(settings, "because", &reasons)?.ok_or_else(|| "`because` is missing".to_owned())
}

impl Because {
    /// Returns whether there is a reason to reduce, with the compared count and memory.
    fn check(self, input: &RewriteInput<'_>, stored: &[StoredMessage<'_>]) -> (bool, Rewritten) {
        let mut done = Rewritten::default();
        if input.memory[ENDED_AT].as_u64() == Some(input.call as u64) {
            return (false, done);
        }
        let exceeds_window = stored.len() > input.count("window_size");
        let acts = match self {
            Self::Rejected | Self::RejectedForGood => true,
            Self::Turn => exceeds_window,
            Self::Call => {
                let n_calls = input.memory[N_CALLS].as_u64().unwrap_or(0) + 1;
                done.memory = json!({N_CALLS: n_calls}).into();
                exceeds_window && n_calls.is_multiple_of(input.count("per_turn").max(1) as u64)
            }
            Self::Projected if input.number("threshold") > 0.0 => {
                let (tokens, memory) = projected(input, stored);
                let limit = match input.number("limit") {
                    0.0 => input.window as f64,
                    limit => limit,
                };
                done.compared = Some(tokens);
                done.terms = vec![("used".to_owned(), tokens as f64)];
                done.memory = memory;
                tokens as f64 / limit >= input.number("threshold")
            }
            Self::Projected => {
                done.compared = Some(stored.len() as u64);
                false
            }
        };
        (acts, done)
    }

    /// Returns the result of a reduction that failed: after a rejection, it ends the turn.
    fn failed(self, why: &str, call: usize, done: Rewritten) -> Rewritten {
        if !matches!(self, Self::Rejected | Self::RejectedForGood) {
            return done;
        }
        Rewritten {
            fired: true,
            halt: Some(why.to_owned()),
            memory: joined(&done.memory, &json!({ENDED_AT: call}).into()),
            ..done
        }
    }
}

/// Returns memory with the keys of both.
fn joined(memory: &Memory, other: &Memory) -> Memory {
    let mut all = memory.as_object().cloned().unwrap_or_default();
    all.extend(other.as_object().cloned().unwrap_or_default());
    crate::json::Value::from(all).into()
}

#[derive(Debug)]
struct Slide {
    because: Because,
}

impl Rewrite for Slide {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let (n_system, stored) = stored_messages(&input.messages);
        let (acts, mut done) = self.because.check(&input, &stored);
        if !acts {
            return Ok(done);
        }
        if self.because == Because::RejectedForGood {
            return Ok(self.because.failed(input.error, input.call, done));
        }
        let pins = Pins::new(&input.memory, &stored, input.count("pin_first"));
        done.memory = joined(&done.memory, &pins.to_memory());
        done.fired = pins.are_new;
        let shortens = self.because == Because::Rejected && input.flag("shortens");
        let position = |at: usize| n_system + stored[..at].iter().map(|m| m.len()).sum::<usize>();
        match reduce(&stored, &pins, input.count("window_size"), shortens) {
            Reduced::Nothing => Ok(self.because.failed(UNABLE, input.call, done)),
            Reduced::Shortened(at, messages) => {
                let edits = (position(at)..).zip(messages);
                done.edits = edits.map(|(at, now)| MessageEdit { at, now: Some(now) }).collect();
                done.fired = true;
                Ok(done)
            }
            Reduced::Removed(removed) => {
                let mut edits = Vec::new();
                for nth in removed {
                    let messages = position(nth)..position(nth + 1);
                    edits.extend(messages.map(|at| MessageEdit { at, now: None }));
                }
                done.fired |= !edits.is_empty();
                done.edits = edits.into();
                Ok(done)
            }
        }
    }
}

#[derive(Debug)]
struct Summarize {
    because: Because,
}

impl Rewrite for Summarize {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let (n_system, stored) = stored_messages(&input.messages);
        let (acts, mut done) = self.because.check(&input, &stored);
        if !acts {
            return Ok(done);
        }
        let preserved = input.count("preserved");
        let n = match n_summarized(&stored, input.number("ratio"), preserved) {
            Ok(n) => n,
            Err(why) => return Ok(self.because.failed(why, input.call, done)),
        };
        let pins = Pins::new(&input.memory, &stored, input.count("pin_first"));
        done.memory = joined(&done.memory, &pins.to_memory());
        done.fired = pins.are_new;
        match summarized(&stored, &pins, n, replies)? {
            Err(why) => {
                done.fired |= replies.n_requests() > 0;
                Ok(self.because.failed(&why, input.call, done))
            }
            Ok(left) => {
                done.fired = true;
                let system = input.messages[..n_system].iter().cloned();
                done.messages = Some(system.chain(left).collect());
                Ok(done)
            }
        }
    }
}

fn answer_calls(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let newest = all.iter().rposition(|m| !m.is("user"));
    let Some(at) = newest.filter(|at| at + 1 < all.len() && has_calls(&all[*at..=*at])) else {
        return Rewritten::default();
    };
    let mut messages = all[..=at].to_vec();
    let calls = all[at].calls().iter();
    messages.extend(calls.map(|call| ChatMessage::notice_result(call, INTERRUPTED)));
    messages.extend_from_slice(&all[at + 1..]);
    Rewritten { messages: Some(messages), fired: true, ..Rewritten::default() }
}

/// `_normalize_messages`: the answers of a request.
fn fill_blank_answers(input: &RewriteInput<'_>) -> Rewritten {
    let is_blank = |m: &ChatMessage| {
        m.is("assistant") && m.calls().is_empty() && m.joined_text("").trim().is_empty()
    };
    if input.messages.weigh(IS_BLANK, |m| u64::from(is_blank(m))) == 0 {
        return Rewritten::default();
    }
    let blank = input.messages.iter().enumerate().filter(|(_, m)| is_blank(m));
    let edits = blank.map(|(at, message)| MessageEdit { at, now: Some(message.with_text(BLANK)) });
    Rewritten { edits: edits.collect(), ..Rewritten::default() }
}
