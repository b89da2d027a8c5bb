//! Classification of provider errors by phrases in their text.

use super::Edition;

/// Phrases of an overflow. Errors about a bad parameter match too.
const OVERFLOW: [&str; 9] = [
    "context_length_exceeded",
    "context window",
    "maximum context length",
    "token limit",
    "too many tokens",
    "max_tokens",
    "invalidparameter",
    "prompt is too long",
    "request too large",
];

/// A further phrase as built.
const OVERFLOW_AS_BUILT: &str = "context_window";

/// Phrases of a temporary error: a deadline is not an overflow, even if its text mentions a context.
const TIMEOUT: [&str; 3] = ["deadline exceeded", "timeout", "timed out"];

/// Further phrases of temporary errors, searched first as built.
const TEMPORARY: [&str; 6] =
    ["rate limit", "429", "connection reset", "connection refused", "no such host", "eof"];

/// The handling of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Overflow: the history is compressed.
    Overflow,
    /// The call is retried after a pause.
    Temporary,
    /// The turn ends.
    Final,
}

/// Classifies an error.
pub fn classify(error: &str, edition: Edition) -> ErrorKind {
    let error = error.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
    let is_built = edition == Edition::After;
    let is_temporary = says(&TIMEOUT) || (is_built && says(&TEMPORARY));
    if is_temporary {
        ErrorKind::Temporary
    } else if says(&OVERFLOW) || (is_built && error.contains(OVERFLOW_AS_BUILT)) {
        ErrorKind::Overflow
    } else {
        ErrorKind::Final
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_parameter_counts_as_an_overflow_and_a_deadline_does_not() {
        let of = |error| classify(error, Edition::After);
        assert_eq!(of("Invalid value for 'max_tokens': must be positive"), ErrorKind::Overflow);
        assert_eq!(of("context deadline exceeded"), ErrorKind::Temporary);
        assert_eq!(of("401 invalid api key"), ErrorKind::Final);
        let rate = "429: token limit per minute";
        assert_eq!(of(rate), ErrorKind::Temporary);
        assert_eq!(classify(rate, Edition::Before), ErrorKind::Overflow);
    }
}
