//! Which failures of a call are tried again, and how they are worded.

use crate::systems::baseagent::PythonError;

/// Tries of one call.
const MAX_ATTEMPTS: u64 = 5;
/// Seconds of wait before the second try; each further wait is longer by as much.
const WAIT: u64 = 10;

/// Why a call of the model gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The limit of cost is reached.
    CostLimit(String),
    /// The provider refuses. A prompt that does not fit is one of these, and ends the run like the others.
    Llm {
        /// What the client makes of the answer's status.
        code: String,
        /// What the provider says.
        message: String,
    },
    /// Anything else.
    Other(PythonError),
}

/// The client's code for an answer with a status other than 200.
pub fn code_of_status(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        429 => "rate_limit",
        500.. => "server_error",
        _ => "api_error",
    }
}

impl Failure {
    /// What is logged when a try fails; a limit of cost says nothing yet.
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

    /// Seconds until the next try; none if there is no next one.
    pub fn wait_after(&self, attempt: u64) -> Option<u64> {
        (attempt < MAX_ATTEMPTS && self.is_passing()).then_some(WAIT * attempt)
    }

    /// Whether its words say that it may pass.
    fn is_passing(&self) -> bool {
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

    /// What is logged when the run ends by it.
    pub fn fatal(&self) -> String {
        match self {
            Self::CostLimit(text) => format!("Cost limit exceeded: {text}"),
            Self::Llm { code, message } => format!("LLM error (fatal): {code} - {message}"),
            Self::Other(error) => format!("Unexpected error (fatal): {error}"),
        }
    }
}
