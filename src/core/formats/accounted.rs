//! Compares the records that a reader accounted for with the file's own count, so that no record is lost silently.

use super::byte_order_mark::text_start;
use super::{Format, Input, Parsed, RecordCount, Warning, json, jsonl};
use crate::progress::{Cancelled, Progress};
use crate::session::{Pieces as _, Span};
use serde::de::IgnoredAny;
use std::collections::BTreeSet;

/// Maximum depth in a document at which conversations are searched.
// Chosen: the readers look at most four levels deep (`PIECES_WITHIN` in `json/parse.rs`). A deeper search costs time
// only.
const MAX_DEPTH: usize = 8;

/// Returns a warning if the file holds more records than its reader accounted for. Returns another one if some messages
/// were not read although the reader reported nothing unusual.
pub(super) fn check(
    input: &Input,
    format: &Format,
    parsed: &Parsed,
    progress: &Progress,
) -> Result<Vec<Warning>, Cancelled> {
    let records = &parsed.report.records;
    let counted: usize = records.values().map(|n| n.count).sum();
    let n = n_records(input, format, parsed, counted, progress)?;
    let missing = (n > counted).then(|| {
        format!(
            "{} of {n} records {} not read and not recognized",
            n - counted,
            if n - counted == 1 { "was" } else { "were" }
        )
    });
    let is_message = |(kind, _): &(&String, &RecordCount)| MESSAGES.contains(&kind.as_str());
    let messages = || records.iter().filter(is_message).map(|(_, n)| n);
    let n_messages: usize = messages().map(|n| n.count).sum();
    let n_kept: usize = messages().map(|n| n.in_context).sum();
    let is_odd = n_kept > 0 && n_kept < n_messages && parsed.warnings.is_empty();
    let n_read = if is_odd { starts(parsed).len() } else { n_messages };
    let silent = (n_read < n_messages).then(|| {
        format!(
            "{} of {n_messages} messages {} not part of the conversation",
            n_messages - n_read,
            if n_messages - n_read == 1 { "is" } else { "are" }
        )
    });
    let warning = |text| Warning { line: None, text };
    Ok(missing.into_iter().chain(silent).map(warning).collect())
}

/// Returns the start offsets of the records from which messages were read.
fn starts(parsed: &Parsed) -> BTreeSet<usize> {
    let messages = parsed.sessions.iter().flat_map(|s| &s.messages);
    messages.flat_map(|m| &m.raw).map(|span| span.start).collect()
}

/// Kinds of records that are messages in many formats.
const MESSAGES: [&str; 9] = [
    "agent",
    "answer",
    "assistant",
    "assistant.message",
    "message",
    "system",
    "tool",
    "user",
    "user.message",
];

/// Returns the number of records in the file if it may exceed `counted`, else 0.
fn n_records(
    input: &Input,
    format: &Format,
    parsed: &Parsed,
    counted: usize,
    progress: &Progress,
) -> Result<usize, Cancelled> {
    // Some readers write a document of their own, in which the messages are found.
    let bytes = parsed.sessions.first().map_or(&input.bytes, |session| &session.source.bytes);
    let start = bytes.piece(&(0..bytes.len().min(START)));
    let start = start[text_start(&start)..].trim_ascii_start();
    if !start.starts_with(b"{") && !start.starts_with(b"[") {
        return Ok(0);
    }
    // Few lines hold more than one record, so that most files need not be read again.
    let last = bytes.piece(&(bytes.len().saturating_sub(1)..bytes.len()));
    let n_lines = bytes.line_ends(&(0..bytes.len())) + usize::from(*last != *b"\n");
    if n_lines > 1 && n_lines <= counted {
        return Ok(0);
    }
    if !format.reads_in_pieces {
        let whole = bytes.whole();
        let document = json::document_span(&whole);
        if n_lines == 1 || json::is_one_value(&whole[document.clone()]) {
            return Ok(count_listed(&whole, &document, &starts(parsed), 0));
        }
    }
    let is_record = |text: &[u8], _: &Span, _| {
        let read: Result<IgnoredAny, _> = serde_json::from_slice(text);
        read.ok().map(|_| ())
    };
    let (passes, warnings) = (u64::MAX, &mut Vec::new());
    let records = jsonl::map_texts(bytes, progress, passes, warnings, is_record, |_, _| ())?;
    Ok(records.len())
}

/// Number of leading bytes that decide whether a file is JSON.
// Chosen: only white space may precede the first bracket.
const START: usize = 4096;

/// Counts the elements of the lists that contain messages of the conversations, at any depth.
fn count_listed(bytes: &[u8], value: &Span, starts: &BTreeSet<usize>, depth: usize) -> usize {
    let holds_any = |span: &Span| starts.range(span.clone()).next().is_some();
    if depth > MAX_DEPTH || !holds_any(value) {
        return 0;
    }
    let deeper = |span: &Span| count_listed(bytes, span, starts, depth + 1);
    if let Some(elements) = json::elements(bytes, value) {
        return if elements.iter().any(|element| starts.contains(&element.start)) {
            elements.len()
        } else {
            elements.iter().map(deeper).sum()
        };
    }
    let members = json::members(bytes, value).unwrap_or_default();
    members.iter().map(|(_, span)| deeper(span)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{ImportReport, by_name, parse};

    /// Returns the warnings for a file whose reader accounted for `counts.0` `user` records, `counts.1` of them
    /// context.
    fn warnings(text: &str, format: &str, counts: (usize, usize)) -> Vec<String> {
        let input = Input { name: "file".to_owned(), bytes: text.as_bytes().to_vec().into() };
        let mut parsed = parse(&input).unwrap();
        parsed.warnings.clear();
        parsed.report = ImportReport::default();
        let (count, in_context) = counts;
        let counts = RecordCount { count, in_context };
        parsed.report.records.insert("user".to_owned(), counts);
        let format = by_name(format).unwrap();
        let found = check(&input, format, &parsed, &Progress::default());
        found.unwrap().into_iter().map(|w| w.text).collect()
    }

    const MESSAGE: &str = r#"{"role": "user", "content": "Hi"}"#;

    #[test]
    fn warns_of_records_missing_from_the_report_in_lines_and_documents() {
        let lines = format!("{MESSAGE}\n\n{MESSAGE}\n{MESSAGE}\ntorn");
        let list = format!("[{MESSAGE}, {MESSAGE}, {MESSAGE}]");
        let within = format!(r#"{{"messages": {list}, "others": [1, 2, 3, 4, 5, 6]}}"#);
        for text in [lines, list, within] {
            assert_eq!(warnings(&text, "openai_chat", (3, 3)), [""; 0], "{text}");
            assert_eq!(
                warnings(&text, "openai_chat", (2, 2)),
                ["1 of 3 records was not read and not recognized"],
                "{text}"
            );
        }
    }

    #[test]
    fn warns_of_messages_that_were_not_read_if_others_were() {
        let text = format!("{MESSAGE}\n{MESSAGE}\n");
        assert_eq!(
            warnings(&text, "openai_chat", (3, 2)),
            ["1 of 3 messages is not part of the conversation"]
        );
        assert_eq!(warnings(&text, "openai_chat", (2, 1)), [""; 0]);
        assert_eq!(warnings(&text, "openai_chat", (3, 0)), [""; 0]);
    }
}
