//! Counts the prompts that a stream does not record.

use crate::formats::read_log::ReadLog;

/// The runs of a file and whether their prompts are recorded.
#[derive(Debug, Default)]
pub(super) struct PromptCount {
    n_runs: usize,
    n_recorded: usize,
    /// A run began, and no answer followed so far.
    is_pending: bool,
}

impl PromptCount {
    /// Notes that a run begins.
    pub(super) fn begin_run(&mut self) {
        self.is_pending = true;
    }

    /// Notes a prompt of the user.
    pub(super) fn prompt(&mut self) {
        self.n_runs += 1;
        self.n_recorded += 1;
        self.is_pending = false;
    }

    /// Notes an answer. Its prompt is missing if the run began without one.
    pub(super) fn answer(&mut self) {
        self.n_runs += usize::from(std::mem::take(&mut self.is_pending));
    }

    /// Adds a warning if prompts are missing. `how` says how the program records them.
    pub(super) fn report(&self, how: &str, log: &mut ReadLog) {
        let n_missing = self.n_runs - self.n_recorded;
        if n_missing > 0 {
            let verb = if n_missing == 1 { "is" } else { "are" };
            let (n, s) = (self.n_runs, if self.n_runs == 1 { "" } else { "s" });
            let text = format!("{n_missing} of {n} prompt{s} {verb} not recorded{how}");
            log.notes.once(0, text);
        }
    }
}
