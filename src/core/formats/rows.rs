//! The records of a JSON document: the elements of its lists with their byte ranges, parsed on all cores.

use crate::formats::notes::Notes;
use crate::formats::read_log::ReadLog;
use crate::formats::{json, jsonl};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::{FileBytes, Span};
use rayon::prelude::*;

/// A value with its byte range in the file.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Byte range in the file.
    pub(crate) span: Span,
    /// The parsed value.
    pub(crate) value: Value,
}

impl From<jsonl::Record> for Row {
    fn from(record: jsonl::Record) -> Self {
        Self { span: record.span, value: record.value }
    }
}

/// Parses the elements of the array at the end of a path of members of the value at `span`, which is itself the array if
/// the path is empty. Returns none if there is no array. Elements nested too deeply are reported in `notes`. Advances
/// `progress` by their share of the bytes.
pub(crate) fn rows_at(
    bytes: &[u8],
    span: &Span,
    path: &[&str],
    progress: &Progress,
    notes: &mut Notes,
) -> Result<Vec<Row>, Cancelled> {
    let list = path.iter().try_fold(span.clone(), |here, key| json::member(bytes, &here, key));
    let elements = list.and_then(|list| json::elements(bytes, &list));
    let parsed: Vec<(Span, Option<Value>)> = elements
        .unwrap_or_default()
        .into_par_iter()
        .map(|span| {
            progress.check_cancelled()?;
            progress.advance(span.len() as u64 / json::DOCUMENT_PASSES);
            let value = json::parse_span(bytes, &span);
            Ok((span, value))
        })
        .collect::<Result<_, Cancelled>>()?;
    let mut rows = Vec::with_capacity(parsed.len());
    for (span, value) in parsed {
        match value {
            Some(value) => rows.push(Row { span, value }),
            None => notes.add(span.start, "this record nests too deep to be read"),
        }
    }
    Ok(rows)
}

/// Maps all records of a file: the elements of its list, if the file is one, or its lines. Problems are added to `log`.
pub(crate) fn map_rows<T: Send>(
    bytes: &FileBytes,
    progress: &Progress,
    log: &mut ReadLog,
    each: impl Fn(Row) -> T + Sync,
) -> Result<Vec<T>, Cancelled> {
    let whole = bytes.whole();
    let document = json::document_span(&whole);
    if whole.get(document.start) == Some(&b'[') && json::is_one_value(&whole[document.clone()]) {
        let rows = rows_at(&whole, &document, &[], progress, &mut log.notes)?;
        return Ok(rows.into_par_iter().map(&each).collect());
    }
    let each = |record: jsonl::Record| each(record.into());
    jsonl::map_records(bytes, progress, 1, &mut log.warnings, each)
}

/// Parses the members of an object except the given lists.
pub(crate) fn members_except(bytes: &[u8], span: &Span, lists: &[&str]) -> Value {
    let members = json::members(bytes, span).unwrap_or_default();
    let others = members.into_iter().filter(|(key, _)| !lists.contains(&&**key));
    let parsed = others.filter_map(|(key, span)| Some((key, json::parse_span(bytes, &span)?)));
    Value::Object(parsed.collect())
}
