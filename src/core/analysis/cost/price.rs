//! Computes the costs of a lane's calls.

use super::billing::BilledUsage;
use super::{AdditionalCost, BilledCall, Bills, CallCost, Charge, Cost, CostSource, Tariff};
use crate::engine::{Effect, Outcome, RequestSize, Sample};
use crate::session::Usage;
use crate::units::{Rate, Tokens, Usd};

/// Cache reads and writes of a prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Split {
    pub(super) read: Tokens,
    pub(super) written: Tokens,
    /// Of these, written for the longer lifetime; `None` if the tariff's lifetime applies to all.
    written_hour: Option<Tokens>,
    pub(super) uncached: Tokens,
}

/// Returns the actual cost: from the provider's counts, from the program's totals, or from the cache model if the file
/// has neither. `recorded` is the lane of that name.
pub fn price_recorded(bills: &Bills<'_>, recorded: &Outcome) -> Cost {
    if !bills.calls.iter().any(|call| counted(call).is_some()) {
        let modelled = price_lane(bills, recorded);
        return if bills.totals.is_empty() { modelled } else { price_totals(bills, modelled) };
    }
    let mut cost = Cost::new(CostSource::Recorded);
    for call in sampled_calls(bills, recorded) {
        // A rejected call is billed only in lanes where it fits.
        if call.bill.is_rejected {
            continue;
        }
        let split = match counted(call.bill) {
            Some(usage) => reported(usage, call.bill.tariff.as_ref()),
            None => modelled(&call),
        };
        charge(&mut cost, call.bill, call.sample.tokens, split);
    }
    rejected(&mut cost, bills, recorded);
    summaries(&mut cost, bills, recorded);
    cost
}

/// Returns the usage of a call if the provider counted its cache.
fn counted(call: &BilledCall<'_>) -> Option<Usage> {
    let counts_cache = |usage: &Usage| usage.cache_read.or(usage.cache_write).is_some();
    call.usage.filter(counts_cache)
}

/// Returns the cost by the program's totals. `modelled` is the modelled cost of the calls. It has the cost of single
/// calls and the shares of the cache that a total lacks. Recorded summaries are part of the totals and are priced on
/// their own, so they are taken out first.
fn price_totals(bills: &Bills<'_>, modelled: Cost) -> Cost {
    let input =
        (modelled.read.tokens + modelled.written.tokens + modelled.uncached.tokens).as_f64();
    let share = |charge: Charge| charge.tokens.as_f64() / input.max(1.0);
    let (read, written) = (share(modelled.read), share(modelled.written));
    let counts_cache = bills.totals.iter().all(|t| t.usage.cache_read.is_some());
    let answers = modelled.output.tokens;
    let mut cost = Cost {
        source: if counts_cache { CostSource::Recorded } else { CostSource::Modelled },
        read: Charge::default(),
        written: Charge::default(),
        uncached: Charge::default(),
        output: Charge::default(),
        summaries: Charge::default(),
        has_totals: true,
        unpriced: 0,
        estimated_outputs: 0,
        estimated_calls: 0,
        // The totals contain those that the file does not list.
        unpriced_summaries: 0,
        ..modelled
    };
    let mut totals = bills.totals.clone();
    for summary in bills.summaries.iter().flatten() {
        take_out(&mut totals, &summary.usage);
        let tokens = summary.usage.input + summary.usage.output.unwrap_or_default();
        let usd = usage_price(summary);
        cost.unpriced += usize::from(usd.is_none());
        cost.summaries.add(tokens, usd.unwrap_or_default());
    }
    for total in &totals {
        let of_input = |share: f64| Tokens((total.usage.input.as_f64() * share) as u64);
        let usage = Usage {
            cache_read: total.usage.cache_read.or(Some(of_input(read))),
            cache_write: total.usage.cache_write.or_else(|| {
                let is_modelled = total.usage.cache_read.is_none();
                is_modelled.then(|| of_input(written))
            }),
            ..total.usage
        };
        let split = reported(usage, total.tariff.as_ref());
        let output = usage.output.unwrap_or(answers);
        let usd = total.tariff.map(|tariff| prices(&tariff, (1.0, 1.0), split, output));
        cost.unpriced += usize::from(usd.is_none());
        add(&mut cost, split, output, usd);
    }
    cost
}

/// Takes the request for a summary out of the total that contains it. A total that is smaller lacks it.
fn take_out(totals: &mut [BilledUsage<'_>], request: &Usage) {
    let contains = |total: &&mut BilledUsage<'_>| {
        total.usage.input >= request.input && total.usage.output >= request.output
    };
    let Some(total) = totals.iter_mut().find(contains) else {
        return;
    };
    let less =
        |all: Option<Tokens>, part: Option<Tokens>| all.map(|n| n - part.unwrap_or_default());
    let usage = &mut total.usage;
    usage.input = usage.input - request.input;
    usage.cache_read = less(usage.cache_read, request.cache_read);
    usage.cache_write = less(usage.cache_write, request.cache_write);
    usage.output = less(usage.output, request.output);
}

/// Returns a prompt as the provider counted it. Some providers report cache reads without writes; a reported write of 0
/// is none.
pub(super) fn reported(usage: Usage, tariff: Option<&Tariff<'_>>) -> Split {
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
        return Split { uncached: sample.tokens, ..Split::default() };
    };
    let read = if call.bill.is_cold() {
        Tokens::ZERO
    } else {
        tariff.cached(call.unchanged.min(sample.tokens))
    };
    let rest = sample.tokens - read;
    let is_written = tariff.write().is_some() && sample.tokens >= tariff.minimum();
    let (written, uncached) = if is_written { (rest, Tokens::ZERO) } else { (Tokens::ZERO, rest) };
    Split { read, written, written_hour: None, uncached }
}

fn charge(cost: &mut Cost, call: &BilledCall<'_>, prompt: Tokens, split: Split) {
    let usd = call.tariff.map(|tariff| {
        let factors = tariff.price.factors(prompt);
        prices(&tariff, factors, split, call.output)
    });
    add(cost, split, call.output, usd);
    cost.unpriced += usize::from(usd.is_none());
    cost.estimated_outputs += usize::from(call.is_output_estimated);
    cost.estimated_calls += usize::from(call.usage.is_none());
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

/// Returns the prices of cache reads, cache writes, the rest of the prompt, and the answer.
fn prices(
    tariff: &Tariff<'_>,
    (on_prompt, on_answer): (f64, f64),
    split: Split,
    output: Tokens,
) -> [Usd; 4] {
    let price = tariff.price;
    let at = |rate: Rate, tokens: Tokens| rate.times(on_prompt).of(tokens);
    [
        at(price.cache_read, split.read),
        written(tariff, on_prompt, split),
        at(price.input, split.uncached),
        price.output.times(on_answer).of(output),
    ]
}

/// Adds tokens and their prices, if known.
fn add(cost: &mut Cost, split: Split, answer: Tokens, usd: Option<[Usd; 4]>) {
    let [read, written, uncached, output] = usd.unwrap_or_default();
    cost.read.add(split.read, read);
    cost.written.add(split.written, written);
    cost.uncached.add(split.uncached, uncached);
    cost.output.add(answer, output);
}

/// Returns the price of a recorded request that is not a call. Without cache counts, nothing of it was cached.
fn usage_price(billed: &BilledUsage<'_>) -> Option<Usd> {
    let tariff = billed.tariff?;
    let usage = Usage {
        cache_write: billed.usage.cache_write.or_else(|| {
            let is_uncounted = billed.usage.cache_read.is_none();
            is_uncounted.then_some(Tokens::ZERO)
        }),
        ..billed.usage
    };
    let split = reported(usage, Some(&tariff));
    let factors = tariff.price.factors(usage.input);
    let output = usage.output.unwrap_or_default();
    Some(prices(&tariff, factors, split, output).into_iter().sum())
}

/// Returns what a call paid for prompt tokens that were not read from the cache, above the price of a read. They follow
/// the tokens that were read, as those written to the cache do.
pub(super) fn price_above_read(tariff: &Tariff<'_>, usage: Usage, tokens: Tokens) -> Usd {
    let split = reported(usage, Some(tariff));
    let (factor, _) = tariff.price.factors(usage.input);
    let in_written = tokens.min(split.written);
    let of_written = in_written.as_f64() / split.written.as_f64().max(1.0);
    let written = Usd(written(tariff, factor, split).0 * of_written);
    let rest = (tokens - in_written).min(split.uncached);
    let price = tariff.price;
    written + price.input.times(factor).of(rest)
        - price.cache_read.times(factor).of(in_written + rest)
}

fn written(tariff: &Tariff<'_>, factor: f64, split: Split) -> Usd {
    let price = tariff.price;
    let usual = price.cache_write.unwrap_or(price.input);
    match split.written_hour {
        Some(hour) => {
            let long = price.cache_write_hour.unwrap_or(usual);
            long.times(factor).of(hour) + usual.times(factor).of(split.written - hour)
        }
        None => tariff.write().unwrap_or(price.input).times(factor).of(split.written),
    }
}

/// Returns the cost of the summary requests. Those of a lane are not cached; recorded ones cost what was reported.
fn summaries(cost: &mut Cost, bills: &Bills<'_>, outcome: &Outcome) {
    let mut left = outcome.summaries;
    let mut recorded = bills.summaries.iter();
    for event in &outcome.events {
        let billed = if event.is_recorded() {
            let billed = recorded.next().and_then(Option::as_ref);
            let is_unknown = billed.is_none() && event.effect == Effect::Removed;
            cost.unpriced_summaries += usize::from(is_unknown);
            billed
        } else {
            None
        };
        let Some(request) = event.request else {
            continue;
        };
        left.sent = left.sent - request.sent;
        left.received = left.received - request.answer;
        match billed {
            Some(billed) => {
                let usd = usage_price(billed);
                cost.unpriced += usize::from(usd.is_none());
                cost.add_summary(event.call, request, usd.unwrap_or_default());
            }
            None => summary(cost, bills, event.call, request),
        }
    }
    // Requests with unusable answers have no event.
    let left = RequestSize { sent: left.sent, answer: left.received };
    if left.total() > Tokens::ZERO {
        summary(cost, bills, 0, left);
    }
}

fn summary(cost: &mut Cost, bills: &Bills<'_>, call: usize, request: RequestSize) {
    let usd =
        bills.tariff_at(call).map_or(Usd::ZERO, |tariff| request.uncached_price(tariff.price).most);
    cost.add_summary(call, request, usd);
}

impl Cost {
    fn add_summary(&mut self, call: usize, request: RequestSize, usd: Usd) {
        self.summaries.add(request.total(), usd);
        self.additional.push(AdditionalCost { call, usd });
    }
}

impl<'a> Bills<'a> {
    /// Returns the price of the summary request of a recorded compaction; `None` if it is not recorded.
    pub(super) fn recorded_summary(&self, compaction: usize) -> Option<Usd> {
        usage_price(self.summaries.get(compaction)?.as_ref()?)
    }

    /// Returns the tariff of the first billed call from `call` on, or of the last billed call.
    fn tariff_at(&self, call: usize) -> Option<Tariff<'a>> {
        let at = self.calls.partition_point(|billed| billed.index < call);
        self.calls.get(at).or(self.calls.last())?.tariff
    }
}
