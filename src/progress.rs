//! How far long work is, and a way to stop it: shared between whoever works and whoever shows it.

use crate::units::{Bytes, Share};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far opening a session is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes done of this phase.
    pub done: AtomicU64,
    /// Bytes of this phase in all; 0 while that is not known.
    pub total: AtomicU64,
    is_weighing: AtomicBool,
    cancelled: Arc<AtomicBool>,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The file is read and taken apart.
    Reading,
    /// Its text is counted.
    Weighing,
}

/// The work was stopped by whoever asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Progress {
    /// Begins a phase of so many bytes (0: not known yet).
    pub fn begin(&self, phase: Phase, total: Bytes) {
        self.is_weighing
            .store(phase == Phase::Weighing, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total.0, Ordering::Relaxed);
    }

    /// So many more bytes are done.
    pub fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What is being done now.
    pub fn phase(&self) -> Phase {
        if self.is_weighing.load(Ordering::Relaxed) {
            Phase::Weighing
        } else {
            Phase::Reading
        }
    }

    /// What is done of the phase; `None` while nobody knows how much there is.
    pub fn share(&self) -> Option<Share> {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        (total > 0).then(|| Share(done as f64 / total as f64))
    }

    /// Asks the work to stop soon.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// What says that it was asked to stop, for whoever cannot hold this.
    pub fn stop_sign(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// To be asked often by whoever works.
    ///
    /// # Errors
    /// [`Cancelled`] when it was asked to stop.
    pub fn go_on(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_starts_at_nothing_and_ends_at_all_of_it() {
        let progress = Progress::default();
        assert_eq!((progress.phase(), progress.share()), (Phase::Reading, None));
        progress.begin(Phase::Reading, Bytes(8));
        progress.advance(6);
        assert_eq!(progress.share(), Some(Share(0.75)));
        progress.advance(6);
        assert_eq!(progress.share(), Some(Share(1.0)));
        progress.begin(Phase::Weighing, Bytes(4));
        assert_eq!(
            (progress.phase(), progress.share()),
            (Phase::Weighing, Some(Share(0.0)))
        );
    }

    #[test]
    fn what_is_cancelled_does_not_go_on() {
        let progress = Progress::default();
        assert_eq!(progress.go_on(), Ok(()));
        let sign = progress.stop_sign();
        progress.cancel();
        assert!(sign.load(Ordering::Relaxed));
        assert_eq!(progress.go_on(), Err(Cancelled));
    }
}
