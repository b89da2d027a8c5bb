//! The table `compactions`.

use super::conversation::Conversation;
use super::lane::PlayedLane;
use crate::analysis::cost::BreakEven;
use crate::engine::{Effect, Event};
use crate::exec::tables::column::{ContentHash, Name};
use crate::exec::tables::schema::row;
use crate::units::{Tokens, Usd};

row! {
    /// A compaction of a lane that removed what a call before it had sent, and every recorded compaction.
    CompactionRow in "compactions" {
        /// SHA-256 of the file's content.
        content_sha256: ContentHash,
        /// Number of the conversation in the file, from 1.
        conversation: usize,
        /// Name of the lane; `recorded` for the recorded run.
        lane: Name,
        /// First call after it; the number of calls + 1 if none follows.
        call: usize,
        /// Cause as recorded, such as `auto` or `manual`; null if not recorded, and in other lanes.
        started_by: Option<Name>,
        /// Context before; null if unknown.
        input_tokens_before: Option<Tokens>,
        /// Context after; null if unknown.
        input_tokens_after: Option<Tokens>,
        /// Tokens that later calls no longer send; null if no call follows, and for a second compaction before the same call.
        removed_tokens: Option<Tokens>,
        /// Tokens that were cached and are written to the cache again; null as above.
        rewritten_tokens: Option<Tokens>,
        /// Whether the cache had expired; null as above.
        cache_expired: Option<bool>,
        /// One-time cost; null as above, and if a price is unknown.
        once_usd: Option<Usd>,
        /// Savings of each later call; null as above, and if a price is unknown.
        per_call_usd: Option<Usd>,
        /// Number of calls after which it has paid off; null as above, and if it saves nothing or a price is unknown.
        calls_needed: Option<u64>,
        /// Number of calls from it to the end of the session; null as above.
        calls_left: Option<usize>,
        /// Whether it paid off within the session; null if unknown.
        paid_off: Option<bool>,
    }
}

/// A compaction without its costs.
struct CompactionCall<'a> {
    call: usize,
    started_by: Option<&'a str>,
    before: Option<Tokens>,
    after: Option<Tokens>,
}

/// Returns a row for each compaction of a lane.
pub(super) fn rows(of: &Conversation<'_>, lane: &PlayedLane<'_>) -> Vec<CompactionRow> {
    let even = |call: usize| lane.break_even.iter().find(|even| even.call == call);
    if !lane.is_recorded() {
        let of_lane = lane.break_even.iter().map(|found| {
            let (before, after) = contexts(&lane.outcome.events, found.call);
            let place = CompactionCall { call: found.call, started_by: None, before, after };
            row(of, lane, &place, Some(found))
        });
        return of_lane.collect();
    }
    let compactions = &of.case.session.compactions;
    let of_recorded = compactions.iter().enumerate().map(|(idx, compaction)| {
        let is_first = idx == 0 || compactions[idx - 1].call != compaction.call;
        // Counts of the program, else those of the lane.
        let (before, after) = contexts(&lane.outcome.events, compaction.call);
        let place = CompactionCall {
            call: compaction.call,
            started_by: Some(&*compaction.trigger).filter(|trigger| !trigger.is_empty()),
            before: compaction.tokens_before.or(before),
            after: compaction.tokens_after.or(after),
        };
        row(of, lane, &place, even(compaction.call).filter(|_| is_first))
    });
    of_recorded.collect()
}

/// Returns the context before the first and after the last stage that acted before a call.
fn contexts(events: &[Event], call: usize) -> (Option<Tokens>, Option<Tokens>) {
    let mut acted = events
        .iter()
        .filter(|event| event.first_call_after() == call && event.effect != Effect::Logged);
    let first = acted.next();
    let last = acted.next_back().or(first);
    (first.map(|event| event.before), last.map(|event| event.after))
}

fn row(
    of: &Conversation<'_>,
    lane: &PlayedLane<'_>,
    place: &CompactionCall<'_>,
    even: Option<&BreakEven>,
) -> CompactionRow {
    let (content_sha256, conversation) = of.key();
    CompactionRow {
        content_sha256,
        conversation,
        lane: lane.name.clone(),
        call: place.call + 1,
        started_by: place.started_by.map(|trigger| Name::Owned(trigger.to_owned())),
        input_tokens_before: place.before,
        input_tokens_after: place.after,
        removed_tokens: even.map(|even| even.removed),
        rewritten_tokens: even.map(|even| even.rewritten),
        cache_expired: even.map(|even| even.is_cold),
        once_usd: even.and_then(|even| even.once),
        per_call_usd: even.and_then(|even| even.per_call),
        calls_needed: even.and_then(|even| even.needed),
        calls_left: even.map(|even| even.left),
        paid_off: even.and_then(BreakEven::has_paid),
    }
}
