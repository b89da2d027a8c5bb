//! Compares what a reader accounted for with the file's own count of records, so that nothing vanishes silently whatever
//! the format: each record is read, or the reader knows why it is not.

use super::{Format, Input, Parsed, Warning, json, jsonl};
use crate::progress::{Cancelled, Progress};
use crate::session::{Pieces as _, Span};
use std::collections::BTreeSet;

/// No conversation lies deeper in a document than this.
const DEEPEST: usize = 8;

/// A warning where the file holds more records than its reader accounted for.
pub(super) fn check(
    input: &Input,
    format: &Format,
    parsed: &Parsed,
    progress: &Progress,
) -> Result<Option<Warning>, Cancelled> {
    let counted: usize = parsed.report.records.values().map(|n| n.count).sum();
    let n = n_records(input, format, parsed, counted, progress)?;
    let missing = n.saturating_sub(counted);
    Ok((missing > 0).then(|| {
        let (verb, end) = if missing == 1 {
            ("was", "")
        } else {
            ("were", "s")
        };
        Warning {
            line: None,
            text: format!("{missing} of {n} record{end} {verb} not read and not recognized"),
        }
    }))
}

/// How many records the file holds where that may be more than were `counted`; else 0.
fn n_records(
    input: &Input,
    format: &Format,
    parsed: &Parsed,
    counted: usize,
    progress: &Progress,
) -> Result<usize, Cancelled> {
    let bytes = &input.bytes;
    let start = bytes.piece(&(0..bytes.len().min(START)));
    let start = start[jsonl::text_start(&start)..].trim_ascii_start();
    if !start.starts_with(b"{") && !start.starts_with(b"[") {
        return Ok(0);
    }
    // Few lines hold more than one record, so that most files need not be read again.
    let n_lines = bytes.line_ends(&(0..bytes.len())) + 1;
    if n_lines > 1 && n_lines <= counted {
        return Ok(0);
    }
    if !format.in_pieces {
        let whole = bytes.whole();
        let document = json::document_span(&whole);
        if json::is_one_value(&whole[document.clone()]) {
            let messages = parsed.sessions.iter().flat_map(|s| &s.messages);
            let starts = messages.flat_map(|m| &m.raw).map(|span| span.start);
            return Ok(listed(&whole, &document, &starts.collect(), 0));
        }
    }
    let records = jsonl::map_records(bytes, progress, u64::MAX, &mut Vec::new(), |_| ())?;
    Ok(records.len())
}

/// Bytes that tell whether a file is JSON.
const START: usize = 4096;

/// Elements of the lists in which messages of the conversations stand, at whatever depth.
fn listed(bytes: &[u8], value: &Span, starts: &BTreeSet<usize>, depth: usize) -> usize {
    let holds_any = |span: &Span| starts.range(span.clone()).next().is_some();
    if depth > DEEPEST || !holds_any(value) {
        return 0;
    }
    let deeper = |span: &Span| listed(bytes, span, starts, depth + 1);
    if let Some(elements) = json::elements(bytes, value) {
        return if elements
            .iter()
            .any(|element| starts.contains(&element.start))
        {
            elements.len()
        } else {
            elements.iter().map(deeper).sum()
        };
    }
    let members = json::members(bytes, value).unwrap_or_default();
    members.iter().map(|(_, span)| deeper(span)).sum()
}
