//! Clearing old tool results before a call.

use super::{choice, limits_of, raised, terms, total};
use crate::chat::{ChatMessage, Dialogue, Shape, Wants};
use crate::engine::{NamedAction, Rewrite, Rewritten, Scene};
use crate::systems::baseagent::manage::{OVERFLOW, status, sufficient};
use crate::systems::baseagent::{Limits, PythonError, StopAtMarker, prune_old_tool_outputs};
use std::sync::Arc;

/// `marker` says what a result that was cleared before does to the scan: it `stops` it as shipped, or `counts` like
/// any other, as the document has it.
pub(super) const ACTION: NamedAction = NamedAction {
    name: "baseagent.prune",
    verb: "clear",
    help: "Clears tool results beyond the protected turns and tokens, if that saves enough.",
    shape: Shape::OpenAi,
    numbers: &["usable", "threshold", "protect", "minimum", "protect_turns"],
    make: |settings| {
        let choices = [("stops", StopAtMarker::Yes), ("counts", StopAtMarker::No)];
        let stop_at_marker = choice(settings, "marker", &choices)?;
        Ok(Arc::new(Prune { stop_at_marker }))
    },
};

#[derive(Debug)]
struct Prune {
    stop_at_marker: StopAtMarker,
}

impl Rewrite for Prune {
    fn rewrite(&self, scene: Scene<'_>, _: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        let limits = limits_of(&scene);
        Ok(self.prune(&scene.messages, &limits).unwrap_or_else(raised))
    }
}

impl Prune {
    fn prune(&self, messages: &[ChatMessage], limits: &Limits) -> Result<Rewritten, PythonError> {
        let before = total(messages);
        let mut log = vec![status(before, limits)?, OVERFLOW.to_owned()];
        let pruned = prune_old_tool_outputs(messages, limits, self.stop_at_marker)?;
        log.extend(pruned.log);
        let after = pruned.messages.as_deref().map_or(before, total);
        if !limits.is_overflow(after) {
            log.push(sufficient(before, after));
        }
        Ok(Rewritten {
            fired: pruned.messages.is_some(),
            messages: pruned.messages,
            terms: terms(&[
                ("used", before.as_f64()),
                ("trigger", limits.trigger()),
                ("tool_tokens", pruned.total.as_f64()),
                ("protect", limits.protect as f64),
                ("prunable", pruned.prunable.as_f64()),
                ("minimum", limits.minimum as f64),
                ("results_cleared", pruned.cleared.len() as f64),
                ("used_after", after.as_f64()),
            ]),
            log,
            ..Rewritten::default()
        })
    }
}
