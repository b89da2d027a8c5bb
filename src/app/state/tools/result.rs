//! The table of tools.

use crate::analysis::LastUses;
use crate::analysis::resent::resent;
use crate::analysis::tools::ToolTable;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::runs::result::CounterKey;

impl DerivedResult for ToolTable {
    type Key = CounterKey;

    const THREAD: &'static str = "tools";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(200_000);
}

impl Derived {
    /// Returns the figures of each tool, once requested.
    pub fn tools(&self) -> Option<&ToolTable> {
        self.get()
    }
}

/// Computes the figures of each tool.
pub(crate) fn update(update: &mut Update<'_>) {
    let Some(runs) = update.derived.runs_of(update.document) else {
        return;
    };
    let key = CounterKey { document: runs.document, counter: runs.config.counter };
    update.request(&key, move |_| {
        let resent = resent(&runs.case, &runs.recorded.outcome);
        ToolTable::new(&runs.case, &resent, &LastUses::new(&runs.case.session))
    });
}
