//! Failures of a call: retries and log texts.

use crate::languages::python::PythonError;

/// Maximum number of attempts of a call.
// As in baseagent 18565d9, `src/core/loop.py`, like the wait.
const MAX_ATTEMPTS: u64 = 5;
/// Seconds before the second attempt. Each further wait is longer by as many seconds.
const WAIT_SECONDS: u64 = 10;

/// Reason why a model call returned no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The cost limit is reached.
    CostLimit(String),
    /// The provider rejects the call, also for an overflow. A rejection that is not temporary ends the run.
    Llm {
        /// The client's code for the status of the answer.
        code: String,
        /// The provider's message.
        message: String,
    },
    /// Anything else.
    Other(PythonError),
}

/// Returns the client's code for an answer with a status other than 200.
pub fn code_of_status(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        429 => "rate_limit",
        500.. => "server_error",
        _ => "api_error",
    }
}

impl Failure {
    /// Returns the log line of a failed attempt; `None` for a cost limit.
    pub fn attempt_line(&self, attempt: u64) -> Option<String> {
        match self {
            Self::CostLimit(_) => None,
            Self::Llm { code, message } => {
                Some(format!("LLM error (attempt {attempt}/{MAX_ATTEMPTS}): {code} - {message}"))
            }
            Self::Other(error) => {
                Some(format!("Unexpected error (attempt {attempt}/{MAX_ATTEMPTS}): {error}"))
            }
        }
    }

    /// Returns the seconds until the next attempt; `None` after the last one.
    pub fn wait_after(&self, attempt: u64) -> Option<u64> {
        (attempt < MAX_ATTEMPTS && self.is_temporary()).then_some(WAIT_SECONDS * attempt)
    }

    /// Returns whether the error's text describes a temporary one.
    fn is_temporary(&self) -> bool {
        let mentions = |text: &str, words: &[&str]| {
            let text = text.to_lowercase();
            words.iter().any(|word| text.contains(word))
        };
        match self {
            Self::CostLimit(_) => false,
            Self::Llm { code, message } => {
                let is_denied = matches!(&**code, "authentication_error" | "invalid_api_key");
                let words = ["504", "timeout", "empty response", "overloaded", "rate_limit"];
                !is_denied && mentions(message, &words)
            }
            Self::Other(error) => mentions(&error.text, &["504", "timeout"]),
        }
    }

    /// Returns the log line of a failure that ends the run.
    pub fn fatal_line(&self) -> String {
        match self {
            Self::CostLimit(text) => format!("Cost limit exceeded: {text}"),
            Self::Llm { code, message } => format!("LLM error (fatal): {code} - {message}"),
            Self::Other(error) => format!("Unexpected error (fatal): {error}"),
        }
    }
}
