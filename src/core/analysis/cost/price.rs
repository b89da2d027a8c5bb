//! Computes the costs of a lane's calls.

use super::{AdditionalCost, BilledCall, Bills, CallCost, Cost, CostSource, Tariff};
use crate::engine::{Case, Effect, Event, Outcome, RequestSize, Sample};
use crate::session::Usage;
use crate::units::{Rate, Tokens, Usd};

/// Cache reads and writes of a prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Split {
    pub(super) read: Tokens,
    written: Tokens,
    /// Of these, written for the longer lifetime; `None` if the tariff's lifetime applies to all.
    written_hour: Option<Tokens>,
    uncached: Tokens,
}

/// Returns the actual cost: from the provider's counts, or from the cache model if the file has no cache counts.
/// `recorded` is the lane of that name.
pub fn price_recorded(case: &Case, bills: &Bills<'_>, recorded: &Outcome) -> Cost {
    let usages = || case.session.calls.iter().filter_map(|call| call.usage);
    let counts_cache = |usage: Usage| usage.cache_read.or(usage.cache_write).is_some();
    if !usages().any(counts_cache) {
        return price_lane(bills, recorded);
    }
    // Some programs write 0 for unknown counts: a cache read requires an earlier write.
    let has = |count: fn(Usage) -> Option<Tokens>| usages().any(|u| count(u) > Some(Tokens::ZERO));
    let counts_writes = has(|usage| usage.cache_write) || !has(|usage| usage.cache_read);
    let mut cost = Cost::new(CostSource::Recorded);
    for call in &bills.calls {
        let Some(mut usage) = case.session.calls[call.index].usage else {
            continue;
        };
        usage.cache_write = usage.cache_write.filter(|_| counts_writes);
        charge(
            &mut cost,
            call,
            usage.input,
            reported(usage, call.tariff.as_ref()),
        );
    }
    rejected(&mut cost, bills, recorded);
    summaries(&mut cost, bills, recorded);
    cost
}

/// Returns a prompt as the provider counted it. Some providers report cache reads without writes.
fn reported(usage: Usage, tariff: Option<&Tariff<'_>>) -> Split {
    let read = usage.cache_read.unwrap_or_default().min(usage.input);
    let rest = usage.input - read;
    let is_written = |t: &Tariff<'_>| t.write().is_some() && usage.input >= t.minimum();
    let written = match usage.cache_write {
        Some(written) => written.min(rest),
        None if tariff.is_some_and(is_written) => rest,
        None => Tokens::ZERO,
    };
    Split {
        read,
        written,
        written_hour: usage.cache_write_hour.map(|hour| hour.min(written)),
        uncached: rest - written,
    }
}

/// Returns the cost of a run.
pub fn price_lane(bills: &Bills<'_>, outcome: &Outcome) -> Cost {
    let mut cost = Cost::new(CostSource::Modelled);
    cost.calls.reserve(bills.calls.len());
    for call in sampled_calls(bills, outcome) {
        charge(&mut cost, call.bill, call.sample.tokens, modelled(&call));
    }
    rejected(&mut cost, bills, outcome);
    summaries(&mut cost, bills, outcome);
    cost
}

/// Returns the cost of attempts that overflowed and of calls that the provider rejected.
fn rejected(cost: &mut Cost, bills: &Bills<'_>, outcome: &Outcome) {
    let mut samples = outcome.samples.iter().peekable();
    for call in &bills.calls {
        while let Some(sample) = samples.next_if(|sample| sample.call <= call.index) {
            let tokens = sample.rejected;
            let tariff = call.tariff.filter(|_| bills.bills_rejected);
            if sample.call == call.index {
                let usd = tariff.map_or(Usd::ZERO, |tariff| tariff.price.input.of(tokens));
                cost.rejected.add(tokens, usd);
                if tokens > Tokens::ZERO {
                    let call = call.index;
                    cost.additional.push(AdditionalCost { call, usd });
                }
            }
        }
    }
}

/// A billed call of a run.
#[derive(Clone, Copy)]
pub(super) struct SampledCall<'a> {
    pub(super) bill: &'a BilledCall<'a>,
    pub(super) sample: &'a Sample,
    /// Tokens that the prompt shares with the previous one.
    pub(super) unchanged: Tokens,
}

/// Returns the billed calls of a run.
pub(super) fn sampled_calls<'a>(
    bills: &'a Bills<'a>,
    outcome: &'a Outcome,
) -> impl Iterator<Item = SampledCall<'a>> {
    let mut samples = outcome.samples.iter().peekable();
    let mut unchanged = Tokens(u64::MAX);
    bills.calls.iter().filter_map(move |bill| {
        // Calls that are not billed are not cached either, so changes before them count too.
        while let Some(sample) = samples.next_if(|sample| sample.call <= bill.index) {
            unchanged = unchanged.min(sample.unchanged);
            if sample.call == bill.index && !sample.is_rejected {
                return Some(SampledCall {
                    bill,
                    sample,
                    unchanged: std::mem::replace(&mut unchanged, Tokens(u64::MAX)),
                });
            }
        }
        None
    })
}

/// Returns the reads and writes of an ideal cache.
pub(super) fn modelled(call: &SampledCall<'_>) -> Split {
    let sample = call.sample;
    let Some(tariff) = &call.bill.tariff else {
        return Split {
            uncached: sample.tokens,
            ..Split::default()
        };
    };
    let read = if call.bill.is_cold() {
        Tokens::ZERO
    } else {
        tariff.cached(call.unchanged.min(sample.tokens))
    };
    let rest = sample.tokens - read;
    let is_written = tariff.write().is_some() && sample.tokens >= tariff.minimum();
    let (written, uncached) = if is_written {
        (rest, Tokens::ZERO)
    } else {
        (Tokens::ZERO, rest)
    };
    Split {
        read,
        written,
        written_hour: None,
        uncached,
    }
}

fn charge(cost: &mut Cost, call: &BilledCall<'_>, prompt: Tokens, split: Split) {
    let usd = call.tariff.map(|tariff| {
        let (on_prompt, on_answer) = tariff.price.factors(prompt);
        let price = tariff.price;
        let at = |rate: Rate, tokens: Tokens| rate.times(on_prompt).of(tokens);
        [
            at(price.cache_read, split.read),
            written(&tariff, on_prompt, split),
            at(price.input, split.uncached),
            price.output.times(on_answer).of(call.output),
        ]
    });
    let [read, written, uncached, output] = usd.unwrap_or_default();
    cost.read.add(split.read, read);
    cost.written.add(split.written, written);
    cost.uncached.add(split.uncached, uncached);
    cost.output.add(call.output, output);
    cost.unpriced += usize::from(usd.is_none());
    cost.estimated_outputs += usize::from(call.is_output_estimated);
    cost.billed += 1;
    cost.calls.push(CallCost {
        index: call.index,
        read: split.read,
        written: split.written,
        uncached: split.uncached,
        output: call.output,
        usd: usd.map(|parts| parts.into_iter().sum()),
    });
}

fn written(tariff: &Tariff<'_>, factor: f64, split: Split) -> Usd {
    let price = tariff.price;
    let usual = price.cache_write.unwrap_or(price.input);
    match split.written_hour {
        Some(hour) => {
            let long = price.cache_write_hour.unwrap_or(usual);
            long.times(factor).of(hour) + usual.times(factor).of(split.written - hour)
        }
        None => tariff
            .write()
            .unwrap_or(price.input)
            .times(factor)
            .of(split.written),
    }
}

/// Returns the cost of the summary requests, which are not cached.
fn summaries(cost: &mut Cost, bills: &Bills<'_>, outcome: &Outcome) {
    let is_recorded = |e: &&Event| e.stage == Event::RECORDED && e.effect == Effect::Removed;
    cost.recorded_compactions = outcome.events.iter().filter(is_recorded).count();
    let mut left = outcome.summaries;
    for event in &outcome.events {
        let Some(request) = event.request else {
            continue;
        };
        left.sent = left.sent - request.sent;
        left.received = left.received - request.answer;
        summary(cost, bills, event.call, request);
    }
    // Requests with unusable answers have no event.
    let left = RequestSize {
        sent: left.sent,
        answer: left.received,
    };
    if left.total() > Tokens::ZERO {
        summary(cost, bills, 0, left);
    }
}

fn summary(cost: &mut Cost, bills: &Bills<'_>, call: usize, request: RequestSize) {
    let usd = bills.tariff_at(call).map_or(Usd::ZERO, |tariff| {
        request.uncached_price(tariff.price).most
    });
    cost.summaries.add(request.total(), usd);
    cost.additional.push(AdditionalCost { call, usd });
}

impl<'a> Bills<'a> {
    /// Returns the tariff of the first billed call from `call` on, or of the last billed call.
    pub fn tariff_at(&self, call: usize) -> Option<Tariff<'a>> {
        let at = self.calls.partition_point(|billed| billed.index < call);
        self.calls.get(at).or(self.calls.last())?.tariff
    }
}
