//! The preset to compare if no lane works.

use crate::analysis::WorkingPreset;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::knobs;
use crate::app::state::model::runs::replays::Runs;
use std::sync::Arc;

/// The preset that works, if there is one and it is needed.
#[derive(Debug)]
pub struct FoundPreset(Option<WorkingPreset>);

impl DerivedResult for FoundPreset {
    type Key = u64;

    const THREAD: &'static str = "preset that works";
    const SLOW_FOR: SlowFor = SlowFor::All;
}

impl Derived {
    /// Returns the preset to compare if no lane works, possibly for earlier runs.
    pub fn working_preset(&self) -> Option<&WorkingPreset> {
        self.get::<FoundPreset>()?.0.as_ref()
    }
}

/// Finds a preset that works if no lane does, once the settings stop changing.
pub(crate) fn update(update: &mut Update<'_>) {
    let Some(runs) = update.derived.shared_runs().map(Arc::clone) else {
        return;
    };
    if update.is_stale || update.is_dragging {
        return;
    }
    let key = update.derived.generation::<Runs>();
    update.request(&key, move |_| {
        let lanes = runs.lanes.iter().map(|lane| &lane.outcome);
        let settings = &runs.config.knobs;
        let values = |policy: &_| knobs::values(policy, settings);
        FoundPreset(WorkingPreset::find(&runs.case, lanes, values))
    });
}
