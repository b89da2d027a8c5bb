//! The result of the answers so far, while a model is being asked.

use crate::analysis::probes::{AnsweredProbe, ProbeOutcome};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Minimum time between two results.
const INTERVAL: Duration = Duration::from_secs(1);
/// After a result that took `t`, the next one waits at least this many times `t`.
const WAIT_FACTOR: u32 = 20;

/// Probes with their answers, and what each lane retained.
#[derive(Clone, Debug)]
pub struct ScoredProbes {
    /// The probes.
    pub probes: Vec<AnsweredProbe>,
    /// The result.
    pub outcome: ProbeOutcome,
}

/// The latest result of a run in progress.
#[derive(Debug, Default)]
pub struct PartialResult(Mutex<Latest>);

#[derive(Debug, Default)]
struct Latest {
    scored: Option<Arc<ScoredProbes>>,
    /// The time of the next result.
    next: Option<Instant>,
}

impl PartialResult {
    /// Returns the latest result.
    pub fn latest(&self) -> Option<Arc<ScoredProbes>> {
        let latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.scored.clone()
    }

    /// Scores the answers so far, unless the last result is recent.
    pub(crate) fn update(&self, so_far: &dyn Fn() -> Vec<AnsweredProbe>, lanes: &[String]) {
        let begun = Instant::now();
        {
            let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if latest.next.is_some_and(|next| begun < next) {
                return;
            }
            // Other threads do not score in the meantime, for at most a minute.
            latest.next = Some(begun + Duration::from_mins(1));
        }
        let probes = so_far();
        let outcome = ProbeOutcome::new(&probes, lanes);
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = INTERVAL.max(begun.elapsed() * WAIT_FACTOR);
        latest.next = Some(Instant::now() + wait);
        latest.scored = Some(Arc::new(ScoredProbes { probes, outcome }));
    }
}
