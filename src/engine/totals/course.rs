//! A session without any context management, as sums.

use crate::engine::Case;
use crate::engine::meter::Meter;
use crate::session::Kind;

/// Sums over a session. Ranks count the messages of the history.
#[derive(Debug)]
pub(super) struct Course {
    /// Index after the last message of the history before each call.
    pub(super) ends: Vec<usize>,
    /// `ends` as a rank.
    pub(super) ranks: Vec<usize>,
    /// Turn of the last message before each call.
    pub(super) turns: Vec<u32>,
    /// True tokens of the history before each call, without overhead.
    pub(super) truth: Vec<u64>,
    /// Sums of `truth` over the calls before.
    pub(super) truth_sums: Vec<u64>,
    /// `truth` on the policy's own meter.
    pub(super) metered: Vec<u64>,
    /// The messages of the history, by rank.
    pub(super) history: Vec<u32>,
    /// True tokens of the history before each rank.
    pub(super) truth_before: Vec<u64>,
    /// `truth_before` on the policy's own meter.
    pub(super) metered_before: Vec<u64>,
    /// Number of messages that are instructions before all others.
    pub(super) preamble: usize,
    /// The first message that any message of the history from a rank on needs, including itself.
    pub(super) needed_from: Vec<u32>,
    pub(super) results: Results,
}

/// Tool results in order, each with its attached parts.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Parts of the results.
    pub(super) parts: Vec<u32>,
    /// Messages of the results.
    pub(super) messages: Vec<u32>,
    /// True tokens of the results before each.
    pub(super) truth_before: Vec<u64>,
    /// `truth_before` on the policy's own meter.
    pub(super) metered_before: Vec<u64>,
    /// Number of results before each call.
    pub(super) at: Vec<usize>,
    /// Tokens of the results before each call, on the policy's own meter.
    pub(super) metered_at: Vec<u64>,
}

impl Course {
    pub(super) fn new(case: &Case, meter: &Meter) -> Self {
        let (session, column) = (&case.session, case.metered(meter));
        let is_history = |m: &u32| session.messages[*m as usize].in_history;
        let history: Vec<u32> = (0..session.messages.len() as u32)
            .filter(is_history)
            .collect();
        let before = |weights: &[u32]| sums(history.iter().map(|m| weights[*m as usize]));
        let truth_before = before(&case.ledger.truth.per_message);
        let metered_before = before(&column.per_message);
        let ends = ends(case);
        let ranks: Vec<usize> = ends
            .iter()
            .map(|end| history.partition_point(|m| (*m as usize) < *end))
            .collect();
        let truth: Vec<u64> = ranks.iter().map(|rank| truth_before[*rank]).collect();
        let mut truth_sums = Vec::with_capacity(truth.len() + 1);
        truth_sums.push(0);
        for tokens in &truth {
            truth_sums.push(truth_sums.last().unwrap_or(&0) + tokens);
        }
        let mut needed_from: Vec<u32> = history
            .iter()
            .map(|m| case.index.first_call[*m as usize])
            .collect();
        needed_from.push(u32::MAX);
        for rank in (0..history.len()).rev() {
            needed_from[rank] = needed_from[rank].min(needed_from[rank + 1]);
        }
        let turn = |end: &usize| end.checked_sub(1).map_or(0, |m| session.messages[m].turn);
        Self {
            turns: ends.iter().map(turn).collect(),
            needed_from,
            results: Results::new(case, &column.per_part, &history, &ends),
            preamble: history.partition_point(|m| *m < case.index.preamble_end),
            metered: ranks.iter().map(|rank| metered_before[*rank]).collect(),
            truth,
            truth_sums,
            ranks,
            ends,
            truth_before,
            metered_before,
            history,
        }
    }

    /// Returns the number of calls.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the first call from `from` on at which the policy's own count, plus `added`, is at least `floor`.
    pub(super) fn reaches(&self, from: usize, added: i64, floor: f64) -> usize {
        let is_below = |metered: &u64| ((metered.cast_signed() + added) as f64) < floor;
        first_not(&self.metered, from, is_below)
    }
}

/// Returns the first index from `from` on for which `holds` is false, if it is true exactly up to there. Searches near
/// `from` first.
pub(super) fn first_not<T>(values: &[T], from: usize, holds: impl Fn(&T) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    loop {
        match values.get(low + step - 1) {
            Some(value) if holds(value) => low += step,
            _ => break,
        }
        step *= 2;
    }
    if step == 1 {
        return low;
    }
    let high = (low + step - 1).min(values.len());
    low + values
        .get(low..high)
        .map_or(0, |rest| rest.partition_point(holds))
}

impl Results {
    fn new(case: &Case, metered: &[u32], history: &[u32], ends: &[usize]) -> Self {
        let (truth, index) = (&case.ledger.truth.per_part, &case.index);
        let mut results = Self::default();
        let mut weights: Vec<(u64, u64)> = Vec::new();
        for message in history {
            let parts = case.session.messages[*message as usize].parts.clone();
            let mut own: Vec<(u32, usize)> = Vec::new();
            for part in parts {
                let weight = (u64::from(truth[part]), u64::from(metered[part]));
                let owner = index.owner[part];
                if index.kinds[part] == Kind::ToolResult {
                    own.push((part as u32, weights.len()));
                    results.parts.push(part as u32);
                    results.messages.push(*message);
                    weights.push(weight);
                } else if let Some((_, nth)) = own.iter().rev().find(|(p, _)| Some(*p) == owner) {
                    weights[*nth].0 += weight.0;
                    weights[*nth].1 += weight.1;
                }
            }
        }
        let messages = &results.messages;
        results.at = ends
            .iter()
            .map(|end| messages.partition_point(|m| (*m as usize) < *end))
            .collect();
        results.truth_before = sums(weights.iter().map(|(truth, _)| *truth));
        results.metered_before = sums(weights.iter().map(|(_, metered)| *metered));
        let metered_at = results.at.iter().map(|n| results.metered_before[*n]);
        results.metered_at = metered_at.collect();
        results
    }
}

/// Returns the sums before each weight, and the total.
fn sums<N: Into<u64>>(weights: impl Iterator<Item = N>) -> Vec<u64> {
    let mut sum = 0;
    let mut sums = vec![0];
    sums.extend(weights.map(|weight| {
        sum += weight.into();
        sum
    }));
    sums
}

/// Returns the index after the last message before each call, as a run appends it.
fn ends(case: &Case) -> Vec<usize> {
    let (session, mut said) = (&case.session, 0);
    let end = |(idx, step): (usize, &crate::session::Call)| {
        let end = said.max(step.context_end);
        let answer = session.messages[end..]
            .iter()
            .take_while(|m| m.call == Some(idx));
        said = end + answer.count();
        end
    };
    session.calls.iter().enumerate().map(end).collect()
}
