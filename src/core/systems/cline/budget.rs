//! The size of a request, its trigger and the targets of a compaction.

use super::stored::{Envelopes, Stored, StoredKind, request_tokens, stored};
use crate::chat::n_system;
use crate::engine::RewriteInput;
use crate::json::{Value, json};

/// Key of the state in memory.
const STATE: &str = "cline";

/// Share of the limit for prompts that a long conversation keeps, and share of the trigger for others.
// The shares and the number of pairs are those of Cline at 21cb8d25, `extensions/context`.
const LONG_TARGET: f64 = 0.5;
const TARGET: f64 = 0.7;
/// Number of pairs of user and assistant messages from which a conversation is long.
const LONG_PAIRS: usize = 5;

/// State that is kept between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Whether there was a compaction: from then on its result is measured.
    pub(super) is_compacted: bool,
    /// See [`Envelopes`].
    pub(super) digits: String,
    pub(super) frozen_end: usize,
    pub(super) first: Value,
    pub(super) summary: Value,
    /// Sums of the usage of all answers: prompts and answers.
    pub(super) usage: [u64; 2],
    /// The call at which a summary failed.
    pub(super) failed_at: Option<u64>,
}

impl State {
    fn from_memory(memory: &Value) -> Self {
        let state = &memory[STATE];
        Self {
            is_compacted: state["is_compacted"] == true,
            digits: state["digits"].as_str().unwrap_or_default().to_owned(),
            frozen_end: state["frozen_end"].as_u64().unwrap_or(0) as usize,
            first: state["first"].clone(),
            summary: state["summary"].clone(),
            usage: [0, 1].map(|nth| state["usage"][nth].as_u64().unwrap_or(0)),
            failed_at: state["failed_at"].as_u64(),
        }
    }

    /// Returns the state for an action's memory.
    pub(super) fn to_memory(&self) -> Value {
        json!({STATE: {"is_compacted": self.is_compacted, "digits": self.digits,
            "frozen_end": self.frozen_end, "first": self.first, "summary": self.summary,
            "usage": self.usage, "failed_at": self.failed_at}})
    }
}

/// A request before a call.
#[derive(Debug)]
pub(super) struct Budget {
    /// Number of instructions in the conversation.
    pub(super) start: usize,
    pub(super) messages: Vec<Stored>,
    /// Estimated tokens of the request.
    pub(super) request: usize,
    /// Limits for the messages alone.
    pub(super) target: usize,
    pub(super) trigger: usize,
    pub(super) state: State,
}

impl Budget {
    /// Measures the request before a call.
    pub(super) fn new(input: &RewriteInput<'_>) -> Self {
        let all = &input.messages;
        let start = n_system(all);
        let mut state = State::from_memory(&input.memory);
        let reported = [input.count("reported_input"), input.count("reported_output")];
        let has_usage = |at: &usize| all[*at].is("assistant");
        let n_answers = (state.frozen_end.max(start)..all.len()).filter(has_usage).count();
        if state.digits.len() < n_answers {
            let sums = state.usage.iter_mut().zip(reported);
            sums.for_each(|(sum, reported)| *sum += reported as u64);
        }
        while state.digits.len() < n_answers {
            state.digits.push(digits(reported));
        }
        let removed = state.digits.len() - n_answers;
        state.digits.drain(..removed);
        let messages = stored(
            all,
            start,
            &Envelopes {
                digits: &state.digits,
                frozen_end: state.frozen_end,
                first: &state.first,
                summary: &state.summary,
                model_chars: input.count("model_chars"),
            },
        );
        let (request, sum) = request_tokens(&all[..start], &messages, !state.is_compacted);
        let overhead = request.saturating_sub(sum) as f64;
        let (max_input, trigger) = (input.number("max_input"), input.number("trigger"));
        let is_long = pairs(&messages) >= LONG_PAIRS && input.number("max_output") < max_input;
        let target =
            if is_long { (max_input * LONG_TARGET).floor() } else { (trigger * TARGET).floor() };
        let target = target.min(max_input).min((trigger - 1.0).max(1.0)).max(1.0);
        let of_messages = |tokens: f64| (tokens - overhead).floor().max(1.0) as usize;
        Self {
            start,
            messages,
            request,
            target: of_messages(target),
            trigger: of_messages(trigger),
            state,
        }
    }

    /// Returns the digits of the usage of the answers from a message on.
    pub(super) fn digits_from(&self, first: usize) -> String {
        let is_with_usage = |m: &&Stored| {
            m.kind == StoredKind::Answer && m.range.start >= self.state.frozen_end.max(first)
        };
        let n_kept = self.messages.iter().filter(is_with_usage).count();
        let removed = self.state.digits.len().saturating_sub(n_kept);
        self.state.digits[removed..].to_owned()
    }
}

/// Returns the number of digits of a usage as a character from `0` on; `0` without usage.
fn digits([input, output]: [usize; 2]) -> char {
    if input + output == 0 {
        return '0';
    }
    let n = input.to_string().len() + output.to_string().len();
    char::from(b'0' + n as u8)
}

fn pairs(messages: &[Stored]) -> usize {
    let (mut n_pairs, mut is_open) = (0, false);
    for message in messages {
        let is_answer = message.kind == StoredKind::Answer;
        n_pairs += usize::from(is_answer && is_open);
        is_open = !is_answer;
    }
    n_pairs
}
