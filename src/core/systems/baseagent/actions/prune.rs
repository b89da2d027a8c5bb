//! Clears old tool results before a call.

use super::{METER, limits_of, raised, terms, total_of};
use crate::chat::{ChatMessage, Messages, PendingRequest, Replies, Rule};
use crate::engine::{
    ActionKind, Edits, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten,
};
use crate::languages::python::PythonError;
use crate::systems::baseagent::log_lines::{OVERFLOW, status, sufficient};
use crate::systems::baseagent::prune::Results;
use crate::systems::baseagent::{Limits, MARKER, StopAtMarker};
use crate::systems::stage_settings::{check_keys, choice_setting};
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// `marker` sets the effect of a result cleared earlier on the scan: it `stops` the scan as shipped, or `counts` like
/// any other as documented.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "baseagent.prune",
    ActionKind::Clear,
    "Clears tool results beyond the protected turns and tokens, if that saves enough.",
    |settings| {
        check_keys(settings, &["marker"])?;
        let choices = [("stops", StopAtMarker::Yes), ("counts", StopAtMarker::No)];
        let stop_at_marker =
            choice_setting(settings, "marker", &choices)?.unwrap_or(StopAtMarker::Yes);
        Ok(Arc::new(Prune { stop_at_marker }))
    },
)
.with_numbers(&["usable", "threshold", "protect", "minimum", "protect_turns"]);

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
        let (saves_enough, lines) = found.judge(limits);
        // Without messages, the original returns before it judges and logs.
        let clears = saves_enough && !messages.is_empty();
        if !messages.is_empty() {
            log.extend(lines);
        }
        let old = if clears { found.old } else { 0..0 };
        let cleared = messages.updated_state(CLEARED, |cleared: &mut Cleared, messages| {
            cleared.extend(messages, &results, old.end);
        });
        let edits = cleared.edits_of(old.clone());
        let after = Tokens(cleared.total_after(before.0, old));
        if !limits.is_overflow(after) {
            log.push(sufficient(before, after));
        }
        Ok(Rewritten {
            fired: clears,
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

/// Caches the index of the results.
const RESULTS: Rule = Rule::new("baseagent: results");
/// Caches the cleared form of the oldest results.
const CLEARED: Rule = Rule::new("baseagent: cleared");

/// The oldest results in their cleared form.
#[derive(Clone, Debug, Default)]
struct Cleared {
    edits: Edits,
    /// Running sums of tokens up to and including each result.
    sums: Vec<ClearedSum>,
}

/// Tokens of the oldest results.
#[derive(Clone, Copy, Debug, Default)]
struct ClearedSum {
    /// Of the original results.
    original: u64,
    /// Of the results in their cleared form.
    cleared: u64,
}

impl Cleared {
    /// Clears further results, up to (not including) this number.
    fn extend(&mut self, messages: &[ChatMessage], results: &Results, end: usize) {
        for nth in self.edits.len()..end {
            let at = results.message_index(nth);
            let message = &messages[at];
            let cleared = message.with_text(MARKER);
            let before = self.sum_before(nth);
            self.sums.push(ClearedSum {
                original: before.original + METER.weigh(message),
                cleared: before.cleared + METER.weigh(&cleared),
            });
            let now = Some(cleared);
            self.edits.grow([MessageEdit { at, now }]);
        }
    }

    /// Returns the edits that clear these results.
    fn edits_of(&self, cleared: Range<usize>) -> Edits {
        if cleared == (0..self.edits.len()) {
            self.edits.clone()
        } else {
            self.edits[cleared].to_vec().into()
        }
    }

    /// Returns the total that remains of `total` tokens after clearing these results.
    fn total_after(&self, total: u64, cleared: Range<usize>) -> u64 {
        let (start, end) = (self.sum_before(cleared.start), self.sum_before(cleared.end));
        total - (end.original - start.original) + (end.cleared - start.cleared)
    }

    fn sum_before(&self, nth: usize) -> ClearedSum {
        let last = nth.checked_sub(1);
        last.map_or_else(ClearedSum::default, |last| self.sums[last])
    }
}
