//! Progress and cancellation of long work, shared between the worker and its observer.

use crate::units::{Bytes, Share};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Progress of opening a session.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes of this phase that are done.
    pub done: AtomicU64,
    /// All bytes of this phase; 0 while unknown.
    pub total: AtomicU64,
    is_counting: AtomicBool,
    cancelled: Arc<AtomicBool>,
}

/// Phases of opening a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading and parsing the file.
    Reading,
    /// Counting the tokens of its text.
    Counting,
}

/// The work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Progress {
    /// Starts a phase of `total` bytes (0: unknown).
    pub fn begin(&self, phase: Phase, total: Bytes) {
        self.is_counting.store(phase == Phase::Counting, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total.0, Ordering::Relaxed);
    }

    /// Adds bytes to those that are done.
    pub fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the current phase.
    pub fn phase(&self) -> Phase {
        if self.is_counting.load(Ordering::Relaxed) { Phase::Counting } else { Phase::Reading }
    }

    /// Returns the share of the phase that is done, or `None` while the total is unknown.
    pub fn share(&self) -> Option<Share> {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        (total > 0).then(|| Share(done as f64 / total as f64))
    }

    /// Requests cancellation.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns true after [`Progress::cancel`].
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns a progress of its own that is cancelled with this one.
    #[must_use]
    pub fn with_same_cancellation(&self) -> Self {
        Self { cancelled: Arc::clone(&self.cancelled), ..Self::default() }
    }

    /// Returns the flag behind [`Progress::is_cancelled`], for callbacks that cannot borrow this.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Checks for cancellation. Long work calls this often.
    ///
    /// # Errors
    /// Returns [`Cancelled`] after [`Progress::cancel`].
    pub fn check_cancelled(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_phase_goes_from_zero_to_one() {
        let progress = Progress::default();
        assert_eq!((progress.phase(), progress.share()), (Phase::Reading, None));
        progress.begin(Phase::Reading, Bytes(8));
        progress.advance(6);
        assert_eq!(progress.share(), Some(Share(0.75)));
        progress.advance(6);
        assert_eq!(progress.share(), Some(Share(1.0)));
        progress.begin(Phase::Counting, Bytes(4));
        assert_eq!((progress.phase(), progress.share()), (Phase::Counting, Some(Share(0.0))));
    }

    #[test]
    fn cancellation_is_reported() {
        let progress = Progress::default();
        assert_eq!(progress.check_cancelled(), Ok(()));
        let flag = progress.cancel_flag();
        progress.cancel();
        assert!(flag.load(Ordering::Relaxed));
        assert_eq!(progress.check_cancelled(), Err(Cancelled));
    }
}
