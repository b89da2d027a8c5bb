//! Clears old tool results before a call.

use super::{METER, limits_of, raised, terms, total_of};
use crate::chat::{ChatMessage, Messages, PendingRequest, Replies, Rule, Shape};
use crate::engine::{
    ActionKind, Edits, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten,
};
use crate::systems::baseagent::log_lines::{OVERFLOW, status, sufficient};
use crate::systems::baseagent::prune::Results;
use crate::systems::baseagent::{Limits, MARKER, StopAtMarker};
use crate::systems::python::PythonError;
use crate::systems::stage_settings::{check_keys, choice};
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// `marker` sets the effect of a result cleared earlier on the scan: it `stops` the scan as shipped, or `counts` like
/// any other as documented.
pub(super) const ACTION: NamedAction = NamedAction {
    name: "baseagent.prune",
    kind: ActionKind::Clear,
    help: "Clears tool results beyond the protected turns and tokens, if that saves enough.",
    shape: Shape::OpenAi,
    numbers: &["usable", "threshold", "protect", "minimum", "protect_turns"],
    make: |settings| {
        check_keys(settings, &["marker"])?;
        let choices = [("stops", StopAtMarker::Yes), ("counts", StopAtMarker::No)];
        let stop_at_marker = choice(settings, "marker", &choices)?.unwrap_or(StopAtMarker::Yes);
        Ok(Arc::new(Prune { stop_at_marker }))
    },
};

#[derive(Debug)]
struct Prune {
    stop_at_marker: StopAtMarker,
}

impl Rewrite for Prune {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let limits = limits_of(&input);
        Ok(self.prune(&input.messages, &limits).unwrap_or_else(raised))
    }
}

impl Prune {
    fn prune(&self, messages: &Messages, limits: &Limits) -> Result<Rewritten, PythonError> {
        let before = total_of(messages);
        let mut log = vec![status(before, limits)?, OVERFLOW.to_owned()];
        let results = messages.updated_state(RESULTS, Results::extend);
        let found = results.scan(messages, limits, self.stop_at_marker)?;
        let (mut is_enough, lines) = found.judge(limits);
        if messages.is_empty() {
            is_enough = false;
        } else {
            log.extend(lines);
        }
        let old = if is_enough { found.old } else { 0..0 };
        let cleared = messages.updated_state(CLEARED, |cleared: &mut Cleared, messages| {
            cleared.extend(messages, &results, old.end);
        });
        let edits = cleared.edits_of(old.clone());
        let after = Tokens(cleared.after(before.0, old));
        if !limits.is_overflow(after) {
            log.push(sufficient(before, after));
        }
        Ok(Rewritten {
            fired: is_enough,
            terms: terms(&[
                ("used", before.as_f64()),
                ("trigger", limits.trigger()),
                ("tool_tokens", found.total.as_f64()),
                ("protect", limits.protect as f64),
                ("prunable", found.prunable.as_f64()),
                ("minimum", limits.minimum as f64),
                ("results_cleared", edits.len() as f64),
                ("used_after", after.as_f64()),
            ]),
            edits,
            log,
            ..Rewritten::default()
        })
    }
}

/// The cached rule for results and their cleared form.
const RESULTS: Rule = Rule::new("baseagent: results");
const CLEARED: Rule = Rule::new("baseagent: cleared");

/// The oldest results in their cleared form, by number.
#[derive(Clone, Debug, Default)]
struct Cleared {
    edits: Edits,
    /// Running sums of tokens up to each result: original and cleared.
    sums: Vec<(u64, u64)>,
}

impl Cleared {
    /// Extends the sums up to the result with this number.
    fn extend(&mut self, messages: &[ChatMessage], results: &Results, end: usize) {
        for nth in self.edits.len()..end {
            let at = results.message_index(nth);
            let message = &messages[at];
            let cleared = message.with_text(MARKER);
            let (was, now) = self.sum_before(nth);
            self.sums
                .push((was + METER.weigh(message), now + METER.weigh(&cleared)));
            let now = Some(cleared);
            self.edits.grow([MessageEdit { at, now }]);
        }
    }

    fn edits_of(&self, cleared: Range<usize>) -> Edits {
        if cleared == (0..self.edits.len()) {
            self.edits.clone()
        } else {
            self.edits[cleared].to_vec().into()
        }
    }

    /// Returns the tokens that remain of a total after clearing these results.
    fn after(&self, before: u64, cleared: Range<usize>) -> u64 {
        let (first, last) = (self.sum_before(cleared.start), self.sum_before(cleared.end));
        before - (last.0 - first.0) + (last.1 - first.1)
    }

    fn sum_before(&self, nth: usize) -> (u64, u64) {
        nth.checked_sub(1).map_or((0, 0), |last| self.sums[last])
    }
}
