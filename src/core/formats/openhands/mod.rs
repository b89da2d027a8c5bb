//! `OpenHands`: events of version 0 (and evaluations that contain them) and events of the SDK.

mod sdk;
mod totals;
mod v0;
mod view;

pub(super) use sdk::SDK;
pub(super) use v0::V0;

use super::folder::{self, FolderFile};
use super::json;
use super::jsonl;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use crate::progress::{Cancelled, Progress};

/// Returns the records of a file: the elements of a list, one document, or JSON Lines.
fn records(bytes: &[u8], progress: &Progress, log: &mut ReadLog) -> Result<Vec<Row>, Cancelled> {
    let whole = json::document_span(bytes);
    if !json::is_one_value(&bytes[whole.clone()]) {
        return jsonl::map_records(bytes, progress, 1, &mut log.warnings, Row::from);
    }
    if json::elements(bytes, &whole).is_some() {
        return rows::rows_at(bytes, &whole, &[], progress, &mut log.notes);
    }
    let value = json::parse_span(bytes, &whole).unwrap_or_else(|| {
        let note = "this record nests too deep to be read";
        log.notes.add(whole.start, note);
        crate::json::Value::Null
    });
    Ok(vec![Row { value, span: whole }])
}

/// Combines events with one file each, in the order of their numbers. A file is named `12.json` or `event-00012-ID.json`.
fn combined_events(files: &[FolderFile]) -> Option<Vec<u8>> {
    let number = |file: &FolderFile| {
        let name = file.file_name().strip_suffix(".json")?;
        let name = name.strip_prefix("event-").unwrap_or(name);
        let end = name.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = name.split_at(end.unwrap_or(name.len()));
        digits.parse::<u64>().ok().filter(|_| !rest.contains('.'))
    };
    let numbered = files.iter().filter_map(|file| Some((number(file)?, file)));
    let mut events: Vec<(u64, &FolderFile)> = numbered.collect();
    events.sort_by_key(|(number, file)| (*number, file.file_name()));
    let events = events.into_iter().map(|(_, file)| file.value());
    (events.len() > 0).then(|| folder::json_list(events))
}
