//! Usage of the open session's conversations: of the session, its sub-agents and its branches.

use crate::analysis::usage::TreeUsage;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::exec::stores::{TreeLimits, conversation_tree};
use crate::progress::Progress;
use crate::report::has_tracks;
use std::sync::Arc;

/// Usage by conversation; `None` without sub-agents and branches.
struct ConversationUsage(Option<TreeUsage>);

impl DerivedResult for ConversationUsage {
    /// Id of the document, and the limits of the figures.
    type Key = (u64, TreeLimits);

    const THREAD: &'static str = "conversations";
    const SLOW_FOR: SlowFor = SlowFor::All;
}

impl Derived {
    /// Returns what the conversations of the session used, once computed; `None` without sub-agents and branches.
    pub fn conversation_usage(&self) -> Option<&TreeUsage> {
        self.get::<ConversationUsage>()?.0.as_ref()
    }
}

/// Computes what the conversations used.
pub(crate) fn update(update: &mut Update<'_>) {
    let Some(runs) = update.derived.runs_of(update.document) else {
        return;
    };
    if !has_tracks(&update.document.loaded.conversations) {
        return;
    }
    let limits = TreeLimits { window: runs.config.window, output_reserve: runs.output_reserve };
    let (key, document) = ((runs.document, limits), Arc::clone(update.document));
    update.request(&key, move |_| {
        // Nothing cancels it.
        let tree = conversation_tree(&document.loaded, key.1, &Progress::default());
        ConversationUsage(tree.ok().flatten())
    });
}
