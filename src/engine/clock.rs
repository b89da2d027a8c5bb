//! When each step was made, for rules that count seconds. Where a file has no times they are assumed.

use crate::session::Session;

/// Seconds that a call is taken to need where the file does not say.
const USUAL: f64 = 15.0;

/// Seconds since the first step, by step.
#[derive(Debug)]
pub(super) struct Clock {
    seconds: Vec<f64>,
}

impl Clock {
    /// Times as recorded; what is not recorded, or goes back, is so many seconds after the step before.
    pub(super) fn new(session: &Session, seconds_per_step: Option<f64>) -> Self {
        let assumed = seconds_per_step.unwrap_or(USUAL);
        let first = session.steps.iter().find_map(|s| s.time);
        let mut now = -assumed;
        let seconds = session.steps.iter().map(|step| {
            let recorded = step
                .time
                .zip(first)
                .map(|(time, first)| time.0.saturating_sub(first.0) as f64 / 1e3);
            now = recorded.filter(|s| *s >= now).unwrap_or(now + assumed);
            now
        });
        Self {
            seconds: seconds.collect(),
        }
    }

    /// Seconds between a step and the one before; none before the first.
    pub(super) fn idle(&self, step: usize) -> f64 {
        let before = step
            .checked_sub(1)
            .map_or(self.at(step), |before| self.at(before));
        self.at(step) - before
    }

    /// Seconds at a step; those of the last for what lies behind.
    pub(super) fn at(&self, step: usize) -> f64 {
        let found = self.seconds.get(step).or(self.seconds.last());
        found.copied().unwrap_or(0.0)
    }
}
