//! The time of each call, for rules that count seconds. Missing times are assumed.

use crate::session::Session;
use crate::units::Millis;
use std::cell::OnceCell;

/// Assumed seconds between two calls if the file does not record times.
const USUAL: f64 = 15.0;

/// Seconds since the first call, by call. Computed at the first use, since few policies need it.
#[derive(Debug)]
pub(super) struct Clock<'a> {
    session: &'a Session,
    /// The first recorded time.
    since: Option<Millis>,
    assumed: f64,
    seconds: OnceCell<Vec<f64>>,
}

impl<'a> Clock<'a> {
    /// Creates a clock from recorded times. A time that is missing or goes backwards is `seconds_per_call` after the
    /// call before.
    pub(super) fn new(session: &'a Session, seconds_per_call: Option<f64>) -> Self {
        Self {
            session,
            since: session.calls.iter().find_map(|call| call.time),
            assumed: seconds_per_call.unwrap_or(USUAL),
            seconds: OnceCell::new(),
        }
    }

    /// Returns the minutes between a call and the one before; none before the first.
    pub(super) fn idle(&self, call: usize) -> f64 {
        let before = call
            .checked_sub(1)
            .map_or(self.at(call), |before| self.at(before));
        (self.at(call) - before) / 60.0
    }

    /// Returns the start of the session: the first recorded time.
    pub(super) fn since(&self) -> Option<Millis> {
        self.since
    }

    /// Returns the seconds at a call; after the last call, those of the last.
    pub(super) fn at(&self, call: usize) -> f64 {
        let seconds = self.seconds.get_or_init(|| self.seconds());
        let found = seconds.get(call).or(seconds.last());
        found.copied().unwrap_or(0.0)
    }

    fn seconds(&self) -> Vec<f64> {
        let calls = &self.session.calls;
        let mut now = -self.assumed;
        let seconds = calls.iter().map(|call| {
            let recorded = call
                .time
                .zip(self.since)
                .map(|(time, first)| time.0.saturating_sub(first.0) as f64 / 1e3);
            now = recorded.filter(|s| *s >= now).unwrap_or(now + self.assumed);
            now
        });
        seconds.collect()
    }
}
