//! Selects the next or previous compaction, overflow or cache miss.

use crate::app::shell::App;
use crate::app::state::cost::state::misses;
use crate::app::state::model::selection::{Direction, Landmark};
use crate::engine::Effect;

impl App {
    /// Selects the next or previous call with a landmark.
    pub(crate) fn jump(&mut self, landmark: Landmark, direction: Direction) {
        let Some(calls) = self.calls_with(landmark) else {
            return;
        };
        if let Some(call) = neighbor(&calls, self.session.selection.call, direction) {
            self.select_call(call);
            return;
        }
        let (name, place) = match landmark {
            Landmark::Compaction => ("compaction", "in this lane"),
            Landmark::Overflow => ("overflow", "in this lane"),
            Landmark::CacheMiss => ("cache miss", "in the recording"),
        };
        let order = match direction {
            Direction::Next => "later",
            Direction::Previous => "earlier",
        };
        self.toasts.info(format!("No {order} {name} {place}."));
    }

    /// Returns the calls with a landmark, in order; `None` while they are not computed.
    fn calls_with(&self, landmark: Landmark) -> Option<Vec<usize>> {
        let runs = self.session.derived.runs()?;
        let outcome = &runs.focused(&self.session.selection).outcome;
        let last = runs.case.session.calls.len().saturating_sub(1);
        let mut calls: Vec<usize> = match landmark {
            Landmark::Compaction => {
                let compactions = outcome.events.iter().filter(|e| e.effect == Effect::Removed);
                compactions.map(|event| event.call.min(last)).collect()
            }
            Landmark::Overflow => {
                let samples = &outcome.samples;
                let is_first =
                    |n: &usize| samples[*n].overflows && (*n == 0 || !samples[*n - 1].overflows);
                let firsts = (0..samples.len()).filter(is_first);
                firsts.map(|n| samples[n].call).collect()
            }
            Landmark::CacheMiss => {
                let audit = self.session.derived.costs()?.audit.as_ref();
                let missed = audit.map_or_else(Vec::new, |audit| misses(audit, None, None));
                missed.into_iter().map(|call| call.index).collect()
            }
        };
        calls.sort_unstable();
        Some(calls)
    }
}

/// Returns the nearest of these calls, in order, after a call or before it.
fn neighbor(calls: &[usize], call: usize, direction: Direction) -> Option<usize> {
    let other = match direction {
        Direction::Next => calls.partition_point(|c| *c <= call),
        Direction::Previous => calls.partition_point(|c| *c < call).checked_sub(1)?,
    };
    calls.get(other).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_call_in_a_direction_is_chosen() {
        let calls = [2, 5, 5, 9];
        let next = |call| neighbor(&calls, call, Direction::Next);
        let previous = |call| neighbor(&calls, call, Direction::Previous);
        assert_eq!([next(0), next(2), next(5), next(9)], [Some(2), Some(5), Some(9), None]);
        assert_eq!(
            [previous(10), previous(9), previous(5), previous(2)],
            [Some(9), Some(5), Some(2), None]
        );
    }
}
