//! Tokens as `token_count` events report them, each model call once.

use super::super::counts::{tokens_at, window_at};
use super::super::json::at;
use crate::session::Usage;
use crate::units::Tokens;
use serde_json::Value;

/// One `token_count` event with numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    /// Sums over the session so far; they change with every call.
    totals: [Option<Tokens>; FIELDS.len()],
    /// The latest call.
    last: [Option<Tokens>; FIELDS.len()],
    /// The context window that Codex goes by: it has already taken its own margin off the model's.
    pub window: Option<Tokens>,
}

/// What a `token_count` event turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// A model call; its tokens may be impossible.
    Call(Usage),
    /// A guess of Codex at the size of the context, written where it rewrote it.
    Estimate(Tokens),
    /// Said before, or nothing.
    Repeat,
}

const INPUT: usize = 0;
const CACHED: usize = 1;
const CACHE_WRITE: usize = 2;
const OUTPUT: usize = 3;
const REASONING: usize = 4;
const TOTAL: usize = 5;
const FIELDS: [&str; 6] = [
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
];

impl Count {
    /// Reads the event's payload; `None` for one without numbers, as the first of a session is.
    pub(super) fn read(payload: &Value) -> Option<Self> {
        let info = payload.get("info")?;
        let fields = |name| at(info, &[name]).map(|of| FIELDS.map(|field| tokens_at(of, &[field])));
        Some(Self {
            last: fields("last_token_usage")?,
            totals: fields("total_token_usage").unwrap_or_default(),
            window: window_at(info, &["model_context_window"]),
        })
    }

    fn usage(&self, input: Tokens) -> Usage {
        Usage {
            // Cached tokens are contained in the input.
            input,
            cache_read: self.last[CACHED],
            cache_write: self.last[CACHE_WRITE],
            cache_write_hour: None,
            output: self.last[OUTPUT],
            reasoning: self.last[REASONING],
        }
    }
}

/// Tells calls from repetitions: up to half of the events say again what the one before said.
#[derive(Debug, Default)]
pub(super) struct Meter {
    latest: Option<Count>,
    estimate: Option<Tokens>,
}

impl Meter {
    /// What this event is, after those before it.
    pub(super) fn read(&mut self, count: &Count) -> Reading {
        let input = count.last[INPUT].unwrap_or_default();
        let total = count.last[TOTAL].unwrap_or_default();
        if input == Tokens::ZERO {
            let is_new = total > Tokens::ZERO && self.estimate.replace(total) != Some(total);
            return if is_new {
                Reading::Estimate(total)
            } else {
                Reading::Repeat
            };
        }
        let before = self.latest.replace(*count);
        let is_repeat = before.is_some_and(|before| {
            // A version that gives no sums can only be told by the call itself.
            before.totals == count.totals
                && (count.totals.iter().any(Option::is_some) || before.last == count.last)
        });
        if is_repeat {
            Reading::Repeat
        } else {
            Reading::Call(count.usage(input))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn count(input: u64, output: u64, total: u64) -> Count {
        Count::read(&json!({"info": {
            "total_token_usage": {"total_tokens": total},
            "last_token_usage": {"input_tokens": input, "cached_input_tokens": input / 2,
                "output_tokens": output, "total_tokens": input + output},
        }}))
        .unwrap()
    }

    #[test]
    fn a_call_is_read_once_and_an_estimate_is_no_call() {
        let mut meter = Meter::default();
        let call = |input, output| {
            Reading::Call(Usage {
                input: Tokens(input),
                cache_read: Some(Tokens(input / 2)),
                output: Some(Tokens(output)),
                ..Usage::default()
            })
        };
        assert_eq!(meter.read(&count(100, 10, 110)), call(100, 10));
        assert_eq!(meter.read(&count(100, 10, 110)), Reading::Repeat);
        let estimate = Count::read(&json!({"info": {
            "total_token_usage": {"total_tokens": 110},
            "last_token_usage": {"input_tokens": 0, "total_tokens": 940_499},
        }}))
        .unwrap();
        assert_eq!(meter.read(&estimate), Reading::Estimate(Tokens(940_499)));
        assert_eq!(meter.read(&estimate), Reading::Repeat);
        assert_eq!(meter.read(&count(100, 10, 110)), Reading::Repeat);
        assert_eq!(meter.read(&count(100, 10, 220)), call(100, 10));
    }

    #[test]
    fn an_event_without_numbers_is_nothing() {
        assert!(Count::read(&json!({"info": null})).is_none());
    }
}
