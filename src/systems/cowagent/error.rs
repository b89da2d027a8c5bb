//! What `CowAgent` takes a provider's error for, by words in its text.

/// Of a context that is too long. Files that are "too large" are taken for it too.
const OVERFLOW: [&str; 9] = [
    "context length exceeded",
    "maximum context length",
    "prompt is too long",
    "context overflow",
    "context window",
    "too large",
    "exceeds model context",
    "request_too_large",
    "request exceeds the maximum size",
];

/// One more in errors that come with the stream.
const OVERFLOW_IN_STREAM: &str = "tokens exceed";

/// Of calls and results that do not match; so broad that "model not found" is one.
const FORMAT: [&str; 14] = [
    "tool_use",
    "tool_result",
    "tool result",
    "without",
    "immediately after",
    "corresponding",
    "must have",
    "each",
    "tool_call_id",
    "tool id",
    "not found",
    "tool_calls",
    "must be a response to a preceeding message",
    "2013",
];

/// Without one of these an error is not about the format.
const BAD_REQUEST: [&str; 3] = ["400", "invalid_request", "invalidparameter"];

/// Worth another try.
const RETRYABLE: [&str; 15] = [
    "timeout",
    "timed out",
    "connection",
    "network",
    "rate limit",
    "overloaded",
    "unavailable",
    "busy",
    "retry",
    "429",
    "500",
    "502",
    "503",
    "504",
    "512",
];

/// Whether an error tells that the context is too long.
pub fn is_overflow(error: &str, is_in_stream: bool) -> bool {
    let error = error.to_lowercase();
    has_any(&error, &OVERFLOW) || (is_in_stream && error.contains(OVERFLOW_IN_STREAM))
}

/// Whether an error tells that messages do not fit together.
pub fn is_format_error(error: &str) -> bool {
    let error = error.to_lowercase();
    has_any(&error, &FORMAT) && has_any(&error, &BAD_REQUEST)
}

/// Whether it is worth another try.
pub(super) fn is_retryable(error: &str) -> bool {
    has_any(&error.to_lowercase(), &RETRYABLE)
}

/// Seconds to wait before the next try, after so many.
pub(super) fn wait_seconds(error: &str, n_tries: u64) -> u64 {
    let is_rate_limit = has_any(&error.to_lowercase(), &["429", "rate limit"]);
    if is_rate_limit {
        30 + n_tries * 15
    } else {
        (n_tries + 1) * 2
    }
}

/// What is made of an error that comes with the stream, as nearly all do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The context is too long.
    Overflow,
    /// Messages do not fit together: the conversation is emptied.
    Format,
    /// It is worth another try.
    Passing,
    /// The run ends.
    Final,
}

/// Tells what is made of an error.
pub(super) fn meaning(error: &str, is_in_stream: bool) -> Meaning {
    if is_overflow(error, is_in_stream) {
        Meaning::Overflow
    } else if is_format_error(error) {
        Meaning::Format
    } else if is_retryable(error) {
        Meaning::Passing
    } else {
        Meaning::Final
    }
}

fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_errors_are_taken_for_worse() {
        assert!(is_overflow("Image file too large", true));
        assert!(is_format_error("model xyz not found (Status: 400)"));
        assert!(!is_format_error("model xyz not found (Status: 404)"));
        assert!(is_overflow("Tokens exceed the limit", true));
        assert!(!is_overflow("Tokens exceed the limit", false));
    }

    #[test]
    fn waits_grow_with_each_try() {
        let waits = |error: &str| [0, 1, 2].map(|tries| wait_seconds(error, tries));
        assert_eq!(waits("Rate limit"), [30, 45, 60]);
        assert_eq!(waits("503 unavailable"), [2, 4, 6]);
    }
}
