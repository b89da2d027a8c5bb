//! The usage in `token_count` events, counted once per model call.

use crate::formats::counts::{tokens_at, window_at};
use crate::formats::json::at;
use crate::json::Value;
use crate::session::Usage;
use crate::units::Tokens;

/// A `token_count` event with numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenCount {
    /// Totals of the session so far, which change with every call.
    totals: [Option<Tokens>; FIELDS.len()],
    /// Counts of the latest call.
    last: [Option<Tokens>; FIELDS.len()],
    /// Context window as Codex uses it, with its own margin subtracted from the model's.
    pub window: Option<Tokens>,
}

/// Meaning of a `token_count` event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// A model call. Its counts may be impossible.
    Call(Usage),
    /// Codex's estimate of the size of a rewritten context.
    Estimate(Tokens),
    /// A repetition, or no content.
    Repeat,
}

/// The share of a model's window that Codex uses and records: `effective_context_window_percent` of all models that it
/// knows (0.171.0).
pub(super) const WINDOW_SHARE: f64 = 0.95;

// Positions in `FIELDS`.
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

impl TokenCount {
    /// Reads the event's payload. Returns `None` if it has no numbers, like the first of a session.
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
            // The input includes cached tokens.
            input,
            cache_read: self.last[CACHED],
            cache_write: self.last[CACHE_WRITE],
            cache_write_hour: None,
            output: self.last[OUTPUT],
            reasoning: self.last[REASONING],
        }
    }
}

/// Separates calls from repetitions. Up to half of the events repeat the previous one.
#[derive(Debug, Default)]
pub(super) struct Meter {
    latest: Option<TokenCount>,
    estimate: Option<Tokens>,
}

impl Meter {
    /// Returns the meaning of this event, given those before it.
    pub(super) fn read(&mut self, count: &TokenCount) -> Reading {
        let input = count.last[INPUT].unwrap_or_default();
        let total = count.last[TOTAL].unwrap_or_default();
        if input == Tokens::ZERO {
            let is_new = total > Tokens::ZERO && self.estimate.replace(total) != Some(total);
            return if is_new { Reading::Estimate(total) } else { Reading::Repeat };
        }
        let before = self.latest.replace(*count);
        let is_repeat = before.is_some_and(|before| {
            // Without totals, a repetition can only be recognized by the call's counts.
            before.totals == count.totals
                && (count.totals.iter().any(Option::is_some) || before.last == count.last)
        });
        if is_repeat { Reading::Repeat } else { Reading::Call(count.usage(input)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn count(input: u64, output: u64, total: u64) -> TokenCount {
        TokenCount::read(&json!({"info": {
            "total_token_usage": {"total_tokens": total},
            "last_token_usage": {"input_tokens": input, "cached_input_tokens": input / 2,
                "output_tokens": output, "total_tokens": input + output},
        }}))
        .unwrap()
    }

    #[test]
    fn reads_a_call_once_and_separates_estimates() {
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
        let estimate = TokenCount::read(&json!({"info": {
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
    fn ignores_an_event_without_numbers() {
        assert!(TokenCount::read(&json!({"info": null})).is_none());
    }
}
