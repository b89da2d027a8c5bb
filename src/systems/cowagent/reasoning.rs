//! Stores long reasoning as its head and its tail.

use super::block::{head, tail};

/// `MAX_STORED_REASONING_CHARS`.
pub const STORED_REASONING_CHARS: usize = 4096;

/// Returns the text, or its first and last half of the limit with a marker between.
pub fn cut_reasoning(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let omitted = length - 2 * half;
    format!(
        "{}\n\n... [reasoning truncated, {omitted} chars omitted] ...\n\n{}",
        head(text, half),
        tail(text, half)
    )
}
