//! Refusals of servers, classified by status and message.
//!
//! Error messages differ between servers of the same API. The lists below hold the known ones.

use super::api::LimitField;
use super::endpoint::Endpoint;
use super::json::{member, text_at};
use super::plain_text::{hide, plain_line};
use super::web_page;
use crate::json::Value;
use crate::session::says_too_long;

/// Maximum number of characters of a server's message that are shown.
const MAX_SHOWN_CHARS: usize = 300;
/// Maximum number of characters of a server's message that are read. The reason comes first; words of a quoted request
/// further on would be mistaken for it.
const MAX_READ_CHARS: usize = 2_000;

/// A request that was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Kind of the refusal.
    pub kind: RefusalKind,
    /// The reason and the remedy as one line, without the key.
    pub message: String,
    /// The field that the server requires for the output limit, if that was the reason.
    pub wants_limit: Option<LimitField>,
}

/// Kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The key is missing, wrong, or lacks a permission.
    BadKey,
    /// The account has no credit left.
    NoCredit,
    /// The server does not know the model, or the address.
    UnknownModel,
    /// The prompt, or prompt and answer together, overflow the context window.
    ContextTooLong,
    /// A rate limit is reached.
    RateLimited,
    /// The server is overloaded.
    Overloaded,
    /// The server failed.
    ServerError,
    /// The server found something else wrong with the request.
    BadRequest,
}

impl Refusal {
    /// Creates a refusal from an HTTP error status and its body.
    pub fn new(endpoint: &Endpoint, status: u16, body: &[u8], key: Option<&str>) -> Self {
        let json: Option<Value> = crate::json::from_slice(body).ok();
        let message = json.as_ref().and_then(message_of);
        let message = message.unwrap_or_else(|| {
            if web_page::is_page(body) {
                format!("a web page, “{}”", web_page::title(body))
            } else {
                String::from_utf8_lossy(body).into_owned()
            }
        });
        let codes = json.as_ref().map(codes_of).unwrap_or_default();
        Self::of(endpoint, Some(status), &message, &codes, key)
    }

    /// Creates a refusal from an error within an answer.
    pub fn in_answer(endpoint: &Endpoint, error: &Value, key: Option<&str>) -> Self {
        let message = message_of(error).unwrap_or_else(|| error.to_string());
        let code = ["code", "status_code"].iter().find_map(|key| error.get(key)?.as_u64());
        // Some providers have numeric codes of their own.
        let status = code.and_then(|code| u16::try_from(code).ok());
        let status = status.filter(|code| (400..600).contains(code));
        Self::of(endpoint, status, &message, &codes_of(error), key)
    }

    fn of(
        endpoint: &Endpoint,
        status: Option<u16>,
        message: &str,
        codes: &str,
        key: Option<&str>,
    ) -> Self {
        let start: String = message.chars().take(MAX_READ_CHARS).collect();
        let lower = format!("{codes} {start}").to_lowercase();
        let kind = kind(status, &lower);
        // Keys are removed before the text is cut, so that no part of one remains.
        let message = hide(&plain_line(message, usize::MAX), key);
        let message = plain_line(&message, MAX_SHOWN_CHARS);
        let quoted = match (status, message.is_empty()) {
            (Some(status), true) => format!(" (HTTP {status})"),
            (Some(status), false) => format!(" (HTTP {status}: {message})"),
            (None, true) => String::new(),
            (None, false) => format!(" ({message})"),
        };
        let (host, model) = (endpoint.host(), hide(&plain_line(&endpoint.model, 80), key));
        Self {
            kind,
            message: error_line(kind, host, &model, &quoted),
            wants_limit: (kind == RefusalKind::BadRequest)
                .then(|| wanted_limit(endpoint.limit_field, &lower))
                .flatten(),
        }
    }
}

impl RefusalKind {
    /// Returns true if a retry of the same request may succeed.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::RateLimited | Self::Overloaded | Self::ServerError)
    }
}

/// Returns the message of an error, from the known fields.
fn message_of(json: &Value) -> Option<String> {
    // A list of one, as Gemini's.
    let json = json.get(0).unwrap_or(json);
    let error = member(json, "error").unwrap_or(json);
    // The upstream server's message is more specific than a router's.
    let upstream = member(error, "metadata").and_then(|metadata| text_at(metadata, "raw"));
    let texts = [error.as_str(), text_at(error, "message"), text_at(json, "message")];
    let message = texts.into_iter().flatten().find(|text| !text.trim().is_empty());
    match (message, upstream, member(json, "detail")) {
        (Some(message), Some(upstream), _) => Some(format!("{message}: {upstream}")),
        (Some(message), None, _) => Some(message.to_owned()),
        (None, Some(upstream), _) => Some(upstream.to_owned()),
        (None, None, Some(Value::String(detail))) => Some(detail.clone()),
        (None, None, Some(Value::Array(details))) => {
            let details = details.iter().filter_map(|detail| text_at(detail, "msg"));
            Some(details.collect::<Vec<_>>().join("; "))
        }
        (None, None, _) => {
            text_at(error, "type").or_else(|| text_at(error, "code")).map(str::to_owned)
        }
    }
}

/// Returns the type and the code of an error.
fn codes_of(json: &Value) -> String {
    let json = json.get(0).unwrap_or(json);
    let error = member(json, "error").unwrap_or(json);
    let codes = ["type", "code", "status"].iter().filter_map(|key| text_at(error, key));
    codes.collect::<Vec<_>>().join(" ")
}

/// Classifies an error by its status and the server's message in lower case.
fn kind(status: Option<u16>, message: &str) -> RefusalKind {
    let has = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    let is_about_the_key = matches!(status, Some(401 | 403));
    if status == Some(413) || (says_too_long(message) && !is_about_the_key) {
        return RefusalKind::ContextTooLong;
    }
    if status == Some(402) || has(&["insufficient_quota", "credit balance is too low"]) {
        return RefusalKind::NoCredit;
    }
    match status {
        Some(401 | 403) => RefusalKind::BadKey,
        Some(404) => RefusalKind::UnknownModel,
        Some(429) => RefusalKind::RateLimited,
        Some(503 | 529) => RefusalKind::Overloaded,
        // Timeout, conflict, too early, or a failure of the server.
        Some(408 | 409 | 425 | 500..) => RefusalKind::ServerError,
        Some(400..=499) if has(&["model_not_found"]) => RefusalKind::UnknownModel,
        Some(400..=499) => RefusalKind::BadRequest,
        _ if has(&["overloaded"]) => RefusalKind::Overloaded,
        _ if has(&["rate_limit", "rate limit", "too many requests"]) => RefusalKind::RateLimited,
        _ if has(&["authentication_error", "permission_error"]) => RefusalKind::BadKey,
        _ if has(&["not_found_error"]) => RefusalKind::UnknownModel,
        _ if has(&["invalid_request", "invalid_prompt"]) => RefusalKind::BadRequest,
        _ => RefusalKind::ServerError,
    }
}

fn error_line(kind: RefusalKind, host: &str, model: &str, quoted: &str) -> String {
    match kind {
        RefusalKind::BadKey => format!(
            "{host} does not accept the key{quoted}; check that it is set, complete, and allowed to use {model} there"
        ),
        RefusalKind::NoCredit => {
            format!("the account at {host} has no credit left{quoted}; add some or use another key")
        }
        RefusalKind::UnknownModel => format!(
            "{host} does not know {model} or this URL{quoted}; check the model's name and the base URL"
        ),
        RefusalKind::ContextTooLong => format!(
            "the request overflows the context window of {model} at {host}{quoted}; send less or use a model with a larger window"
        ),
        RefusalKind::RateLimited => format!(
            "{host} accepts no more requests at present{quoted}; try again later or raise the rate limit"
        ),
        RefusalKind::Overloaded => {
            format!("{host} is overloaded{quoted}; try again later")
        }
        RefusalKind::ServerError => {
            format!(
                "{host} failed{quoted}; try again later, or look at the server's log if it is yours"
            )
        }
        RefusalKind::BadRequest => {
            format!("{host} rejects the request{quoted}; check the model's settings")
        }
    }
}

/// Returns the other field for the output limit, if the server names it or does not know the one it received.
fn wanted_limit(sent: LimitField, message: &str) -> Option<LimitField> {
    const NEWER: &str = "max_completion_tokens";
    const UNKNOWN: [&str; 6] =
        ["unrecognized", "unknown", "unsupported", "not supported", "not permitted", "unexpected"];
    match sent {
        LimitField::MaxTokens if message.contains(NEWER) => Some(LimitField::MaxCompletionTokens),
        LimitField::MaxCompletionTokens
            if message.contains(NEWER) && UNKNOWN.iter().any(|word| message.contains(word)) =>
        {
            Some(LimitField::MaxTokens)
        }
        _ => None,
    }
}
