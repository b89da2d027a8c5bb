//! Provider errors: classification by phrases in their text, retries, and the texts that users see.

/// Phrases of an overflow. Files that are "too large" match too.
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

/// A further phrase for errors in the stream.
const OVERFLOW_IN_STREAM: &str = "tokens exceed";

/// Phrases of mismatched calls and results; so broad that "model not found" matches.
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

/// Required phrases: without one of these an error is not a format error.
const BAD_REQUEST: [&str; 3] = ["400", "invalid_request", "invalidparameter"];

/// Phrases of errors that are retried.
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

/// Maximum number of retries of a call.
// As in `CowAgent` 2.0.8, `agent/protocol/agent_stream.py`.
pub const MAX_RETRIES: u64 = 3;

/// The error after the conversation was emptied for an overflow.
pub const OVERFLOW_ERROR: &str =
    "抱歉，对话历史过长导致上下文溢出。我已清空历史记录，请重新描述你的需求。";
/// The error after the conversation was emptied for mismatched messages.
pub const FORMAT_ERROR: &str = "抱歉，之前的对话出现了问题。我已清空历史记录，请重新发送你的消息。";

/// Returns whether an error describes an overflow.
pub fn is_overflow(error: &str, is_in_stream: bool) -> bool {
    let error = error.to_lowercase();
    has_any(&error, &OVERFLOW) || (is_in_stream && error.contains(OVERFLOW_IN_STREAM))
}

/// Returns whether an error describes mismatched messages.
pub fn is_format_error(error: &str) -> bool {
    let error = error.to_lowercase();
    has_any(&error, &FORMAT) && has_any(&error, &BAD_REQUEST)
}

/// Returns whether the call is retried.
pub fn is_retryable(error: &str) -> bool {
    has_any(&error.to_lowercase(), &RETRYABLE)
}

/// Returns the seconds before the next try, after `n_tries`.
pub fn wait_seconds(error: &str, n_tries: u64) -> u64 {
    let is_rate_limit = has_any(&error.to_lowercase(), &["429", "rate limit"]);
    if is_rate_limit { 30 + n_tries * 15 } else { (n_tries + 1) * 2 }
}

/// The handling of an error in the stream, as nearly all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// Overflow.
    Overflow,
    /// Mismatched messages: the conversation is emptied.
    Format,
    /// The call is retried.
    Temporary,
    /// The run ends.
    Final,
}

/// Classifies an error.
pub(super) fn classify(error: &str, is_in_stream: bool) -> ErrorKind {
    if is_overflow(error, is_in_stream) {
        ErrorKind::Overflow
    } else if is_format_error(error) {
        ErrorKind::Format
    } else if is_retryable(error) {
        ErrorKind::Temporary
    } else {
        ErrorKind::Final
    }
}

fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_errors_match_broad_phrases() {
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
