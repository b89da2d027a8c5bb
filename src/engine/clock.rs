//! When each step was made, for rules that count seconds. Where a file has no times they are assumed.

use crate::session::Session;
use crate::units::Millis;
use std::cell::OnceCell;

/// Seconds that a call is taken to need where the file does not say.
const USUAL: f64 = 15.0;

/// Seconds since the first step, by step; worked out once somebody asks, which few policies do.
#[derive(Debug)]
pub(super) struct Clock<'a> {
    session: &'a Session,
    /// The first time that is recorded.
    since: Option<Millis>,
    assumed: f64,
    seconds: OnceCell<Vec<f64>>,
}

impl<'a> Clock<'a> {
    /// Times as recorded; what is not recorded, or goes back, is so many seconds after the step before.
    pub(super) fn new(session: &'a Session, seconds_per_step: Option<f64>) -> Self {
        Self {
            session,
            since: session.steps.iter().find_map(|step| step.time),
            assumed: seconds_per_step.unwrap_or(USUAL),
            seconds: OnceCell::new(),
        }
    }

    /// Minutes between a step and the one before; none before the first.
    pub(super) fn idle(&self, step: usize) -> f64 {
        let before = step
            .checked_sub(1)
            .map_or(self.at(step), |before| self.at(before));
        (self.at(step) - before) / 60.0
    }

    /// When the session began: the first time that is recorded.
    pub(super) fn since(&self) -> Option<Millis> {
        self.since
    }

    /// Seconds at a step; those of the last for what lies behind.
    pub(super) fn at(&self, step: usize) -> f64 {
        let seconds = self.seconds.get_or_init(|| self.seconds());
        let found = seconds.get(step).or(seconds.last());
        found.copied().unwrap_or(0.0)
    }

    fn seconds(&self) -> Vec<f64> {
        let steps = &self.session.steps;
        let mut now = -self.assumed;
        let seconds = steps.iter().map(|step| {
            let recorded = step
                .time
                .zip(self.since)
                .map(|(time, first)| time.0.saturating_sub(first.0) as f64 / 1e3);
            now = recorded.filter(|s| *s >= now).unwrap_or(now + self.assumed);
            now
        });
        seconds.collect()
    }
}
