//! Logs with a record for each exchange: claude-trace, claude-tap, gateways, and programs of one's own.
//!
//! A record has the request and the answer as HTTP messages (`request.body`, `response.body`), as bodies (`request`,
//! `response`), or the answer next to the members of the request (`LiteLLM`).

use crate::formats::captures::exchange::Exchange;
use crate::formats::captures::response::Response;
use crate::formats::captures::wires::Wire;
use crate::formats::{content, json};
use crate::json::{Map, Value};
use crate::units::Millis;
use std::borrow::Cow;

/// Members with the body of a request within its HTTP message.
const BODIES: [&str; 5] = ["body", "body_raw", "json", "data", "content"];
/// Members with the body of an answer within its HTTP message, or with its events.
const ANSWERS: [&str; 9] =
    ["body_raw", "body", "json", "data", "content", "sse_events", "ws_events", "events", "chunks"];
/// Paths with the address of a request.
const ADDRESSES: [&[&str]; 6] = [
    &["request", "url"],
    &["request", "path"],
    &["url"],
    &["path"],
    &["endpoint"],
    &["request", "endpoint"],
];
/// Paths with the time of a request.
const TIMES: [&[&str]; 9] = [
    &["request", "timestamp"],
    &["request", "time"],
    &["timestamp"],
    &["startTime"],
    &["start_time"],
    &["time"],
    &["ts"],
    &["created_at"],
    &["logged_at"],
];
/// Paths with the status of an answer.
const STATUSES: [&[&str]; 4] =
    [&["response", "status"], &["response", "status_code"], &["status_code"], &["status"]];

/// Returns whether a record holds HTTP messages, which only captures do.
pub(super) fn is_http(record: &Value) -> bool {
    let request = record.get("request").unwrap_or(&Value::Null);
    let is_body =
        |key: &&str| request.get(key).is_some_and(|body| body.is_object() || body.is_string());
    let is_message = BODIES.iter().any(is_body)
        && ["method", "url", "path", "headers", "timestamp"]
            .iter()
            .any(|key| request.get(key).is_some());
    let has_bodies = record.get("request_body").is_some()
        && (record.get("response_body").is_some() || record.get("response").is_some());
    is_message || has_bodies
}

/// Returns whether records are a log of calls that repeat each other: one request begins with all messages of an earlier
/// one. Data sets of conversations have records of the same form that do not.
pub(super) fn is_log(records: &[&Value]) -> bool {
    /// Number of records before one that it is compared with.
    // Chosen: requests of a few agents at a time.
    const NEAR: usize = 8;
    let contexts: Vec<Vec<&Value>> = records.iter().filter_map(|record| context(record)).collect();
    let extends = |later: &[&Value], earlier: &[&Value]| {
        later.len() > earlier.len() && earlier.iter().zip(later).all(|(a, b)| a == b)
    };
    contexts.iter().enumerate().any(|(at, later)| {
        let earlier = contexts[..at].iter().rev().take(NEAR);
        let own = |list: &[&Value]| list.iter().any(|m| json::str_at(m, &["role"]) == Some("user"));
        earlier.into_iter().any(|earlier| own(earlier) && extends(later, earlier))
    })
}

/// Returns the messages of a record with a request and an answer.
fn context(record: &Value) -> Option<Vec<&Value>> {
    let response = record.get("response").filter(|response| !response.is_null())?;
    let is_answer = ["choices", "content", "output", "candidates"]
        .iter()
        .any(|key| response.get(key).is_some());
    let request = record.get("request").unwrap_or(record);
    let list =
        ["messages", "input", "contents"].iter().find_map(|key| request.get(key)?.as_array())?;
    is_answer.then(|| list.iter().collect())
}

/// Returns the exchanges of a record: none or one.
pub(super) fn exchanges(record: &Value) -> Vec<Exchange> {
    let Some(request) = request(record) else {
        return Vec::new();
    };
    let text = |paths: &[&[&str]]| paths.iter().find_map(|path| json::str_at(record, path));
    let time: Option<Millis> = TIMES.iter().find_map(|path| json::millis_at(record, path));
    vec![Exchange {
        time,
        path: Exchange::path_of(text(&ADDRESSES).unwrap_or_default()),
        request: request.into_owned(),
        response: response(record),
        status: STATUSES.iter().find_map(|path| json::u64_at(record, path)),
    }]
}

/// Returns the body of the request: in an HTTP message, as a member of the record, or the record itself.
fn request(record: &Value) -> Option<Cow<'_, Value>> {
    let is_body = |value: &Value| Wire::of("", value, None).is_some();
    let parsed =
        |value: &'_ Value| -> Option<Value> { crate::json::from_str(value.as_str()?).ok() };
    if let Some(request) = content::first(record, &["request", "request_body", "req"]) {
        let inner = BODIES.iter().filter_map(|key| request.get(key));
        for value in std::iter::once(request).chain(inner) {
            if is_body(value) {
                return Some(Cow::Borrowed(value));
            }
            if let Some(value) = parsed(value).filter(is_body) {
                return Some(Cow::Owned(value));
            }
        }
        return None;
    }
    if !is_body(record) {
        return None;
    }
    // The answer is no member of the request.
    let own = record.as_object()?.iter().filter(|(key, _)| key.as_str() != "response");
    let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    Some(Cow::Owned(own.into()))
}

fn response(record: &Value) -> Option<Response> {
    let response = content::first(record, &["response", "response_body", "res"])?;
    let is_whole = ["choices", "candidates", "output", "usage", "usageMetadata", "error"]
        .iter()
        .any(|key| response.get(key).is_some());
    if is_whole {
        return Response::of_value(response);
    }
    let of_member = |key: &&str| {
        let value = response.get(key).filter(|value| !value.is_null())?;
        let found = Response::of_value(value)?;
        let is_empty = matches!(&found, Response::Events(events) if events.is_empty());
        (!is_empty).then_some(found)
    };
    let found = ANSWERS.iter().find_map(of_member);
    found.or_else(|| Response::of_value(response))
}
