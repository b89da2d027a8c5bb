//! Failures of a call: retries and log texts.

use crate::systems::python::PythonError;

/// Maximum number of tries of one call.
const MAX_ATTEMPTS: u64 = 5;
/// Seconds before the second try; each further wait is longer by this much.
const WAIT: u64 = 10;

/// Reason why a model call returned no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The cost limit is reached.
    CostLimit(String),
    /// The provider rejects the call. An overflow is one of these and ends the run like the others.
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
    /// Returns the log line of a failed try; `None` for a cost limit.
    pub fn of_attempt(&self, attempt: u64) -> Option<String> {
        match self {
            Self::CostLimit(_) => None,
            Self::Llm { code, message } => Some(format!(
                "LLM error (attempt {attempt}/{MAX_ATTEMPTS}): {code} - {message}"
            )),
            Self::Other(error) => Some(format!(
                "Unexpected error (attempt {attempt}/{MAX_ATTEMPTS}): {error}"
            )),
        }
    }

    /// Returns the seconds until the next try; `None` if there is no next one.
    pub fn wait_after(&self, attempt: u64) -> Option<u64> {
        (attempt < MAX_ATTEMPTS && self.is_temporary()).then_some(WAIT * attempt)
    }

    /// Returns whether its text describes a temporary error.
    fn is_temporary(&self) -> bool {
        let says = |text: &str, words: &[&str]| {
            let text = text.to_lowercase();
            words.iter().any(|word| text.contains(word))
        };
        match self {
            Self::CostLimit(_) => false,
            Self::Llm { code, message } => {
                let is_refusal = matches!(&**code, "authentication_error" | "invalid_api_key");
                let words = [
                    "504",
                    "timeout",
                    "empty response",
                    "overloaded",
                    "rate_limit",
                ];
                !is_refusal && says(message, &words)
            }
            Self::Other(error) => says(&error.text, &["504", "timeout"]),
        }
    }

    /// Returns the log line when it ends the run.
    pub fn fatal(&self) -> String {
        match self {
            Self::CostLimit(text) => format!("Cost limit exceeded: {text}"),
            Self::Llm { code, message } => format!("LLM error (fatal): {code} - {message}"),
            Self::Other(error) => format!("Unexpected error (fatal): {error}"),
        }
    }
}
