//! Token counts as files report them, with a plausibility check.
//!
//! A number that cannot be a count (negative or too large) is read as an impossible count instead of being skipped, so
//! that callers can report its line.

use super::json;
use crate::json::{Number, Value};
use crate::session::Usage;
use crate::units::Tokens;

/// Maximum plausible token count of a call or a window: a hundred times the largest windows in use.
const MAX_TOKENS: Tokens = Tokens(100_000_000);
/// Value of a number that cannot be a count. Sums with it saturate and remain impossible.
const IMPOSSIBLE: Tokens = Tokens(u64::MAX);

/// Returns the token count at `path`, or `None` if there is no number. It may be impossible, see [`checked`].
pub(super) fn tokens_at(value: &Value, path: &[&str]) -> Option<Tokens> {
    json::at(value, path)?.as_number().map(tokens_of)
}

/// Converts a number to a token count, which may be impossible, see [`checked`].
pub(super) fn tokens_of(number: &Number) -> Tokens {
    json::u64_of(number).map_or(IMPOSSIBLE, Tokens)
}

/// Parses a token count, which may be impossible, see [`checked`].
pub(super) fn tokens_written(number: &str) -> Option<Tokens> {
    let usual = number.parse().map(Tokens).ok();
    usual.or_else(|| crate::json::from_str(number).ok()?.as_number().map(tokens_of))
}

/// Returns the context window at `path`, unless it is zero. It may be impossible, see [`checked`].
pub(super) fn window_at(value: &Value, path: &[&str]) -> Option<Tokens> {
    tokens_at(value, path).filter(|window| *window > Tokens::ZERO)
}

/// Returns the whole input of a call if the file does not record whether `input` includes cached tokens. Cached tokens
/// that `input` includes cannot exceed it: cache reads may be included while cache writes are not.
pub(super) fn whole_input(input: Tokens, read: Option<Tokens>, write: Option<Tokens>) -> Tokens {
    let (read, write) = (read.unwrap_or_default(), write.unwrap_or_default());
    if read > input {
        input + read + write
    } else if read + write > input {
        input + write
    } else {
        input
    }
}

/// Reads a usage report with the keys `inputTokens`, `cacheReadTokens`, `cacheWriteTokens`, `outputTokens` and
/// `reasoningTokens`. The input may exclude cached tokens, see [`whole_input`]. Returns `None` if it is zero or missing.
pub(super) fn camel_case_usage(report: &Value) -> Option<Usage> {
    let count = |key| tokens_at(report, &[key]);
    let (read, write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    let input = whole_input(count("inputTokens")?, read, write);
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("outputTokens"),
        reasoning: count("reasoningTokens"),
        ..Usage::default()
    })
}

/// Reads the usage that Gemini reports (`usageMetadata`), with names in camel case or, from Python, in snake case.
/// Returns `None` if the input is zero or missing.
pub(super) fn gemini_usage(report: &Value) -> Option<Usage> {
    let count = |camel, snake| tokens_at(report, &[camel]).or_else(|| tokens_at(report, &[snake]));
    let thoughts = count("thoughtsTokenCount", "thoughts_token_count");
    // The results of the provider's tools are counted apart.
    let of_tools = count("toolUsePromptTokenCount", "tool_use_prompt_token_count");
    let input = count("promptTokenCount", "prompt_token_count")? + of_tools.unwrap_or_default();
    let answer = count("candidatesTokenCount", "candidates_token_count");
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: count("cachedContentTokenCount", "cached_content_token_count"),
        output: answer.map(|n| n + thoughts.unwrap_or_default()),
        reasoning: thoughts,
        ..Usage::default()
    })
}

/// Returns whether a count is plausible.
pub(super) fn is_possible(tokens: Tokens) -> bool {
    tokens <= MAX_TOKENS
}

/// Returns a plausible count, or a warning that names it as `what`.
pub(super) fn checked(tokens: Option<Tokens>, what: &str) -> Result<Option<Tokens>, String> {
    match tokens {
        Some(tokens) if !is_possible(tokens) => Err(left_out(what)),
        tokens => Ok(tokens),
    }
}

/// Returns a call's usage if all its counts are plausible, or a warning.
pub(super) fn checked_usage(usage: Option<Usage>) -> Result<Option<Usage>, String> {
    let is_right = |usage: &Usage| {
        let others = [
            usage.cache_read,
            usage.cache_write,
            usage.cache_write_hour,
            usage.output,
            usage.reasoning,
        ];
        is_possible(usage.input) && others.into_iter().flatten().all(is_possible)
    };
    match usage {
        Some(usage) if !is_right(&usage) => Err(left_out("the usage of this call")),
        usage => Ok(usage),
    }
}

fn left_out(what: &str) -> String {
    format!(
        "{what} cannot be right (negative or above {} million) and was left out",
        MAX_TOKENS.0 / 1_000_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: &str) -> Option<Tokens> {
        let value = serde_json::from_str(&format!("{{\"n\":{number}}}")).unwrap();
        tokens_at(&value, &["n"])
    }

    #[test]
    fn reads_equal_counts_from_text_and_value() {
        for number in ["0", "-0", "12", "12.4", "1e3", "-1", "1e400", "18446744073709551616"] {
            assert_eq!(tokens_written(number), read(number), "{number}");
        }
        assert_eq!(tokens_written("twelve"), None);
    }

    #[test]
    fn distinguishes_impossible_counts_from_missing_ones() {
        for absurd in [
            "99999999999999999999999999",
            "18446744073709551615",
            "1000000000000",
            "1e400",
            "1e30",
            "-1",
            "-0.6",
            "100000001",
        ] {
            assert!(checked(read(absurd), "x").is_err(), "{absurd}");
        }
        for fine in ["0", "1e3", "12.4", "-0.0", "100000000"] {
            assert!(checked(read(fine), "x").is_ok_and(|t| t.is_some()), "{fine}");
        }
        for nothing in ["null", "\"12\"", "[]"] {
            assert_eq!(checked(read(nothing), "x"), Ok(None), "{nothing}");
        }
    }

    #[test]
    fn adds_cached_tokens_unless_the_input_may_include_them() {
        let whole = |input, read, write| {
            whole_input(Tokens(input), Some(Tokens(read)), Some(Tokens(write))).0
        };
        assert_eq!(whole(5_000, 4_000, 900), 5_000);
        assert_eq!(whole(4_004, 4_000, 900), 4_904);
        assert_eq!(whole(4, 4_000, 900), 4_904);
        assert_eq!(whole(4, 0, 900), 904);
        assert_eq!(whole_input(Tokens(7), None, None), Tokens(7));
    }

    #[test]
    fn rejects_the_usage_of_a_call_with_one_impossible_count() {
        let usage = Usage { input: Tokens(10), reasoning: Some(IMPOSSIBLE), ..Usage::default() };
        assert!(checked_usage(Some(usage)).is_err());
        let usage = Usage { reasoning: Some(Tokens(5)), ..usage };
        assert_eq!(checked_usage(Some(usage)), Ok(Some(usage)));
    }
}
