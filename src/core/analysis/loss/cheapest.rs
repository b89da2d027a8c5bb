//! The hindsight optimum in money: the cheapest known way to send the session.
//!
//! A clearing saves the cache reads of a result in all later calls, but the rest of the context is written to the cache
//! again. So the run that sends the fewest tokens may cost more than what happened.

use super::Names;
use super::hindsight::last_uses;
use crate::analysis::cost::{BilledCall, Bills, price_lane};
use crate::engine::{Case, Outcome, cleared_after};
use crate::units::{Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The hindsight optimum in money, with a modelled cache. It never costs more than what happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheapestRun {
    /// What it does.
    pub way: CheapestWay,
    /// Its cost.
    pub usd: Usd,
    /// Cost of the recorded run by the same cache model.
    pub recorded: Usd,
    /// Number of results that it clears.
    pub clearings: usize,
    /// Tokens sent.
    pub sent: Tokens,
}

/// Ways to send the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheapestWay {
    /// As recorded. Its compactions may have lost content, which no other way does. The others count only if they fit
    /// into the context window.
    Recorded,
    /// Without any compaction.
    Uncompacted,
    /// Each tool result is cleared right after its last use.
    ClearedAtOnce,
    /// Tool results are cleared after their last use where the rest of the session pays for it.
    ClearedWherePaid,
}

impl CheapestRun {
    /// Returns the cheapest of all ways; `None` if a price is unknown. `cleared` is the run of [`super::hindsight`].
    pub fn find(
        names: &Names,
        case: &Case,
        bills: &Bills<'_>,
        output_reserve: Tokens,
        (recorded, cleared): (&Outcome, &Outcome),
    ) -> Option<Self> {
        let last = last_uses(names, case);
        let never = vec![u32::MAX; last.len()];
        let uncompacted = cleared_after(case, output_reserve, &never);
        let paid = cleared_after(case, output_reserve, &where_paid(case, bills, &last));
        let happened = price_lane(bills, recorded).total()?;
        let others = [
            (CheapestWay::Uncompacted, &uncompacted),
            (CheapestWay::ClearedAtOnce, cleared),
            (CheapestWay::ClearedWherePaid, &paid),
        ];
        // The provider would reject a context that is larger than the window.
        let fits = |outcome: &Outcome| outcome.samples.iter().all(|s| s.tokens <= s.window);
        let others = others.into_iter().filter(|(_, outcome)| fits(outcome));
        let priced = others.filter_map(|(way, outcome)| {
            Some(Self {
                way,
                usd: price_lane(bills, outcome).total()?,
                recorded: happened,
                clearings: outcome.compactions,
                sent: outcome.tokens_sent(),
            })
        });
        let as_recorded = Self {
            way: CheapestWay::Recorded,
            usd: happened,
            recorded: happened,
            clearings: 0,
            sent: recorded.tokens_sent(),
        };
        // Of equal costs, the first.
        let cheaper = |a: Self, b: Self| if b.usd.0 < a.usd.0 { b } else { a };
        Some(priced.fold(as_recorded, cheaper))
    }

    /// Returns `results cleared after their last use where it pays (12 clearings)`.
    pub fn text(&self) -> String {
        let clearings = match self.clearings {
            1 => "1 clearing".to_owned(),
            n => format!("{n} clearings"),
        };
        match self.way {
            CheapestWay::Recorded => "what happened".to_owned(),
            CheapestWay::Uncompacted => "no compaction".to_owned(),
            CheapestWay::ClearedAtOnce => {
                format!("each tool result cleared after its last use ({clearings})")
            }
            CheapestWay::ClearedWherePaid => {
                format!("tool results cleared after their last use where it pays ({clearings})")
            }
        }
    }
}

/// Returns the call after which each result is cleared: the first one after its last use at which clearing it, together
/// with the results behind it, costs less than it saves until the cache expires or the session ends. `u32::MAX`: never.
fn where_paid(case: &Case, bills: &Bills<'_>, last: &[u32]) -> Vec<u32> {
    let mut clearing = Clearing {
        context: TokenSums::new(last.len()),
        due: BTreeSet::new(),
        case,
    };
    let mut cleared = vec![u32::MAX; last.len()];
    let mut waiting: Vec<(u32, usize)> =
        last.iter().zip(0..).map(|(at, part)| (*at, part)).collect();
    waiting.retain(|(at, _)| *at != u32::MAX);
    waiting.sort_unstable();
    let mut waiting = waiting.into_iter().peekable();
    let mut end = 0;
    for (nth, call) in bills.calls.iter().enumerate() {
        let mut is_new = false;
        while let Some((_, part)) = waiting.next_if(|(at, _)| (*at as usize) < call.index) {
            is_new |= clearing.due.insert(part);
        }
        let first = if call.is_cold() {
            // The prompt is written to the cache in any case.
            clearing.due.first().copied()
        } else {
            let later = &bills.calls[nth..];
            let until_cold = later.iter().take_while(|call| !call.is_cold()).count();
            is_new.then(|| clearing.best(call, until_cold)).flatten()
        };
        if let Some(first) = first {
            let taken = clearing.due.split_off(&first);
            for part in taken {
                clearing.context.add(part, -clearing.tokens(part));
                cleared[part] = call.index.saturating_sub(1) as u32;
            }
        }
        let now = case.session.calls[call.index].context_end;
        for message in case.session.messages[end..now]
            .iter()
            .filter(|m| m.in_history)
        {
            for part in message.parts.clone() {
                clearing.context.add(part, clearing.tokens(part));
            }
        }
        end = now;
    }
    cleared
}

/// The context of a call and the results that are no longer used.
struct Clearing<'a> {
    /// Tokens of the parts in the context of the call before.
    context: TokenSums,
    /// Parts that can be cleared.
    due: BTreeSet<usize>,
    case: &'a Case,
}

impl Clearing<'_> {
    fn tokens(&self, part: usize) -> i64 {
        self.case.ledger.part(part).0.cast_signed()
    }

    /// Returns the first part of the clearing that saves most over this many calls, if any saves.
    fn best(&self, call: &BilledCall<'_>, calls: usize) -> Option<usize> {
        let tariff = call.tariff?;
        let read = tariff.price.cache_read.0;
        let write = tariff.write().unwrap_or(tariff.price.input).0;
        let (mut removed, mut best) = (0, None);
        let mut most = 0.0;
        for part in self.due.iter().rev().copied() {
            let kept = self.context.after(part) - removed;
            removed += self.tokens(part);
            let saved = removed as f64 * read * calls as f64 - kept.max(0) as f64 * (write - read);
            if saved > most {
                (most, best) = (saved, Some(part));
            }
        }
        best
    }
}

/// Sums of tokens by part (a Fenwick tree).
struct TokenSums {
    tree: Vec<i64>,
    all: i64,
}

impl TokenSums {
    fn new(len: usize) -> Self {
        Self {
            tree: vec![0; len + 1],
            all: 0,
        }
    }

    fn add(&mut self, part: usize, tokens: i64) {
        self.all += tokens;
        let mut at = part + 1;
        while let Some(sum) = self.tree.get_mut(at) {
            *sum += tokens;
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the tokens of all later parts.
    fn after(&self, part: usize) -> i64 {
        let (mut at, mut up_to) = (part + 1, 0);
        while at > 0 {
            up_to += self.tree[at];
            at &= at - 1;
        }
        self.all - up_to
    }
}

#[cfg(test)]
mod tests {
    use super::TokenSums;

    #[test]
    fn sums_the_tokens_of_later_parts() {
        let mut sums = TokenSums::new(5);
        for (part, tokens) in [(0, 1), (2, 10), (4, 100), (2, -3)] {
            sums.add(part, tokens);
        }
        let found: Vec<i64> = (0..5).map(|part| sums.after(part)).collect();
        assert_eq!(found, [107, 107, 100, 100, 0]);
    }
}
