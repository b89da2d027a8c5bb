//! The progress of `plimsoll table` on standard error: a line that changes on a terminal, else a line a minute.

use crate::cli::many_files::files_text;
use crate::cli::output::{progress, progress_line};
use crate::exec::tables::TableProgress;
use std::time::Duration;

/// Time between two changes of the line on a terminal. More often is only flicker.
const TICK: Duration = Duration::from_millis(100);
/// Time between two lines.
const INTERVAL: Duration = Duration::from_mins(1);

/// Prints the progress.
pub(super) struct ProgressLine {
    /// Time of the next line.
    next: Duration,
    /// Time of the next change of the line on a terminal.
    next_change: Duration,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self { next: INTERVAL, next_change: Duration::ZERO }
    }

    /// Shows the progress if it is time.
    pub(super) fn show(&mut self, at: TableProgress) {
        if at.elapsed >= self.next_change {
            self.next_change = at.elapsed + TICK;
            progress(&text(at));
        }
        if at.elapsed >= self.next {
            self.next = at.elapsed + INTERVAL;
            progress_line(&text(at));
        }
    }

    /// Removes the line from the terminal.
    pub(super) fn remove() {
        progress("");
    }
}

fn text(at: TableProgress) -> String {
    files_text((at.done as u64, at.total as u64), at.failed, at.elapsed)
}
