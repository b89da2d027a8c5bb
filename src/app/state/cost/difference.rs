//! The contexts of two calls compared, as recorded and in every lane. Independent of the UI.

use crate::analysis::ContextDifference;
use crate::app::state::model::runs::replays::Runs;
use crate::engine::{recorded, simulate};
use rayon::prelude::*;

/// The differences of the contexts of two calls.
#[derive(Clone, Debug)]
pub struct Differences {
    /// Indices of the earlier and the later call.
    pub calls: [usize; 2],
    recorded: ContextDifference,
    lanes: Vec<ContextDifference>,
}

impl Differences {
    /// Compares the contexts of two calls, in either order.
    pub fn new(runs: &Runs, calls: [usize; 2]) -> Self {
        let [a, b] = calls;
        let calls = [a.min(b), a.max(b)];
        let as_recorded = |call| recorded(&runs.case, runs.output_reserve, Some(call)).context;
        let lanes = runs.lanes.par_iter().map(|lane| {
            let context =
                |call| simulate(&runs.case, &lane.policy, &lane.knobs, Some(call)).context;
            let [before, after] = calls.map(context);
            ContextDifference::new(&before, &after)
        });
        let [before, after] = calls.map(as_recorded);
        Self { calls, recorded: ContextDifference::new(&before, &after), lanes: lanes.collect() }
    }

    /// Returns the difference in a lane; `None` for the recorded run.
    pub fn of(&self, lane: Option<usize>) -> Option<&ContextDifference> {
        match lane {
            Some(lane) => self.lanes.get(lane),
            None => Some(&self.recorded),
        }
    }
}
