//! The contexts of all lanes at the selected call.

use crate::app::state::lanes::rows::LaneRows;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::runs::replays::Runs;
use std::sync::Arc;

/// Inputs of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowsKey {
    runs: u64,
    call: usize,
}

impl DerivedResult for LaneRows {
    type Key = RowsKey;

    const THREAD: &'static str = "lanes";
    const SLOW_FOR: SlowFor = SlowFor::MessagesAbove(20_000);
}

impl Derived {
    /// Returns the contexts at the selected call, aligned in rows.
    pub fn rows(&self) -> Option<&LaneRows> {
        self.get()
    }
}

/// Aligns the contexts of the lanes at the selected call.
pub(crate) fn update(update: &mut Update<'_>) {
    let Some(runs) = update.derived.shared_runs().map(Arc::clone) else {
        return;
    };
    let call = update.selection.call;
    let key = RowsKey { runs: update.derived.generation::<Runs>(), call };
    update.request(&key, move |_| LaneRows::at_call(&runs, call));
}
