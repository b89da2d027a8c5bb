//! Reads the usage of a response, also in the notation of versions before 1.

use crate::formats::counts;
use crate::json::Value;
use crate::session::Usage;
use crate::units::Tokens;

/// Returns the usage of a call. Returns `None` if the input is zero or missing.
pub(super) fn of_response(usage: &Value) -> Option<Usage> {
    let count = |path: &[&str]| counts::tokens_at(usage, path);
    let first = |paths: [&[&str]; 2]| {
        let known = paths.iter().filter_map(|path| count(path));
        known.reduce(|a, b| if a > Tokens::ZERO { a } else { b })
    };
    let read = first([&["cache_read_tokens"], &["details", "cached_tokens"]]);
    let write = first([&["cache_write_tokens"], &["details", "cache_creation_input_tokens"]]);
    let input = count(&["input_tokens"]).or_else(|| count(&["request_tokens"]))?;
    (input > Tokens::ZERO).then(|| Usage {
        input: counts::whole_input(input, read, write),
        cache_read: read,
        cache_write: write,
        cache_write_hour: count(&["cache_write_1h_tokens"]),
        output: count(&["output_tokens"]).or_else(|| count(&["response_tokens"])),
        reasoning: first([&["output_reasoning_tokens"], &["details", "reasoning_tokens"]]),
    })
}
