//! HTTP archives, as browsers and proxies write them.
//!
//! <http://www.softwareishard.com/blog/har-12-spec/>

use super::websocket::{self, Frame};
use crate::formats::captures::exchange::{Captured, Exchange};
use crate::formats::captures::response::Response;
use crate::formats::json;
use crate::formats::read_log::ReadLog;
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::Span;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;

/// Returns the entries of an archive.
pub(super) fn entries(document: &Value) -> Option<&Vec<Value>> {
    json::at(document, &["log", "entries"])?.as_array()
}

/// Returns the spans of the entries of an archive.
pub(super) fn entry_spans(bytes: &[u8], document: &Span) -> Option<Vec<Span>> {
    let log = json::member(bytes, document, "log")?;
    json::elements(bytes, &json::member(bytes, &log, "entries")?)
}

/// Reads the exchanges of all entries.
pub(super) fn read(
    bytes: &[u8],
    entries: &[Span],
    progress: &Progress,
    log: &mut ReadLog,
) -> Result<Vec<Captured>, Cancelled> {
    let each = |span: &Span| {
        progress.check_cancelled()?;
        progress.advance(span.len() as u64 / json::DOCUMENT_PASSES);
        let Some(entry) = json::parse_span(bytes, span) else {
            return Ok((true, Vec::new()));
        };
        let captured: Vec<Captured> =
            exchanges(&entry).into_iter().map(Exchange::captured).collect();
        Ok((false, if captured.is_empty() { vec![Captured::Other] } else { captured }))
    };
    let read: Vec<(bool, Vec<Captured>)> =
        entries.par_iter().map(each).collect::<Result<_, Cancelled>>()?;
    let mut all = Vec::with_capacity(read.len());
    for ((is_deep, captured), span) in read.into_iter().zip(entries) {
        if is_deep {
            log.notes.add(span.start, "this entry nests too deep to be read");
        }
        all.extend(captured);
    }
    Ok(all)
}

/// Returns the exchanges of an entry: one, or those of a websocket.
pub(super) fn exchanges(entry: &Value) -> Vec<Exchange> {
    let field = |path: &[&str]| json::str_at(entry, path);
    let path = Exchange::path_of(field(&["request", "url"]).unwrap_or_default());
    let time = json::millis_at(entry, &["startedDateTime"]);
    if let Some(messages) = entry.get("_webSocketMessages").and_then(Value::as_array) {
        let frame = |message: &Value| {
            Some(Frame {
                is_request: matches!(json::str_at(message, &["type"]), Some("send" | "request")),
                text: json::str_at(message, &["data"])?.to_owned(),
                time: json::millis_at(message, &["time"]),
            })
        };
        return websocket::exchanges(&path, messages.iter().filter_map(frame));
    }
    let request = field(&["request", "postData", "text"]).unwrap_or_default();
    let Ok(request) = json::parse_lenient(request.as_bytes()) else {
        return Vec::new();
    };
    let text = field(&["response", "content", "text"]).unwrap_or_default();
    let decoded = match field(&["response", "content", "encoding"]) {
        Some("base64") => STANDARD.decode(text).ok(),
        _ => None,
    };
    let response = match decoded {
        Some(bytes) => Response::of_text(&String::from_utf8_lossy(&bytes)),
        None => Response::of_text(text),
    };
    let status = json::u64_at(entry, &["response", "status"]);
    vec![Exchange { time, path, request, response, status }]
}
