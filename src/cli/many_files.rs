//! Progress of commands that read many files, on standard error.
//!
//! On a terminal, one line changes; elsewhere, such as in the log of a scheduler, a line is added every minute. Short runs print
//! none there.

use super::output::{counted, grouped, is_terminal, progress, progress_line};
use crate::progress::Progress;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Time between two updates of the line on a terminal. More often is only flicker.
const TICK: Duration = Duration::from_millis(100);
/// Time between two lines elsewhere.
const LINE: Duration = Duration::from_mins(1);

/// Progress of a command that reads many files.
#[derive(Debug, Default)]
pub(super) struct FilesProgress {
    /// Number of files, and of those that are done.
    pub(super) files: Progress,
    failed: AtomicUsize,
    /// Current work, for a terminal.
    detail: Mutex<String>,
}

impl FilesProgress {
    /// Creates the progress of a number of files.
    pub(super) fn new(n_files: usize) -> Self {
        let new = Self::default();
        new.files.total.store(n_files as u64, Ordering::Relaxed);
        new
    }

    /// Counts a file that was read, or could not be.
    pub(super) fn file_done(&self, is_read: bool) {
        if !is_read {
            self.file_failed();
        }
        self.set_detail(String::new());
        self.files.advance(1);
    }

    /// Counts a failure of a file that is counted as done elsewhere.
    pub(super) fn file_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the numbers of files that are done, of all, and of those that failed.
    pub(super) fn set(&self, done: usize, total: usize, failed: usize) {
        self.files.total.store(total as u64, Ordering::Relaxed);
        self.files.done.store(done as u64, Ordering::Relaxed);
        self.failed.store(failed, Ordering::Relaxed);
    }

    /// Sets what is done with the current file.
    pub(super) fn set_detail(&self, text: String) {
        *self.detail.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Does the work and shows its progress.
    pub(super) fn show<T>(&self, work: impl FnOnce() -> T) -> T {
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            let shown = scope.spawn(|| self.repeat(&is_done));
            // Also if the work panics, so that the thread ends.
            let _end = End { is_done: &is_done, thread: shown.thread().clone() };
            work()
        })
    }

    /// Shows the progress until the work is done.
    fn repeat(&self, is_done: &AtomicBool) {
        let (start, is_terminal) = (Instant::now(), is_terminal());
        let mut last = start;
        while !is_done.load(Ordering::Acquire) {
            if is_terminal {
                progress(&self.line(start.elapsed()));
            } else if last.elapsed() >= LINE {
                last = Instant::now();
                progress_line(&self.text(start.elapsed()));
            }
            // May return early.
            thread::park_timeout(if is_terminal { TICK } else { LINE });
        }
        if is_terminal {
            progress("");
        }
    }

    /// Returns the line on a terminal.
    fn line(&self, elapsed: Duration) -> String {
        let detail = self.detail.lock().unwrap_or_else(PoisonError::into_inner);
        // A single file shows what is done with it.
        let many = self.files.total.load(Ordering::Relaxed) > 1;
        let files = if many { self.text(elapsed) } else { String::new() };
        let between = if files.is_empty() || detail.is_empty() { "" } else { "; " };
        format!("{files}{between}{detail}")
    }

    /// Formats `3,120 of 10,000 files, 12 failed, 210 files/s, 33 s left`; empty while the number of files is unknown.
    fn text(&self, elapsed: Duration) -> String {
        let total = self.files.total.load(Ordering::Relaxed);
        let done = self.files.done.load(Ordering::Relaxed).min(total);
        files_text((done, total), self.failed.load(Ordering::Relaxed), elapsed)
    }
}

/// Ends the thread that shows the progress.
struct End<'a> {
    is_done: &'a AtomicBool,
    thread: Thread,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Formats `3,120 of 10,000 files, 12 failed, 210 files/s, 33 s left`.
pub(super) fn files_text((done, total): (u64, u64), failed: usize, elapsed: Duration) -> String {
    if total == 0 {
        return String::new();
    }
    let mut text = format!("{} of {}", grouped(done), counted(total as usize, "file"));
    if failed > 0 {
        let _ = write!(text, ", {} failed", grouped(failed as u64));
    }
    let seconds = elapsed.as_secs_f64();
    // A rate after less is by chance.
    if done > 0 && seconds >= 1.0 {
        let rate = done as f64 / seconds;
        let rate_text = if rate < 10.0 { format!("{rate:.1}") } else { grouped(rate as u64) };
        let left = time_text((total - done) as f64 / rate);
        let _ = write!(text, ", {rate_text} files/s, {left} left");
    }
    text
}

/// Formats a time in the two largest units.
fn time_text(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{} h {} min", grouped(hours), minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_rate_failures_and_the_time_left() {
        let text = |files, failed, seconds| files_text(files, failed, Duration::from_secs(seconds));
        let expected = "3,120 of 10,000 files, 12 failed, 208 files/s, 34 s left";
        assert_eq!(text((3_120, 10_000), 12, 15), expected);
        assert_eq!(text((1, 1_000), 0, 4), "1 of 1,000 files, 0.2 files/s, 1 h 6 min left");
        assert_eq!(text((0, 2), 0, 9), "0 of 2 files");
        assert_eq!(text((0, 0), 0, 9), "");
        assert_eq!(time_text(61.0), "1 min 1 s");
    }

    #[test]
    fn the_work_ends_at_once_and_its_result_is_returned() {
        let progress = FilesProgress::new(2);
        let done = progress.show(|| {
            progress.file_done(true);
            progress.file_done(false);
            progress.text(Duration::ZERO)
        });
        assert_eq!(done, "2 of 2 files, 1 failed");
    }

    #[test]
    fn a_detail_is_shown_after_the_files_or_alone() {
        let (one, two) = (FilesProgress::new(1), FilesProgress::new(2));
        for progress in [&one, &two] {
            progress.set_detail("a.json: 40 settings".to_owned());
        }
        assert_eq!(one.line(Duration::ZERO), "a.json: 40 settings");
        assert_eq!(two.line(Duration::ZERO), "0 of 2 files; a.json: 40 settings");
    }
}
