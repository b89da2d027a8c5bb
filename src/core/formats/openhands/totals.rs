//! Usage totals of `OpenHands`: the usage of a call is the increase of the totals.

use crate::formats::counts;
use crate::json::Value;
use crate::session::Usage;
use crate::units::Tokens;

/// Reads the totals of all calls so far.
pub(super) fn read(total: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(total, &[key]);
    Some(Usage {
        input: count("prompt_tokens")?,
        cache_read: count("cache_read_tokens"),
        cache_write: count("cache_write_tokens"),
        output: count("completion_tokens"),
        reasoning: count("reasoning_tokens"),
        ..Usage::default()
    })
}

/// Returns the usage of a call between two totals, or `None` if they did not increase.
pub(super) fn increase(now: &Usage, before: &Usage) -> Option<Usage> {
    let less = |now: Tokens, before: Tokens| Tokens(now.0.saturating_sub(before.0));
    let each = |now: Option<Tokens>, before: Option<Tokens>| {
        now.map(|now| less(now, before.unwrap_or_default()))
    };
    let input = less(now.input, before.input);
    let cache_read = each(now.cache_read, before.cache_read);
    let cache_write = each(now.cache_write, before.cache_write);
    (input > Tokens::ZERO).then(|| Usage {
        input: counts::whole_input(input, cache_read, cache_write),
        cache_read,
        cache_write,
        cache_write_hour: None,
        output: each(now.output, before.output),
        reasoning: each(now.reasoning, before.reasoning),
    })
}

/// Returns the totals after a call that reports only its own usage.
pub(super) fn sum(before: &Usage, own: &Usage) -> Usage {
    let each = |a: Option<Tokens>, b: Option<Tokens>| {
        let sum = a.unwrap_or_default() + b.unwrap_or_default();
        a.or(b).map(|_| sum)
    };
    Usage {
        input: before.input + own.input,
        cache_read: each(before.cache_read, own.cache_read),
        cache_write: each(before.cache_write, own.cache_write),
        cache_write_hour: None,
        output: each(before.output, own.output),
        reasoning: each(before.reasoning, own.reasoning),
    }
}
