//! An exchange with a model's API: a request and its answer.

use super::response::Response;
use super::wires::Wire;
use crate::formats::json;
use crate::json::Value;
use crate::units::Millis;

/// A request and its answer, without headers.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Time of the request.
    pub(super) time: Option<Millis>,
    /// Path of the address, without a query; empty if unknown.
    pub(super) path: String,
    /// Body of the request.
    pub(super) request: Value,
    /// Body of the answer.
    pub(super) response: Option<Response>,
    /// HTTP status of the answer.
    pub(super) status: Option<u64>,
}

/// An exchange that is a model call, in the form of a line of the document.
#[derive(Debug)]
pub(super) struct CallLine {
    /// Time of the request.
    pub(super) time: Option<Millis>,
    /// API.
    pub(super) wire: &'static Wire,
    /// Body of the request.
    pub(super) request: Value,
    /// Whole answer; `Null` without one.
    pub(super) response: Value,
}

/// A record of a container.
#[derive(Debug)]
pub(super) enum Captured {
    /// A model call.
    Call(Box<CallLine>),
    /// A failed attempt, which the program repeats.
    Failed,
    /// Any other exchange.
    Other,
}

impl Exchange {
    /// Parses the address of a request and returns its path. The query may contain a key.
    pub(super) fn path_of(address: &str) -> String {
        let after_scheme = address
            .split_once("://")
            .map_or(address, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
        let end = after_scheme.find(['?', '#']).unwrap_or(after_scheme.len());
        after_scheme[..end].to_owned()
    }

    /// Returns the exchange as a model call, if it is one.
    pub(super) fn captured(self) -> Captured {
        let Some(wire) = Wire::of(&self.path, &self.request, self.response.as_ref()) else {
            return Captured::Other;
        };
        let response = match self.response {
            Some(Response::Whole(value)) => (wire.whole)(value),
            Some(Response::Events(events)) => (wire.join)(events),
            None => Value::Null,
        };
        let has_failed =
            self.status.is_some_and(|status| status >= 400) || error_of(&response).is_some();
        let is_too_long = error_of(&response)
            .is_some_and(|error| crate::session::says_too_long(&error.to_lowercase()));
        if has_failed && !is_too_long {
            return Captured::Failed;
        }
        let request = (wire.request)(self.request);
        Captured::Call(Box::new(CallLine { time: self.time, wire, request, response }))
    }
}

/// Returns the message of an error in place of an answer.
pub(super) fn error_of(response: &Value) -> Option<&str> {
    let error = response.get("error").filter(|error| !error.is_null())?;
    json::str_at(error, &["message"]).or_else(|| error.as_str()).or(Some(""))
}
