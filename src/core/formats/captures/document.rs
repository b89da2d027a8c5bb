//! The document of the exchanges: JSON Lines with the request and the whole answer of each model call.
//!
//! It contains what the model was sent and what it answered, and nothing else of the file: no headers, no addresses.

use super::exchange::{CallLine, Captured};
use super::wires::Wire;
use crate::formats::read_log::ReadLog;
use crate::json::Value;
use crate::session::Span;
use crate::units::Millis;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A line of the document.
#[derive(Debug)]
pub(super) struct CallPlace {
    /// Byte span of the line.
    pub(super) span: Span,
    /// API.
    pub(super) wire: &'static Wire,
    /// Time of the request.
    pub(super) time: Option<Millis>,
}

/// Writes the document of the exchanges of a file in chronological order, and counts its records.
pub(super) fn write(captured: Vec<Captured>, log: &mut ReadLog) -> (Vec<u8>, Vec<CallPlace>) {
    let mut calls: Vec<Box<CallLine>> = Vec::with_capacity(captured.len());
    for record in captured {
        match record {
            Captured::Call(call) => calls.push(call),
            Captured::Failed => log.report.count_record("request (failed)", false),
            Captured::Other => log.report.count_record("other", false),
        }
    }
    // Logs are often written in the order of the answers.
    if calls.iter().all(|call| call.time.is_some()) {
        calls.sort_by_key(|call| call.time);
    }
    let texts: Vec<String> = calls.iter().map(|call| call.request.to_string()).collect();
    let answered: HashSet<u64> = calls
        .iter()
        .zip(&texts)
        .filter(|(call, _)| !call.response.is_null())
        .map(|(_, text)| hash(text))
        .collect();
    let mut document = Vec::new();
    let mut places = Vec::with_capacity(calls.len());
    for (call, text) in calls.iter().zip(texts) {
        // An interrupted attempt that was repeated.
        if call.response.is_null() && answered.contains(&hash(&text)) {
            log.report.count_record("request (failed)", false);
            continue;
        }
        log.report.count_record(&format!("request/{}", call.wire.dialect.name), true);
        let start = document.len();
        document.extend_from_slice(b"{");
        if let Some(Millis(time)) = call.time {
            document.extend_from_slice(format!("\"time\":{time},").as_bytes());
        }
        let api = Value::from(call.wire.dialect.name);
        let response = &call.response;
        let rest = format!("\"api\":{api},\"request\":{text},\"response\":{response}}}");
        document.extend_from_slice(rest.as_bytes());
        let span = start..document.len();
        places.push(CallPlace { span, wire: call.wire, time: call.time });
        document.push(b'\n');
    }
    (document, places)
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
