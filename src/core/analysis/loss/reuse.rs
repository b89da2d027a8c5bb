//! Reuse distances: how far back the model's references reach. One curve shows the effect of every value of `keep_recent`
//! or `prune_protect`.

use super::names::Names;
use crate::engine::Case;
use crate::session::Kind;
use crate::units::Share;

/// Distances of all uses, in messages and in tokens of tool results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReuseCurves {
    /// Messages from the last copy to the use; 1 is the message before. Upper bound of what a policy misses that keeps this
    /// many recent messages: its summaries count as empty.
    pub messages: Distances,
    /// Tokens of tool results from the last copy (included) to the use, for uses with copies in results only: what a policy
    /// misses that protects this many tokens of results and clears the others.
    pub results: Distances,
}

/// Sorted distances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distances(Vec<u64>);

impl Distances {
    /// Returns the number of uses.
    pub fn uses(&self) -> usize {
        self.0.len()
    }

    /// Returns the distances, ascending.
    pub fn all(&self) -> &[u64] {
        &self.0
    }

    /// Returns the share of uses with a larger distance.
    pub fn miss(&self, reach: u64) -> Share {
        let within = self.0.partition_point(|distance| *distance <= reach);
        let n = self.0.len();
        Share((n - within) as f64 / n.max(1) as f64)
    }

    /// Returns the smallest distance that misses no more than this share; 0 if nothing is used again.
    pub fn smallest(&self, share: Share) -> u64 {
        let may_miss = (self.0.len() as f64 * share.0.clamp(0.0, 1.0)) as usize;
        let needed = self.0.len() - may_miss;
        needed.checked_sub(1).map_or(0, |last| self.0[last])
    }
}

/// Computes the distances of all uses of a session.
pub fn reuse_distances(names: &Names, case: &Case) -> ReuseCurves {
    let session = &case.session;
    let history = history_before(case);
    let results = results_before(case);
    let mut curves = ReuseCurves::default();
    for (_, used) in names.uses() {
        let copies = names.copies_before(used);
        let of_history = || {
            let is_history = |place: &&_| {
                let place: &super::parts::TextPosition = place;
                session.messages[place.message as usize].in_history
            };
            copies.iter().filter(is_history)
        };
        let Some(last) = of_history().next_back() else {
            continue;
        };
        let answer = &session.messages[used.message as usize];
        let distance = history[used.message as usize] - history[last.message as usize];
        curves.messages.0.push(u64::from(distance));
        let is_result = |part: u32| case.index.kinds[part as usize] == Kind::ToolResult;
        if of_history().all(|place| is_result(place.part)) {
            let tokens = results[answer.parts.start] - results[last.part as usize];
            curves.results.0.push(tokens);
        }
    }
    curves.messages.0.sort_unstable();
    curves.results.0.sort_unstable();
    curves
}

/// Returns the number of history messages before each message.
fn history_before(case: &Case) -> Vec<u32> {
    let mut n = 0;
    let messages = case.session.messages.iter();
    let before = messages.map(|message| {
        let before = n;
        n += u32::from(message.in_history);
        before
    });
    before.collect()
}

/// Returns the tokens of tool results before each part, and in total.
fn results_before(case: &Case) -> Vec<u64> {
    let mut before = Vec::with_capacity(case.session.parts.len() + 1);
    let mut sum = 0;
    for message in &case.session.messages {
        for part in message.parts.clone() {
            before.push(sum);
            let counts = message.in_history && case.index.kinds[part] == Kind::ToolResult;
            sum += if counts { case.ledger.part(part).0 } else { 0 };
        }
    }
    before.push(sum);
    before
}
