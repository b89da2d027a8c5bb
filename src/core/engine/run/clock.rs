//! The time of each call, for rules that count seconds. Missing times are assumed.

use crate::session::Session;
use crate::units::Millis;

/// Assumed seconds between two calls if the file does not record times. Measured on 3,566 pauses of 23 recorded
/// sessions: the median is 7 s, and three of four pauses take at most 15 s. Rules that count seconds wait for minutes,
/// so half or double moves them by a few calls.
const USUAL: f64 = 15.0;

/// Seconds since the first call, by call.
#[derive(Debug)]
pub(super) struct Clock {
    /// The first recorded time.
    since: Option<Millis>,
    seconds: Vec<f64>,
    /// Assumed seconds of the first recorded time: those of the calls before it.
    offset: f64,
    /// Assumed seconds between two calls.
    assumed: f64,
}

impl Clock {
    /// Creates a clock from recorded times. A time that is missing or goes backwards is `seconds_per_call` after the
    /// call before.
    pub(super) fn new(session: &Session, seconds_per_call: Option<f64>) -> Self {
        let assumed = seconds_per_call.unwrap_or(USUAL);
        let mut clock = Self {
            since: None,
            offset: 0.0,
            seconds: Vec::with_capacity(session.calls.len()),
            assumed,
        };
        clock.grow(session);
        clock
    }

    /// Adds the calls that a growing session has now.
    pub(super) fn grow(&mut self, session: &Session) {
        let known = self.seconds.len();
        let calls = session.calls.get(known..).unwrap_or_default();
        let mut now = self.seconds.last().copied().unwrap_or(-self.assumed);
        for call in calls {
            if let (None, Some(time)) = (self.since, call.time) {
                (self.since, self.offset) = (Some(time), now + self.assumed);
            }
            let recorded = call
                .time
                .zip(self.since)
                .map(|(time, first)| self.offset + time.0.saturating_sub(first.0) as f64 / 1e3);
            now = recorded.filter(|s| *s >= now).unwrap_or(now + self.assumed);
            self.seconds.push(now);
        }
    }

    /// Returns the minutes between a call and the one before; none before the first.
    pub(super) fn idle(&self, call: usize) -> f64 {
        let before = call.checked_sub(1).map_or(self.at(call), |before| self.at(before));
        (self.at(call) - before) / 60.0
    }

    /// Returns the start of the session: the first recorded time.
    pub(super) fn since(&self) -> Option<Millis> {
        self.since
    }

    /// Returns the seconds at a call; after the last call, those of the last.
    pub(super) fn at(&self, call: usize) -> f64 {
        let found = self.seconds.get(call).or(self.seconds.last());
        found.copied().unwrap_or(0.0)
    }
}
