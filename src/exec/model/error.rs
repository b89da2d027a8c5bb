//! Why there is no answer: a kind for rules, a line for people.

use super::ModelClient;
use crate::providers::{ReadError, Refusal, RefusalKind, plain_line};
use std::error::Error;
use std::net::IpAddr;
use std::time::Duration;

/// Characters of an error's own words that are shown.
const MOST_WORDS: usize = 300;

/// A question without an answer. Its line says what happened and what to do, and never holds the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AskError {
    /// What it is, for rules.
    pub kind: AskErrorKind,
    message: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskErrorKind {
    /// Whoever asked does not want the answer any more.
    Cancelled,
    /// What was asked, or it and the answer together, do not fit the model's window.
    ContextTooLong,
    /// The server will not answer this: bad key, no credit, unknown model, bad request.
    Refused,
    /// The server has too much to do, or failed, each time it was asked.
    Unavailable,
    /// No connection, or it broke before the answer began.
    Unreachable,
    /// A time limit ran out.
    TimedOut,
    /// What came is no answer, or half of one, or has no end.
    BadAnswer,
    /// The settings are wrong: nothing was sent.
    Settings,
}

impl AskError {
    pub(super) fn new(kind: AskErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    pub(super) fn cancelled() -> Self {
        Self::new(AskErrorKind::Cancelled, "cancelled")
    }

    pub(super) fn settings(message: impl Into<String>) -> Self {
        Self::new(AskErrorKind::Settings, message)
    }

    pub(super) fn timed_out(client: &ModelClient, what: &str, limit: Duration) -> Self {
        let limit = humantime::format_duration(limit);
        let host = client.endpoint.host();
        Self::new(
            AskErrorKind::TimedOut,
            format!(
                "{host}: {what} within {limit}; see whether the server is busy, or raise the limit"
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
        Self::new(kind, client.hide(&refusal.message))
    }

    pub(super) fn bad_answer(client: &ModelClient, what: &str) -> Self {
        let host = client.endpoint.host();
        Self::new(
            AskErrorKind::BadAnswer,
            client.hide(&format!("{host}: {what}")),
        )
    }
}

/// What to do about an answer that is none. (Errors that the server reports in it are refusals.)
pub(super) fn of_reading(client: &ModelClient, error: &ReadError) -> AskError {
    let advice = match error {
        ReadError::Page(_) => {
            "check that the base URL is the API's and that no login page or proxy intercepts it"
        }
        ReadError::Malformed(_) | ReadError::Empty => {
            "check that the base URL matches the kind of API"
        }
        ReadError::Endless(_) => "it was stopped; the server ignores the limit",
        ReadError::CutOff | ReadError::Server(_) => {
            "the partial answer was discarded; try again, or see the server's log"
        }
    };
    AskError::bad_answer(client, &format!("{error}; {advice}"))
}

/// A failure of the connection, and whether another try may do better.
pub(super) fn of_transport(client: &ModelClient, error: &reqwest::Error) -> (AskError, bool) {
    let host = client.endpoint.host();
    let cause = client.hide(&plain_line(&deepest(error), MOST_WORDS));
    if error.is_timeout() {
        let error = AskError::timed_out(client, "no connection", client.limits.connect);
        return (error, false);
    }
    if cause.contains("head is too large") || cause.contains("invalid HTTP") {
        let what = format!("the answer is not valid HTTP ({cause}); check the base URL");
        return (AskError::bad_answer(client, &what), false);
    }
    if !error.is_connect() {
        let message = format!("the connection to {host} broke ({cause}); try again");
        return (AskError::new(AskErrorKind::Unreachable, message), true);
    }
    let advice = if cause.contains("certificate") {
        about_certificate(&cause, client.endpoint.host_name())
    } else if error.is_dns() {
        "check the host's name and the network".to_owned()
    } else {
        "check that the server runs, the address, and the proxy settings".to_owned()
    };
    let message = format!("cannot reach {host} ({cause}); {advice}");
    // Nobody listens there, or nobody who can be trusted: that does not change within seconds.
    let is_final = cause.contains("refused") || cause.contains("certificate") || error.is_dns();
    (AskError::new(AskErrorKind::Unreachable, message), !is_final)
}

/// What to do about a server's certificate that is not trusted.
fn about_certificate(cause: &str, host: &str) -> String {
    let wrong = if cause.contains("CaUsedAsEndEntity") {
        "the server's certificate is one of an authority (CA:TRUE, the default of `openssl req -x509`)"
    } else if cause.contains("not valid for name") || cause.contains("NotValidForName") {
        "the server's certificate does not name this host (subjectAltName)"
    } else if cause.contains("xpired") {
        return "renew the server's certificate, or check this machine's clock".to_owned();
    } else {
        return "if the server's certificate is self-signed, or a company's proxy stands between, give its certificate as a CA file"
            .to_owned();
    };
    let kind = if host.parse::<IpAddr>().is_ok() {
        "IP"
    } else {
        "DNS"
    };
    format!(
        "{wrong}; make another with `openssl req -x509 -newkey rsa:2048 -nodes -days 365 -keyout key.pem -out cert.pem -subj /CN={host} -addext subjectAltName={kind}:{host} -addext basicConstraints=critical,CA:FALSE` and give cert.pem to the server and as the CA file"
    )
}

/// The innermost cause: the outer ones only say that there is one.
pub(super) fn deepest(error: &dyn Error) -> String {
    let mut at = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}
