//! Reads the records of one line. Most lines have one record; of an invalid line, all readable records are returned.

use super::Record;
use super::lines::Line;
use super::problem::Problem;
use crate::formats::json;
use crate::session::Span;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// Maximum number of attempts to find a record after invalid text on the same line.
const MAX_RESYNCS: usize = 8;

pub(super) fn read_line(line: &Line<'_>) -> (Vec<Record>, Vec<Problem>) {
    if json::has_too_many_values(line.text) {
        return (Vec::new(), vec![Problem::Bad(json::too_many_values())]);
    }
    if let Ok(value) = serde_json::from_slice(line.text) {
        return (
            vec![Record {
                span: line.span.clone(),
                line: line.number,
                value,
            }],
            Vec::new(),
        );
    }
    read_odd_line(line)
}

/// Reads a line that is not one valid record: concatenated, truncated, damaged or not JSON at all.
fn read_odd_line(line: &Line<'_>) -> (Vec<Record>, Vec<Problem>) {
    let mut problems = Vec::new();
    let text = without_nul(line.text);
    if matches!(text, Cow::Owned(_)) {
        problems.push(Problem::Nul);
        if text.trim_ascii().is_empty() {
            return (Vec::new(), problems);
        }
    }
    if std::str::from_utf8(&text).is_err() {
        problems.push(Problem::NotUtf8);
    }
    let (spans, broken) = split(&text, !line.is_open);
    let mut records = Vec::new();
    for span in spans {
        match json::parse_lenient(&text[span.clone()]) {
            Ok(value) => {
                let span = line.span.start + span.start..line.span.start + span.end;
                records.push(Record {
                    span,
                    line: line.number,
                    value,
                });
            }
            Err(error) => problems.push(Problem::Bad(error.to_string())),
        }
    }
    if records.len() > 1 {
        problems.push(Problem::Concatenated(records.len()));
    }
    match broken {
        Some((at, error)) if line.is_open && error.is_eof() => {
            problems.push(Problem::Torn(text.len() - at));
        }
        Some((_, error)) => problems.push(Problem::Bad(error.to_string())),
        None => {}
    }
    (records, problems)
}

/// Replaces NUL bytes by spaces, which are harmless inside and outside strings and keep all offsets.
fn without_nul(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&0) {
        return Cow::Borrowed(text);
    }
    text.iter()
        .map(|b| if *b == 0 { b' ' } else { *b })
        .collect::<Vec<_>>()
        .into()
}

/// Returns the byte ranges of a line's values, and the position and reason of the first error.
fn split(text: &[u8], resync: bool) -> (Vec<Span>, Option<(usize, serde_json::Error)>) {
    let (mut spans, broken) = values(text, 0);
    let Some((at, error)) = broken else {
        return (spans, None);
    };
    if resync {
        // A program crashed while it wrote, and the next one continued on the same line.
        let starts = text[at..]
            .windows(2)
            .enumerate()
            .skip(1)
            .filter(|(_, w)| *w == b"{\"");
        for (offset, _) in starts.take(MAX_RESYNCS) {
            let (found, rest) = values(text, at + offset);
            if rest.is_none() {
                spans.extend(found);
                break;
            }
        }
    }
    (spans, Some((at, error)))
}

/// Returns the byte ranges of the consecutive values from `start`. Strings are not decoded, so that values with text
/// that no `String` can hold are found as well.
fn values(text: &[u8], start: usize) -> (Vec<Span>, Option<(usize, serde_json::Error)>) {
    let mut spans = Vec::new();
    let mut stream = serde_json::Deserializer::from_slice(&text[start..]).into_iter::<IgnoredAny>();
    loop {
        let from = start + stream.byte_offset();
        let from = from + text[from..].len() - text[from..].trim_ascii_start().len();
        match stream.next() {
            None => return (spans, None),
            Some(Ok(_)) => spans.push(from..start + stream.byte_offset()),
            Some(Err(error)) => return (spans, Some((from, error))),
        }
    }
}
