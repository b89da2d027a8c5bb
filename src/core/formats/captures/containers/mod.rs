//! The files that hold exchanges.

mod encodings;
mod flows;
mod har;
mod pairs;
mod websocket;

use super::exchange::{Captured, Exchange};
use crate::formats::read_log::ReadLog;
use crate::formats::rows::map_rows;
use crate::formats::{Input, Probe, json, tnetstring};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};

/// Returns the evidence that a file is a capture with a request to a model.
pub(super) fn detect(probe: &Probe) -> Option<String> {
    if let Some(text) = probe.text() {
        let is_flows = tnetstring::is_start(text.as_bytes()) && text.contains("7:request;");
        return is_flows.then(|| "flows of mitmproxy".to_owned());
    }
    let document = probe.document();
    if let Some(entries) = document.and_then(har::entries) {
        let has_call = entries.iter().flat_map(har::exchanges).any(is_call);
        return has_call.then(|| "an HTTP archive with a request to a model".to_owned());
    }
    let records: Vec<&Value> = match document {
        Some(Value::Array(list)) => list.iter().collect(),
        _ => probe.records().iter().map(|r| &r.value).collect(),
    };
    let has_call = |record: &&Value| {
        pairs::is_http(record) && pairs::exchanges(record).into_iter().any(is_call)
    };
    if records.iter().any(has_call) {
        return Some("records of a request to a model and its answer".to_owned());
    }
    pairs::is_log(&records).then(|| "records of requests that repeat each other".to_owned())
}

fn is_call(exchange: Exchange) -> bool {
    matches!(exchange.captured(), Captured::Call(_))
}

/// Reads the exchanges of a file.
pub(super) fn read(
    input: &Input,
    progress: &Progress,
    log: &mut ReadLog,
) -> Result<Vec<Captured>, Cancelled> {
    let bytes = input.bytes.whole();
    if tnetstring::is_start(&bytes) {
        return flows::read(&bytes, progress, log);
    }
    let document = json::document_span(&bytes);
    if let Some(entries) = har::entry_spans(&bytes, &document) {
        return har::read(&bytes, &entries, progress, log);
    }
    let read = |exchanges: Vec<Exchange>| {
        let captured: Vec<Captured> = exchanges.into_iter().map(Exchange::captured).collect();
        if captured.is_empty() { vec![Captured::Other] } else { captured }
    };
    let records = map_rows(&input.bytes, progress, log, |row| read(pairs::exchanges(&row.value)))?;
    Ok(records.into_iter().flatten().collect())
}
