//! The events that the filter of the tab Events lists.

use crate::app::state::events::list::{EventFilter, EventList};
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::model::selection::CallRange;
use std::sync::Arc;

/// Inputs of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventsKey {
    runs: u64,
    filter: EventFilter,
    /// The focused lane, if only its events are listed.
    lane: Option<usize>,
    calls: Option<CallRange>,
}

impl DerivedResult for EventList {
    type Key = EventsKey;

    const THREAD: &'static str = "events";
    const SLOW_FOR: SlowFor = SlowFor::None;
}

impl Derived {
    /// Returns the events of the lanes that the filter lists.
    pub fn events(&self) -> Option<&EventList> {
        self.get()
    }
}

/// Lists the events that the filter accepts.
pub(crate) fn update(update: &mut Update<'_>) {
    let Some(runs) = update.derived.shared_runs().map(Arc::clone) else {
        return;
    };
    let (selection, filter) = (update.selection, update.view.events());
    let lane = selection.lane.filter(|_| filter.is_one_lane);
    let calls = selection.calls;
    let key = EventsKey { runs: update.derived.generation::<Runs>(), filter, lane, calls };
    update.request(&key, move |_| EventList::new(&runs, filter, lane, calls));
}
