//! What `PicoClaw` takes a provider's error for, by words in its text.

use super::Edition;

/// Of a context that is too long. A bad parameter is taken for one too.
const TOO_LONG: [&str; 9] = [
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

/// One more as built.
const TOO_LONG_AS_BUILT: &str = "context_window";

/// Of an error that may pass: a deadline is no context, whatever it is called.
const TIMEOUT: [&str; 3] = ["deadline exceeded", "timeout", "timed out"];

/// More of these, looked for first as built.
const PASSING: [&str; 6] = [
    "rate limit",
    "429",
    "connection reset",
    "connection refused",
    "no such host",
    "eof",
];

/// What is made of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The context is too long: history is compressed.
    TooLong,
    /// The call is made again after a while.
    Passing,
    /// The turn ends.
    Final,
}

/// Tells what is made of an error.
pub fn meaning(error: &str, edition: Edition) -> Meaning {
    let error = error.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
    let is_built = edition == Edition::After;
    let is_passing = says(&TIMEOUT) || (is_built && says(&PASSING));
    if is_passing {
        Meaning::Passing
    } else if says(&TOO_LONG) || (is_built && error.contains(TOO_LONG_AS_BUILT)) {
        Meaning::TooLong
    } else {
        Meaning::Final
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_parameter_is_taken_for_a_long_context_and_a_deadline_is_not() {
        let of = |error| meaning(error, Edition::After);
        assert_eq!(
            of("Invalid value for 'max_tokens': must be positive"),
            Meaning::TooLong
        );
        assert_eq!(of("context deadline exceeded"), Meaning::Passing);
        assert_eq!(of("401 invalid api key"), Meaning::Final);
        let rate = "429: token limit per minute";
        assert_eq!(of(rate), Meaning::Passing);
        assert_eq!(meaning(rate, Edition::Before), Meaning::TooLong);
    }
}
