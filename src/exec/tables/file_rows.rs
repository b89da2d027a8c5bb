//! The rows of a file.

use super::inputs::{HashedFile, plain_reason};
use super::options::TableOptions;
use super::rows::{Conversation, FailureRow, TableRows, add, rows_of};
use super::schema::Rows;
use crate::exec::load::FileSessions;
use crate::progress::Progress;
use crate::units::Millis;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};

/// Day of a partition: `YYYY-MM-DD`, or `unknown`.
pub(super) type Day = String;

/// Day of rows whose time is not recorded.
pub(super) const UNKNOWN_DAY: &str = "unknown";

/// The work that a file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stage {
    Read,
    Count,
    Compute,
}

impl Stage {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Count => "count",
            Self::Compute => "compute",
        }
    }
}

/// Progress of a file, shared with the thread that watches it.
#[derive(Debug, Default)]
pub(super) struct FileProgress {
    pub(super) progress: Progress,
    stage: AtomicU8,
}

impl FileProgress {
    pub(super) fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Relaxed) {
            0 => Stage::Read,
            1 => Stage::Count,
            _ => Stage::Compute,
        }
    }

    fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
    }
}

/// The rows of a file by table and day.
#[derive(Debug, Default)]
pub(super) struct FileRows {
    pub(super) tables: BTreeMap<(&'static str, Day), Rows>,
    /// Number of conversations with rows.
    pub(super) conversations: usize,
    /// Number of rows of `failures`.
    pub(super) failures: usize,
}

/// A failure of a file or of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) stage: Stage,
    /// Without text of the file and without its path.
    pub(super) reason: String,
}

impl FileRows {
    fn append(&mut self, day: &Day, rows: TableRows) {
        for (table, rows) in rows {
            match self.tables.get_mut(&(table, day.clone())) {
                Some(all) => all.append(rows),
                None => _ = self.tables.insert((table, day.clone()), rows),
            }
        }
    }

    /// Appends a row of `failures`.
    pub(super) fn fail(&mut self, row: FailureRow) {
        let mut rows = TableRows::new();
        add(&mut rows, [row]);
        self.append(&UNKNOWN_DAY.to_owned(), rows);
        self.failures += 1;
    }
}

/// Returns the row of a failure.
pub(super) fn failure_row(
    file: &HashedFile,
    conversation: Option<usize>,
    failure: Failure,
) -> FailureRow {
    FailureRow {
        content_sha256: Some(file.origin.sha256.clone()),
        path: file.origin.path.clone().into(),
        conversation,
        stage: failure.stage.name().into(),
        reason: failure.reason.into(),
    }
}

/// Reads a file once and returns the rows of all its conversations.
///
/// # Errors
/// Returns a [`Failure`] if no conversation can be read.
pub(super) fn file_rows(
    file: &HashedFile,
    options: &TableOptions,
    progress: &FileProgress,
) -> Result<FileRows, Failure> {
    let failure = |stage: Stage, error: &dyn std::fmt::Display| Failure {
        stage,
        reason: plain_reason(&error.to_string(), &file.path),
    };
    progress.enter(Stage::Read);
    let sessions = FileSessions::open(&file.path, &progress.progress);
    let sessions = sessions.map_err(|error| failure(Stage::Read, &error))?;
    if !file.is_unchanged() {
        return Err(failure(Stage::Read, &"it changed while it was read"));
    }
    let conversation = |number: usize| {
        progress.enter(Stage::Count);
        let opened =
            sessions.open_conversation(&file.path, number, &options.load, &progress.progress);
        let opened = opened.map_err(|error| failure(Stage::Count, &error))?;
        if opened.case.session.calls.is_empty() {
            return Ok(None);
        }
        progress.enter(Stage::Compute);
        let reserve = options.none.output_reserve(&opened.case);
        let of = Conversation::new(&file.origin, number + 1, &opened, reserve);
        Ok(Some((day(of.start_time()), rows_of(&of, &options.rows()))))
    };
    let numbers = 0..sessions.n_conversations();
    let n = numbers.len();
    let read: Vec<Result<_, Failure>> = numbers.into_par_iter().map(conversation).collect();
    let mut all = FileRows::default();
    for (number, read) in read.into_iter().enumerate() {
        match read {
            Ok(Some((day, rows))) => {
                all.append(&day, rows);
                all.conversations += 1;
            }
            Ok(None) => {}
            Err(failure) if n == 1 => return Err(failure),
            Err(failure) => all.fail(failure_row(file, Some(number + 1), failure)),
        }
    }
    if all.conversations == 0 && all.failures == 0 {
        return Err(failure(Stage::Read, &"it holds no model call"));
    }
    all.tables.values_mut().for_each(Rows::shrink_to_fit);
    Ok(all)
}

/// Returns the day of a time in UTC.
fn day(time: Option<Millis>) -> Day {
    let moment = time.and_then(|time| Timestamp::from_millisecond(time.0).ok());
    moment.map_or_else(
        || UNKNOWN_DAY.to_owned(),
        |moment| moment.to_zoned(TimeZone::UTC).date().to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_of_a_time_is_that_of_utc() {
        assert_eq!(day(Some(Millis(1_767_311_999_999))), "2026-01-01");
        assert_eq!(day(Some(Millis(i64::MAX))), "unknown");
        assert_eq!(day(None), "unknown");
    }
}
