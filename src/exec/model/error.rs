//! Errors of a model: a kind for the program and a line for the user.

use super::ModelClient;
use crate::providers::{ReadError, Refusal, RefusalKind, plain_line};
use std::error::Error;
use std::net::IpAddr;
use std::time::Duration;

/// Maximum number of characters of an error's text that are shown.
const MAX_SHOWN_CHARS: usize = 300;

/// The reason why a prompt has no answer: one line with the remedy, without the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AskError {
    /// Kind of the error.
    pub kind: AskErrorKind,
    /// The prompts that it concerns.
    pub scope: FailureScope,
    message: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskErrorKind {
    /// The user cancelled the request.
    Cancelled,
    /// The prompt, or prompt and answer together, overflow the context window.
    ContextTooLong,
    /// The server rejected the request: bad key, no credit, unknown model, or bad request.
    Refused,
    /// The server was busy or failed at every attempt.
    Unavailable,
    /// The connection failed or broke before the answer began.
    Unreachable,
    /// A time limit was exceeded.
    TimedOut,
    /// The response is not an answer, is incomplete, or does not end.
    BadAnswer,
    /// The settings are invalid. Nothing was sent.
    Settings,
}

/// The prompts that a failure concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureScope {
    /// This prompt: others may have an answer.
    #[default]
    Prompt,
    /// All prompts of the moment: the server may have answered before and may answer again.
    Moment,
    /// All prompts, for example because of a bad key.
    All,
}

impl AskErrorKind {
    fn scope(self) -> FailureScope {
        match self {
            Self::ContextTooLong | Self::BadAnswer => FailureScope::Prompt,
            Self::Unavailable | Self::Unreachable | Self::TimedOut => FailureScope::Moment,
            Self::Cancelled | Self::Refused | Self::Settings => FailureScope::All,
        }
    }
}

impl AskError {
    pub(super) fn new(kind: AskErrorKind, message: impl Into<String>) -> Self {
        Self { kind, scope: kind.scope(), message: message.into() }
    }

    pub(super) fn cancelled() -> Self {
        Self::new(AskErrorKind::Cancelled, "cancelled")
    }

    pub(super) fn settings(message: impl Into<String>) -> Self {
        Self::new(AskErrorKind::Settings, message)
    }

    pub(super) fn timed_out(client: &ModelClient, event: &str, limit: Duration) -> Self {
        let limit = humantime::format_duration(limit);
        let host = client.endpoint.host();
        Self::new(
            AskErrorKind::TimedOut,
            format!(
                "{host}: {event} within {limit}; check whether the server is busy, or raise the limit"
            ),
        )
    }

    pub(super) fn refused(client: &ModelClient, refusal: &Refusal) -> Self {
        let kind = match refusal.kind {
            RefusalKind::ContextTooLong => AskErrorKind::ContextTooLong,
            RefusalKind::RateLimited | RefusalKind::Overloaded | RefusalKind::ServerError => {
                AskErrorKind::Unavailable
            }
            RefusalKind::BadKey
            | RefusalKind::NoCredit
            | RefusalKind::UnknownModel
            | RefusalKind::BadRequest => AskErrorKind::Refused,
        };
        let error = Self::new(kind, client.hide(&refusal.message));
        match refusal.kind {
            RefusalKind::BadRequest => Self { scope: FailureScope::Prompt, ..error },
            _ => error,
        }
    }

    pub(super) fn bad_answer(client: &ModelClient, fault: &str) -> Self {
        let host = client.endpoint.host();
        Self::new(AskErrorKind::BadAnswer, client.hide(&format!("{host}: {fault}")))
    }
}

/// Creates the error of an unreadable answer. (Errors that the server reports in its answer are refusals.)
pub(super) fn of_reading(client: &ModelClient, error: &ReadError) -> AskError {
    let advice = match error {
        ReadError::Page(_) => {
            "check that the base URL is the API's and that no login page or proxy intercepts it"
        }
        ReadError::Malformed(_) | ReadError::Empty => {
            "check that the base URL matches the kind of API"
        }
        ReadError::Endless(_) => "the connection was closed, since the server ignores the limit",
        ReadError::CutOff | ReadError::Server(_) => {
            "the partial answer was discarded; try again, or check the server's log"
        }
    };
    AskError::bad_answer(client, &format!("{error}; {advice}"))
}

/// Creates the error of a failed connection, and returns true if a retry may succeed.
pub(super) fn of_transport(client: &ModelClient, error: &reqwest::Error) -> (AskError, bool) {
    let host = client.endpoint.host();
    let cause = client.hide(&plain_line(&deepest(error), MAX_SHOWN_CHARS));
    if error.is_timeout() {
        let error = AskError::timed_out(client, "no connection", client.limits.connect);
        return (error, false);
    }
    if cause.contains("head is too large") || cause.contains("invalid HTTP") {
        let fault = format!("the answer is not valid HTTP ({cause}); check the base URL");
        return (AskError::bad_answer(client, &fault), false);
    }
    if !error.is_connect() {
        let message = format!("the connection to {host} broke ({cause}); try again");
        return (AskError::new(AskErrorKind::Unreachable, message), true);
    }
    let advice = if cause.contains("certificate") {
        certificate_advice(&cause, client.endpoint.host_name())
    } else if error.is_dns() {
        "check the host's name and the network".to_owned()
    } else {
        "check that the server runs, the address, and the proxy settings".to_owned()
    };
    let message = format!("cannot reach {host} ({cause}); {advice}");
    // A refused connection or an untrusted certificate does not change within seconds.
    let is_final = cause.contains("refused") || cause.contains("certificate") || error.is_dns();
    (AskError::new(AskErrorKind::Unreachable, message), !is_final)
}

/// Returns the remedy for an untrusted certificate.
fn certificate_advice(cause: &str, host: &str) -> String {
    let wrong = if cause.contains("CaUsedAsEndEntity") {
        "the server's certificate is that of an authority (CA:TRUE, the default of `openssl req -x509`)"
    } else if cause.contains("not valid for name") || cause.contains("NotValidForName") {
        "the server's certificate does not name this host (subjectAltName)"
    } else if cause.contains("xpired") {
        return "renew the server's certificate, or check this machine's clock".to_owned();
    } else {
        return "if the server's certificate is self-signed, or a company's proxy replaces it, give the certificate as a CA file"
            .to_owned();
    };
    let kind = if host.parse::<IpAddr>().is_ok() { "IP" } else { "DNS" };
    format!(
        "{wrong}; create another with `openssl req -x509 -newkey rsa:2048 -nodes -days 365 -keyout key.pem -out cert.pem -subj /CN={host} -addext subjectAltName={kind}:{host} -addext basicConstraints=critical,CA:FALSE` and give cert.pem to the server and as the CA file"
    )
}

/// Returns the innermost cause, which is the only specific one.
pub(super) fn deepest(error: &dyn Error) -> String {
    let mut at = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}
