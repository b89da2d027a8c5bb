//! The progress of `plimsoll table` on standard error: a line that changes on a terminal, else a line a minute.

use crate::cli::output::{grouped, progress, progress_line};
use crate::exec::tables::TableProgress;
use std::fmt::Write as _;
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
    pub(super) fn remove(self) {
        progress("");
    }
}

/// Formats as `3,120 of 10,000 files, 12 failed, 210 files/s, 33 s left`.
fn text(at: TableProgress) -> String {
    let rate = at.done as f64 / at.elapsed.as_secs_f64().max(1e-3);
    let mut text = format!("{} of {} files", grouped(at.done as u64), grouped(at.total as u64));
    if at.failed > 0 {
        let _ = write!(text, ", {} failed", grouped(at.failed as u64));
    }
    if at.done > 0 {
        let left = (at.total - at.done) as f64 / rate;
        let _ = write!(text, ", {} files/s, {} left", speed(rate), duration(left));
    }
    text
}

fn speed(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { grouped(rate as u64) }
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{} s", seconds.ceil()),
        120.0..7_200.0 => format!("{} min", (seconds / 60.0).round()),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_short_line() {
        let at = TableProgress {
            done: 3_120,
            total: 10_000,
            failed: 12,
            elapsed: Duration::from_millis(14_857),
        };
        assert_eq!(text(at), "3,120 of 10,000 files, 12 failed, 210 files/s, 33 s left");
        let first = TableProgress { done: 0, total: 7, failed: 0, elapsed: Duration::ZERO };
        assert_eq!(text(first), "0 of 7 files");
        assert_eq!([90.0, 600.0, 9_000.0].map(duration), ["90 s", "10 min", "2.5 h"]);
    }
}
