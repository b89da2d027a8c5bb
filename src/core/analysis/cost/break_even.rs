//! Break-even of compactions: the calls after which one has paid for its cost, and whether it did.
//!
//! A compaction saves the cache reads of the removed tokens in every later call. It costs once: the tokens after the
//! first change are written to the cache again, and the summary has a price. It pays if
//! `calls x removed x read > rewritten x (write - read) + summary`. If the cache has expired, everything is written
//! again in any case, and the compaction saves at once.

use super::price::sampled_calls;
use super::{BilledCall, Bills};
use crate::engine::{Effect, Event, Outcome};
use crate::units::{Tokens, Usd};

/// The costs and savings of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakEven {
    /// Index of the call before which it acted.
    pub call: usize,
    /// Stages that acted.
    pub stages: Vec<String>,
    /// Tokens that later calls no longer send.
    pub removed: Tokens,
    /// Tokens that the call before had cached and this call writes again.
    pub rewritten: Tokens,
    /// The cache had expired.
    pub is_cold: bool,
    /// One-time cost; `None` if a price is unknown.
    pub once: Option<Usd>,
    /// Savings per later call.
    pub per_call: Option<Usd>,
    /// Calls after which it has paid, if known.
    pub needed: Option<u64>,
    /// Calls from it to the session's end.
    pub left: usize,
    /// The cost of the summary is included. False if the file does not record it.
    pub knows_summary: bool,
}

impl BreakEven {
    /// Returns whether it paid within the session; `None` if unknown.
    pub fn has_paid(&self) -> Option<bool> {
        Some(self.needed? <= self.left as u64)
    }
}

/// Returns every compaction of a run that removed content already sent.
pub fn break_even(bills: &Bills<'_>, outcome: &Outcome) -> Vec<BreakEven> {
    let mut found = Vec::new();
    let mut events = outcome.events.iter().peekable();
    let (mut last_prompt, mut last_removal) = (None, None);
    for (idx, sampled) in sampled_calls(bills, outcome).enumerate() {
        let call = sampled.bill;
        let mut acted: Vec<&Event> = Vec::new();
        while let Some(event) = events.next_if(|event| event.first_call_after() <= call.index) {
            acted.extend((event.effect != Effect::Logged).then_some(event));
        }
        let removal = removal(idx, &acted);
        let removed = removal.map_or(Tokens::ZERO, |now| now.newly_removed(last_removal));
        last_removal = removal;
        // If no sent content changed, there is no cost.
        if let Some(before) = last_prompt.replace(sampled.sample.tokens)
            && sampled.unchanged < before
            && removed > Tokens::ZERO
        {
            let left = bills.calls.len() - idx;
            found.push(break_even_of(
                call,
                before,
                sampled.unchanged,
                &acted,
                removed,
                left,
            ));
        }
    }
    found
}

/// Tokens removed by the events before one call.
#[derive(Clone, Copy, Debug)]
struct Removal {
    /// Index of the call.
    idx: usize,
    /// Tokens before the first event.
    before: Tokens,
    removed: Tokens,
}

fn removal(idx: usize, acted: &[&Event]) -> Option<Removal> {
    Some(Removal {
        idx,
        before: acted.first()?.before,
        removed: acted.iter().map(|event| event.before - event.after).sum(),
    })
}

impl Removal {
    /// Returns the tokens that were not already removed for the previous call. A view is computed again for every call.
    fn newly_removed(self, last: Option<Self>) -> Tokens {
        let again = last.filter(|last| last.idx + 1 == self.idx && self.before >= last.before);
        self.removed - again.map_or(Tokens::ZERO, |last| last.removed)
    }
}

fn break_even_of(
    call: &BilledCall<'_>,
    before: Tokens,
    unchanged: Tokens,
    acted: &[&Event],
    removed: Tokens,
    left: usize,
) -> BreakEven {
    let is_cold = call.is_cold();
    let rewritten = if is_cold {
        Tokens::ZERO
    } else {
        before - unchanged - removed
    };
    let requests = || acted.iter().filter_map(|event| event.request);
    let prices = call.tariff.map(|tariff| {
        let summary: Usd = requests()
            .map(|request| request.uncached_price(tariff.price).most)
            .sum();
        let write = tariff.write().unwrap_or(tariff.price.input);
        let read = tariff.price.cache_read;
        let once = write.of(rewritten) - read.of(rewritten) + summary;
        let at_once = if is_cold {
            write.of(removed)
        } else {
            Usd::ZERO
        };
        (once - at_once, read.of(removed))
    });
    let needed = prices.and_then(|(once, per_call)| calls_needed(once, per_call));
    BreakEven {
        call: call.index,
        stages: acted.iter().map(|event| event.stage.clone()).collect(),
        removed,
        rewritten,
        is_cold,
        once: prices.map(|(once, _)| once),
        per_call: prices.map(|(_, per_call)| per_call),
        needed,
        left,
        knows_summary: acted.iter().all(|e| e.stage != Event::RECORDED),
    }
}

/// Returns the first number of calls after which the savings exceed the cost.
fn calls_needed(once: Usd, per_call: Usd) -> Option<u64> {
    if once.0 <= 0.0 {
        return Some(0);
    }
    let calls = once.0 / per_call.0;
    calls.is_finite().then_some(calls.floor() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cost::{Lifetime, Tariff};
    use crate::presets::prices::Prices;

    /// Returns the calls, as a fraction, until removing `removed` tokens pays for writing `kept` tokens again.
    fn calls(model: &str, lifetime: Lifetime, (kept, removed): (u64, u64)) -> f64 {
        let prices = Prices::bundled();
        let price = prices.lookup(model, None).expect(model);
        let call = BilledCall {
            index: 7,
            tariff: Some(Tariff::new(
                price,
                prices.rule(&price.caching).unwrap(),
                lifetime,
            )),
            gap: Some(10.0),
            same_model: true,
            output: Tokens::ZERO,
            is_output_estimated: false,
        };
        let prefix = 3_000;
        let before = Tokens(prefix + removed + kept);
        let found = break_even_of(&call, before, Tokens(prefix), &[], Tokens(removed), 50);
        assert_eq!(found.rewritten, Tokens(kept));
        let calls = found.once.unwrap().0 / found.per_call.unwrap().0;
        assert_eq!(found.needed, Some(calls.floor() as u64 + 1));
        assert_eq!(found.has_paid(), Some(calls < 49.0));
        (calls * 10.0).round() / 10.0
    }

    #[test]
    fn small_early_cuts_take_many_calls_to_pay_and_large_late_ones_pay_at_once() {
        let cuts = [(100_000, 20_000), (40_000, 80_000), (10_000, 150_000)];
        let table = [
            ("claude-opus-4-5", Lifetime::Usual, [57.5, 5.8, 0.8]),
            ("claude-opus-4-5", Lifetime::Long, [95.0, 9.5, 1.3]),
            ("gpt-5.1", Lifetime::Usual, [45.0, 4.5, 0.6]),
            ("gpt-4.1", Lifetime::Usual, [15.0, 1.5, 0.2]),
            ("gpt-4o", Lifetime::Usual, [5.0, 0.5, 0.1]),
            ("deepseek-flash", Lifetime::Usual, [245.0, 24.5, 3.3]),
        ];
        for (model, lifetime, expected) in table {
            let found = cuts.map(|cut| calls(model, lifetime, cut));
            for (found, expected) in found.into_iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 0.051,
                    "{model}: {found}, not {expected}"
                );
            }
        }
    }
}
