//! Reads the records of one line. Most lines have one record; of an invalid line, all readable records are returned.

use super::Record;
use super::lines::NumberedLine;
use super::problem::Problem;
use crate::formats::json;
use crate::session::Span;
use serde::de::IgnoredAny;
use std::borrow::Cow;

pub(super) fn read_line(line: &NumberedLine<'_>) -> (Vec<Record>, Vec<Problem>) {
    if json::has_too_many_values(line.text) {
        return (Vec::new(), vec![Problem::Bad(json::too_many_values())]);
    }
    if let Ok(value) = crate::json::from_slice(line.text) {
        return (vec![Record { span: line.span.clone(), line: line.number, value }], Vec::new());
    }
    read_odd_line(line)
}

/// Reads a line that is not one valid record: concatenated, truncated, damaged or not JSON at all.
fn read_odd_line(line: &NumberedLine<'_>) -> (Vec<Record>, Vec<Problem>) {
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
                records.push(Record { span, line: line.number, value });
            }
            Err(error) => problems.push(Problem::Bad(error.to_string())),
        }
    }
    if records.len() > 1 {
        problems.push(Problem::Concatenated(records.len()));
    }
    match broken {
        Some(broken) if line.is_open && broken.error.is_eof() => {
            problems.push(Problem::Torn(text.len() - broken.at));
        }
        Some(broken) => problems.push(Problem::Bad(broken.error.to_string())),
        None => {}
    }
    (records, problems)
}

/// Replaces NUL bytes by spaces, which are harmless inside and outside strings and keep all offsets.
fn without_nul(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&0) {
        return Cow::Borrowed(text);
    }
    text.iter().map(|b| if *b == 0 { b' ' } else { *b }).collect::<Vec<_>>().into()
}

/// The values of a line, and the error after them.
type Values = (Vec<Span>, Option<Broken>);

/// A value that could not be read.
struct Broken {
    /// Its position.
    at: usize,
    /// Position of the first byte that cannot continue it.
    invalid: usize,
    error: serde_json::Error,
}

/// Maximum distance between the start of a record and the byte after which a truncated record becomes invalid: `\u` of a
/// truncated text takes four bytes, and a quote in the next record ends a truncated text.
const MAX_OVERLAP: usize = 3;

/// Maximum number of positions after an error that are tried: each attempt may read the rest of the line. A record after a
/// truncated one is found at the first of them.
// Chosen: objects that begin within text of the truncated record are tried first. Without a limit, a line of many
// broken records would take quadratic time.
const MAX_ATTEMPTS: usize = 16;

/// Returns the byte ranges of a line's records and the first error.
///
/// A program may crash while it writes a record, and the next one continues on the same line. Every whole record after a
/// truncated one is found, but no object inside of the truncated one. The error of the parser says where the text stops
/// being JSON, and the next record begins at most [`MAX_OVERLAP`] bytes before that place.
fn split(text: &[u8], is_complete: bool) -> Values {
    let (mut spans, mut broken) = values(text, 0);
    let mut first = None;
    while let Some(error) = broken.take() {
        let found = if !error.error.is_eof() {
            next_records(text, &error)
        } else if is_complete {
            continued(text, error.at)
        } else {
            // The open last line ends within this record.
            None
        };
        if let Some((more, rest)) = found {
            spans.extend(more);
            broken = rest;
        }
        first.get_or_insert(error);
    }
    (spans, first)
}

/// Finds the next whole records after an error.
fn next_records(text: &[u8], broken: &Broken) -> Option<Values> {
    let mut lowest = broken.invalid.saturating_sub(MAX_OVERLAP).max(broken.at + 1);
    let mut n_attempts = 0;
    for start in record_starts(text, lowest) {
        if start < lowest {
            continue;
        }
        n_attempts += 1;
        if n_attempts > MAX_ATTEMPTS {
            break;
        }
        let (found, rest) = values(text, start);
        // The next record may be truncated, too. After an object inside of a record, a comma or a bracket follows.
        let is_start = |rest: &[u8]| rest.starts_with(b"{\"") || rest == b"{";
        let is_record = rest.as_ref().is_none_or(|rest| is_start(&text[rest.at..]));
        match found.last() {
            Some(_) if is_record => return Some((found, rest)),
            // The others of these values end at the same error.
            Some(last) if found.len() > 1 => lowest = last.end,
            _ => {}
        }
    }
    None
}

/// Finds whole records at the end of the text that the truncated record at `at` would continue with as one of its values. They
/// begin with its key, unlike most objects inside of a record.
fn continued(text: &[u8], at: usize) -> Option<Values> {
    let key = first_key(&text[at..])?;
    let starts = record_starts(text, at + 1).filter(|start| text[*start..].starts_with(key));
    starts.take(MAX_ATTEMPTS).find_map(|start| {
        let (found, rest) = values(text, start);
        rest.is_none().then_some((found, rest))
    })
}

/// Returns the beginning of an object up to its first key.
fn first_key(text: &[u8]) -> Option<&[u8]> {
    let key = text.strip_prefix(b"{\"")?;
    let end = memchr::memchr(b'"', key)?;
    Some(&text[..end + 3])
}

/// Finds the positions at which an object with a member may begin.
fn record_starts(text: &[u8], from: usize) -> impl Iterator<Item = usize> {
    memchr::memmem::find_iter(&text[from.min(text.len())..], b"{\"").map(move |at| from + at)
}

/// Returns the byte ranges of the consecutive values from `start`, and the error after them. Strings are not decoded, so
/// that values with text that no `String` can hold are found as well.
fn values(text: &[u8], start: usize) -> Values {
    let mut spans = Vec::new();
    let mut stream = serde_json::Deserializer::from_slice(&text[start..]).into_iter::<IgnoredAny>();
    loop {
        let from = start + stream.byte_offset();
        let from = from + text[from..].len() - text[from..].trim_ascii_start().len();
        match stream.next() {
            None => return (spans, None),
            Some(Ok(_)) => spans.push(from..start + stream.byte_offset()),
            Some(Err(error)) => {
                let invalid = from.max(start + error.column().saturating_sub(1));
                return (spans, Some(Broken { at: from, invalid, error }));
            }
        }
    }
}
