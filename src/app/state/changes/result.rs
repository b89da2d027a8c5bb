//! The change of the selected item in the focused lane.

use crate::app::state::changes::changed::{Changes, Target};
use crate::app::state::lanes::rows::LaneRows;
use crate::app::state::messages::state::Aspect;
use crate::app::state::model::derived::{Derived, DerivedResult, SLOW, SlowFor, Update};
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::model::selection::Selection;
use crate::app::state::model::view::View;
use std::sync::Arc;
use std::time::Duration;

/// Inputs of the change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangesKey {
    runs: u64,
    rows: u64,
    lane: usize,
    target: Target,
}

impl DerivedResult for Changes {
    type Key = ChangesKey;

    const THREAD: &'static str = "changes";
    const SLOW_FOR: SlowFor = SlowFor::None;
}

impl Derived {
    /// Returns the changes of the selected item in the focused lane, if ready.
    pub fn selected_changes(&self, selection: &Selection, view: &View) -> Option<&Changes> {
        self.of(&key(self, selection, view)?).map(Arc::as_ref)
    }
}

fn key(derived: &Derived, selection: &Selection, view: &View) -> Option<ChangesKey> {
    let message = selection.message.filter(|_| view.messages().detail.aspect == Aspect::Changes);
    let target = match (selection.written, message) {
        (Some(place), _) => Target::Written(place),
        (None, message) => Target::Message(message?),
    };
    Some(ChangesKey {
        runs: derived.generation::<Runs>(),
        rows: derived.generation::<LaneRows>(),
        lane: selection.lane?,
        target,
    })
}

/// Compares the selected item with the focused lane's version.
pub(crate) fn update(update: &mut Update<'_>) {
    let Some(key) = key(update.derived, update.selection, update.view) else {
        return;
    };
    let (runs, rows) = (update.derived.shared_runs(), update.derived.shared::<LaneRows>());
    let (Some(runs), Some(rows)) = (runs.map(Arc::clone), rows.map(Arc::clone)) else {
        return;
    };
    let (lane, target) = (key.lane, key.target);
    let is_slow = Changes::is_slow(update.document, target);
    update.derived.expect::<Changes>(if is_slow { SLOW } else { Duration::ZERO });
    let document = Arc::clone(update.document);
    update.request(&key, move |_| Changes::new(&document, &runs, &rows, lane, target));
}
