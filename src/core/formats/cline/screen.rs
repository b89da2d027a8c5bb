//! The task's display messages, which record the usage of every call. Classic histories lack it.

use crate::formats::{counts, json};
use crate::json::Value;
use crate::session::{CallsFrom, Session, Usage};
use crate::units::{Millis, Tokens};

/// File name of the display messages, present if the whole folder was opened.
const FILE: &str = "ui_messages.json";

/// Returns the usage of the calls, each with its time.
pub(super) fn usages(bytes: &[u8]) -> Vec<(Millis, Usage)> {
    let whole = json::document_span(bytes);
    let file = json::member(bytes, &whole, FILE).and_then(|place| json::parse_span(bytes, &place));
    let messages = file.as_ref().and_then(Value::as_array);
    messages.into_iter().flatten().filter_map(call).collect()
}

/// Returns the usage of a call, whose text is JSON. Cache reads and writes are recorded separately from the input.
fn call(message: &Value) -> Option<(Millis, Usage)> {
    if json::str_at(message, &["say"]) != Some("api_req_started") {
        return None;
    }
    let request: Value = crate::json::from_str(json::str_at(message, &["text"])?).ok()?;
    let count = |key| counts::tokens_at(&request, &[key]);
    let (read, write) = (count("cacheReads"), count("cacheWrites"));
    let input: Tokens = [count("tokensIn"), read, write].into_iter().flatten().sum();
    let usage = Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("tokensOut"),
        ..Usage::default()
    };
    let usage = counts::checked_usage(Some(usage)).ok().flatten();
    Some((json::millis_at(message, &["ts"])?, usage.filter(|u| u.input > Tokens::ZERO)?))
}

/// Assigns to each call without a usage that of the last call started before its answer.
pub(super) fn apply(session: &mut Session, calls: &[(Millis, Usage)]) {
    let mut rest = calls.iter().peekable();
    for message in &session.messages {
        let (Some(call), Some(time)) = (message.call, message.time) else {
            continue;
        };
        let mut found = None;
        while let Some((_, usage)) = rest.next_if(|(at, _)| at.0 <= time.0) {
            found = Some(*usage);
        }
        if let (Some(call), Some(usage)) = (session.calls.get_mut(call), found) {
            call.usage.get_or_insert(usage);
            session.calls_from = CallsFrom::Recorded;
        }
    }
}
