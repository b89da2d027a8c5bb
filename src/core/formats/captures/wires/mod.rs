//! The APIs of models whose requests and answers are read.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use super::response::Response;
use crate::formats::json;
use crate::formats::message_list::Dialect;
use crate::json::Value;
use crate::session::{CallDraft, Span};

/// An API.
#[derive(Debug)]
pub(super) struct Wire {
    /// Reads its messages.
    pub(super) dialect: &'static Dialect,
    /// Member of a request that lists the messages.
    pub(super) list: &'static str,
    /// Path to the answer in a response: a message, or a list of items.
    answer: &'static [&'static str],
    /// Ends of the paths of its addresses.
    paths: &'static [&'static str],
    /// Returns whether a request may be one of this API.
    is_request: fn(&Value) -> bool,
    /// Returns whether a request is none of another API.
    is_own_request: fn(&Value) -> bool,
    /// Returns whether a whole response, or an event of one, has the form of this API.
    is_response: fn(&Value) -> bool,
    /// Returns a request with its messages in `list`.
    pub(super) request: fn(Value) -> Value,
    /// Returns a whole response with its answer at `answer`.
    pub(super) whole: fn(Value) -> Value,
    /// Joins the events of a stream to a whole response.
    pub(super) join: fn(Vec<Value>) -> Value,
    /// Returns the call that a response reports, if it reports usage.
    pub(super) call: fn(&Value) -> Option<CallDraft>,
}

/// All APIs, the most general one last.
static WIRES: [&Wire; 4] = [&gemini::WIRE, &responses::WIRE, &anthropic::WIRE, &chat::WIRE];

/// Parts of addresses that are no model calls although their requests look like those.
const NO_CALLS: [&str; 7] = [
    "count_tokens",
    "countTokens",
    "embed",
    "moderations",
    "/batches",
    "input_tokens",
    "input_items",
];

impl Wire {
    /// Returns the API of an exchange, if it is a model call.
    pub(super) fn of(
        path: &str,
        request: &Value,
        response: Option<&Response>,
    ) -> Option<&'static Self> {
        if !request.is_object() || NO_CALLS.iter().any(|part| path.contains(part)) {
            return None;
        }
        let is_response = |wire: &Self| match response {
            Some(Response::Whole(value)) => (wire.is_response)(value),
            Some(Response::Events(events)) => events.iter().any(wire.is_response),
            None => false,
        };
        let of_path = |wire: &Self| wire.paths.iter().any(|end| path.ends_with(end));
        let mut likely = WIRES.iter().filter(|wire| (wire.is_request)(request));
        let by_path = likely.clone().find(|wire| of_path(wire));
        let by_answer = || likely.clone().find(|wire| is_response(wire));
        let found = by_path.or_else(by_answer);
        let found = found.or_else(|| likely.clone().find(|wire| (wire.is_own_request)(request)));
        found.or_else(|| likely.next_back()).copied()
    }

    /// Returns the API of a whole response.
    pub(super) fn of_answer(response: &Value) -> Option<&'static Self> {
        WIRES.iter().find(|wire| (wire.is_response)(response)).copied()
    }

    /// Returns the spans of the messages or items of the answer in a response.
    pub(super) fn answers(&self, document: &[u8], response: &Span) -> Vec<Span> {
        let mut place = Some(response.clone());
        for key in self.answer {
            place = place.and_then(|place| match json::elements(document, &place) {
                Some(elements) => json::member(document, elements.first()?, key),
                None => json::member(document, &place, key),
            });
        }
        let Some(place) = place.filter(|place| document.get(place.start) != Some(&b'n')) else {
            return Vec::new();
        };
        json::elements(document, &place).unwrap_or_else(|| vec![place])
    }
}

/// Returns whether a value lists messages with roles.
fn has_roles(list: Option<&Value>) -> bool {
    let list = list.and_then(Value::as_array);
    list.is_some_and(|list| {
        !list.is_empty() && list.iter().all(|m| json::str_at(m, &["role"]).is_some())
    })
}

/// Returns a member of a value, moved out of it.
fn take(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

/// Appends a text to a member that holds one.
fn append(value: &mut Value, key: &str, more: &str) {
    let Some(members) = value.as_object_mut() else {
        return;
    };
    match members.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            members.insert(key.to_owned(), more.into());
        }
    }
}

/// Sets the members of `value` to those of `other`.
fn merge(value: &mut Value, other: Value) {
    if let (Some(members), Value::Object(other)) = (value.as_object_mut(), other) {
        members.extend(other.into_iter().filter(|(_, value)| !value.is_null()));
    }
}
