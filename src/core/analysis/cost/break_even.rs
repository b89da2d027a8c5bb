//! Break-even of compactions: the calls after which one has paid for its cost, and whether it did.
//!
//! A compaction saves the cache reads of the removed tokens in every later call. It costs once: the tokens after the
//! first change are written to the cache again, and the summary has a price. It pays if
//! `calls x removed x read > rewritten x (write - read) + summary`. If the cache has expired, everything is written
//! again in any case, and the compaction saves at once.
//!
//! A recorded compaction is priced from the calls around it: what the next call wrote to the cache again, and the
//! difference of the two contexts. The cost of its summary is known only if the file records it.

use super::price::{price_above_read, reported, sampled_calls};
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
    /// Calls after which its savings equal its cost; none if it saves nothing or a price is unknown.
    pub calls: Option<f64>,
    /// Calls after which it has paid, if known: the first whole number above `calls`.
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
    let mut n_recorded = 0;
    let (mut last_prompt, mut last_removal) = (None, None);
    for (idx, sampled) in sampled_calls(bills, outcome).enumerate() {
        let call = sampled.bill;
        let mut acted: Vec<&Event> = Vec::new();
        let mut summaries = Some(Usd::ZERO);
        while let Some(event) = events.next_if(|event| event.first_call_after() <= call.index) {
            acted.extend((event.effect != Effect::Logged).then_some(event));
            summaries = match (summaries, summary(bills, call, event, &mut n_recorded)) {
                (Some(sum), Some(usd)) => Some(sum + usd),
                _ => None,
            };
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
            let prompts = Prompts { before, unchanged: sampled.unchanged, removed };
            found.push(break_even_of(call, prompts, &acted, summaries, left));
        }
    }
    found
}

/// Returns the price of an event's summary request; `None` if the file does not record it.
fn summary(
    bills: &Bills<'_>,
    call: &BilledCall<'_>,
    event: &Event,
    n_recorded: &mut usize,
) -> Option<Usd> {
    if event.is_recorded() {
        *n_recorded += 1;
        return bills.recorded_summary(*n_recorded - 1);
    }
    let priced = event.request.zip(call.tariff);
    let price = priced.map(|(request, tariff)| request.uncached_price(tariff.price).most);
    Some(price.unwrap_or_default())
}

/// The prompts before and after a compaction.
#[derive(Clone, Copy, Debug)]
struct Prompts {
    /// Tokens of the prompt of the call before.
    before: Tokens,
    /// Tokens that both prompts begin with.
    unchanged: Tokens,
    /// Tokens that the compaction removed.
    removed: Tokens,
}

/// Tokens removed by the events before one call.
#[derive(Clone, Copy, Debug)]
struct RemovedBeforeCall {
    /// Index of the call.
    idx: usize,
    /// Tokens before the first event.
    before: Tokens,
    removed: Tokens,
}

fn removal(idx: usize, acted: &[&Event]) -> Option<RemovedBeforeCall> {
    Some(RemovedBeforeCall {
        idx,
        before: acted.first()?.before,
        removed: acted.iter().map(|event| event.before - event.after).sum(),
    })
}

impl RemovedBeforeCall {
    /// Returns the tokens that were not already removed for the previous call. A view is computed again for every call.
    fn newly_removed(self, last: Option<Self>) -> Tokens {
        let again = last.filter(|last| last.idx + 1 == self.idx && self.before >= last.before);
        self.removed - again.map_or(Tokens::ZERO, |last| last.removed)
    }
}

fn break_even_of(
    call: &BilledCall<'_>,
    prompts: Prompts,
    acted: &[&Event],
    summaries: Option<Usd>,
    left: usize,
) -> BreakEven {
    let removed = prompts.removed;
    let is_cold = call.is_cold();
    let is_recorded = acted.iter().any(|event| event.is_recorded());
    let counted = call.usage.filter(|usage| is_recorded && usage.cache_read.is_some());
    let rewritten = match counted {
        _ if is_cold => Tokens::ZERO,
        Some(usage) => {
            let split = reported(usage, call.tariff.as_ref());
            // Providers without a price of writes count none.
            if split.written > Tokens::ZERO { split.written } else { split.uncached }
        }
        None => prompts.before - prompts.unchanged - removed,
    };
    let prices = call.tariff.map(|tariff| {
        let write = tariff.write().unwrap_or(tariff.price.input);
        let read = tariff.price.cache_read;
        let again = match counted {
            Some(usage) => price_above_read(&tariff, usage, rewritten),
            None => write.of(rewritten) - read.of(rewritten),
        };
        let at_once = if is_cold { write.of(removed) } else { Usd::ZERO };
        let once = again + summaries.unwrap_or_default();
        (once - at_once, read.of(removed))
    });
    let calls = prices.and_then(|(once, per_call)| calls_to_pay(once, per_call));
    BreakEven {
        call: call.index,
        stages: acted.iter().map(|event| event.stage.clone()).collect(),
        removed,
        rewritten,
        is_cold,
        once: prices.map(|(once, _)| once),
        per_call: prices.map(|(_, per_call)| per_call),
        calls,
        needed: calls.map(calls_needed),
        left,
        knows_summary: summaries.is_some(),
    }
}

/// Returns the number of calls after which the savings equal the cost.
fn calls_to_pay(once: Usd, per_call: Usd) -> Option<f64> {
    let calls = once.0.max(0.0) / per_call.0;
    calls.is_finite().then_some(calls)
}

/// Returns the first number of calls after which the savings exceed the cost; 0 if there is no cost.
fn calls_needed(calls: f64) -> u64 {
    if calls <= 0.0 { 0 } else { calls.floor() as u64 + 1 }
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
            tariff: Some(Tariff::new(price, prices.rule(&price.caching).unwrap(), lifetime)),
            gap: Some(10.0),
            same_model: true,
            usage: None,
            is_rejected: false,
            output: Tokens::ZERO,
            is_output_estimated: false,
        };
        let prefix = 3_000;
        let prompts = Prompts {
            before: Tokens(prefix + removed + kept),
            unchanged: Tokens(prefix),
            removed: Tokens(removed),
        };
        let found = break_even_of(&call, prompts, &[], Some(Usd::ZERO), 50);
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
                assert!((found - expected).abs() < 0.051, "{model}: {found}, not {expected}");
            }
        }
    }
}
