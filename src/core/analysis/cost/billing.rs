//! Billing data that all lanes of a session share: billed calls, prices and pauses.

use crate::engine::Case;
use crate::presets::prices::{Caching, Price, Prices};
use crate::session::{Call, RecordedCompaction, Session, Usage, UsageTotal};
use crate::units::{Millis, Rate, Tokens};
use std::collections::HashMap;

/// Billing rules, as set by the user.
#[derive(Clone, Copy, Debug)]
pub struct Billing<'a> {
    /// Price table.
    pub prices: &'a Prices,
    /// Price every call as this model's.
    pub model: Option<&'a str>,
    /// The provider bills calls that it rejects as too long. (No known provider does.)
    pub bills_rejected: bool,
    /// Cache lifetime; `None`: as the file's cache writes and reads show.
    pub lifetime: Option<Lifetime>,
}

impl<'a> Billing<'a> {
    /// Creates rules with these prices and defaults for the rest.
    pub fn at(prices: &'a Prices) -> Self {
        Self { prices, model: None, bills_rejected: false, lifetime: None }
    }

    /// Returns the price of a model of the session, by its index, on the day of its first call with a time. The
    /// index is `None` for calls whose model is not recorded.
    pub fn price(self, session: &Session, model: Option<usize>) -> Option<&'a Price> {
        self.price_at(session, model, None)
    }

    /// Returns the price of a model at a time (default: that of its first call with a time). Some providers charge less
    /// at some hours.
    fn price_at(
        self,
        session: &Session,
        model: Option<usize>,
        time: Option<Millis>,
    ) -> Option<&'a Price> {
        let name = model.map_or("", |model| &*session.models[model]);
        let is_of_model = |call: &&Call| model.is_none() || call.model == model;
        let mut calls = session.calls.iter().filter(is_of_model);
        let time = time.or_else(|| calls.find_map(|call| call.time));
        self.prices.lookup(self.model.unwrap_or(name), time)
    }

    /// Returns the tariff of a price.
    fn tariff(self, price: &'a Price, lifetime: Lifetime) -> Option<Tariff<'a>> {
        let rule = self.prices.rule(&price.caching)?;
        Some(Tariff::new(price, rule, lifetime))
    }

    /// Returns the tariff of a model that the session may not list, at the time of the session's first call.
    fn tariff_of_name(
        self,
        session: &Session,
        name: &str,
        lifetime: Lifetime,
    ) -> Option<Tariff<'a>> {
        let time = session.calls.iter().find_map(|call| call.time);
        let price = self.prices.lookup(self.model.unwrap_or(name), time)?;
        self.tariff(price, lifetime)
    }
}

/// Cache lifetime of an unused prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// The provider's default.
    Usual,
    /// The longer lifetime, at a different price.
    Long,
}

/// Prices and caching rule of one call.
#[derive(Clone, Copy, Debug)]
pub struct Tariff<'a> {
    /// Price of the model.
    pub price: &'a Price,
    /// Caching rule of the provider.
    pub caching: &'a Caching,
    lifetime: Lifetime,
}

impl<'a> Tariff<'a> {
    /// Creates the tariff for a price, a caching rule and a lifetime.
    pub fn new(price: &'a Price, caching: &'a Caching, lifetime: Lifetime) -> Self {
        Self { price, caching, lifetime }
    }

    /// Returns the shortest prefix that is cached, in tokens.
    pub fn minimum(&self) -> Tokens {
        self.price.minimum(self.caching)
    }

    /// Returns the lifetime of an unused prefix in seconds, if known.
    pub fn seconds(&self) -> Option<u64> {
        match self.lifetime {
            Lifetime::Usual => self.caching.seconds,
            Lifetime::Long => self.caching.seconds_long.or(self.caching.seconds),
        }
    }

    /// Returns the price of a cache write; `None` if it is the input price.
    pub fn write(&self) -> Option<Rate> {
        match self.lifetime {
            Lifetime::Usual => self.price.cache_write,
            Lifetime::Long => self.price.cache_write_hour.or(self.price.cache_write),
        }
    }

    /// Returns the cached part of a prefix of this length, in tokens.
    pub fn cached(&self, prefix: Tokens) -> Tokens {
        if prefix < self.minimum() {
            return Tokens::ZERO;
        }
        Tokens(prefix.0 - prefix.0 % self.caching.step)
    }
}

/// A call that is billed.
#[derive(Clone, Copy, Debug)]
pub struct BilledCall<'a> {
    /// Index of the call.
    pub index: usize,
    /// Price and caching rule, if known.
    pub tariff: Option<Tariff<'a>>,
    /// Seconds since the previous billed call, if the file records times.
    pub gap: Option<f64>,
    /// The model is the same as in the previous billed call.
    pub same_model: bool,
    /// Usage as the provider reported it.
    pub usage: Option<Usage>,
    /// The file records that the provider rejected the call.
    pub is_rejected: bool,
    /// Tokens of the answer.
    pub output: Tokens,
    /// The file does not report the size of the answer.
    pub is_output_estimated: bool,
}

impl BilledCall<'_> {
    /// Returns true if the previous prompt cannot be in the cache.
    pub fn is_cold(&self) -> bool {
        !self.same_model || self.is_late()
    }

    /// Returns true if the cache has expired since the previous call.
    pub fn is_late(&self) -> bool {
        let seconds = self.tariff.and_then(|tariff| tariff.seconds());
        let late = self.gap.zip(seconds);
        late.is_some_and(|(gap, seconds)| gap > seconds as f64)
    }
}

/// The billed calls of a session, in order.
#[derive(Clone, Debug)]
pub struct Bills<'a> {
    /// The calls.
    pub calls: Vec<BilledCall<'a>>,
    /// Rejected tries are billed.
    pub bills_rejected: bool,
    /// Cache lifetime.
    pub lifetime: Lifetime,
    /// Usage that the program totals, by model.
    pub(super) totals: Vec<BilledUsage<'a>>,
    /// Recorded usage of the summary request of each recorded compaction.
    pub(super) summaries: Vec<Option<BilledUsage<'a>>>,
}

/// Recorded usage that is not that of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct BilledUsage<'a> {
    /// Price and caching rule, if known.
    pub(super) tariff: Option<Tariff<'a>>,
    /// The usage.
    pub(super) usage: Usage,
}

impl<'a> Bills<'a> {
    /// The calls of a session. A call without usage is billed by its counted tokens, even if it was aborted: its prompt
    /// was sent. One that the provider rejected is billed in lanes where it fits. In a managed conversation, calls
    /// without usage are those of the source, where they are billed.
    pub fn new(case: &Case, billing: Billing<'a>) -> Self {
        let session = &case.session;
        let lifetime = billing.lifetime;
        let lifetime = lifetime.unwrap_or_else(|| recorded_lifetime(session, billing));
        let mut tariffs = Tariffs::new(session, billing, lifetime);
        let answers = answers(case);
        let reports = session.calls.iter().any(|call| call.usage.is_some());
        let is_managed = session.calibration.is_some() && reports;
        let (mut model, mut before) = (None, None::<(Option<usize>, Option<Millis>)>);
        let mut calls = Vec::with_capacity(session.calls.len());
        for (idx, call) in session.calls.iter().enumerate() {
            if is_managed && call.usage.is_none() && !call.is_rejected {
                continue;
            }
            model = call.model.or(model);
            let reported = call.usage.and_then(|usage| usage.output).or(call.answer);
            let time_before = before.and_then(|(_, time)| time);
            let gap = call.time.zip(time_before).map(|(now, then)| (now.0 - then.0) as f64 / 1e3);
            calls.push(BilledCall {
                index: idx,
                tariff: tariffs.at(model, call.time),
                gap,
                same_model: before.is_none_or(|(known, _)| known == model),
                usage: call.usage,
                is_rejected: call.is_rejected,
                output: reported.unwrap_or(answers[idx]),
                is_output_estimated: reported.is_none(),
            });
            // A rejected prompt is not in the cache.
            if !call.is_rejected {
                before = Some((model, call.time));
            }
        }
        let first: Option<Tariff<'a>> = calls.first().and_then(|call| call.tariff);
        let total = |total: &UsageTotal| BilledUsage {
            tariff: if total.model.is_empty() {
                first
            } else {
                billing.tariff_of_name(session, &total.model, lifetime)
            },
            usage: total.usage,
        };
        let summary = |compaction: &RecordedCompaction| {
            let request = compaction.request.as_ref()?;
            let call = session.calls.get(compaction.call).or(session.calls.last());
            let tariff = match &request.model {
                Some(name) => billing.tariff_of_name(session, name, lifetime),
                None => call.and_then(|call| tariffs.at(call.model.or(model), call.time)),
            };
            Some(BilledUsage { tariff, usage: request.usage })
        };
        Self {
            calls,
            bills_rejected: billing.bills_rejected,
            lifetime,
            totals: session.totals.iter().map(total).collect(),
            summaries: session.compactions.iter().map(summary).collect(),
        }
    }
}

/// Returns the longer lifetime if most cache writes were for it. If the file does not say: if most prompts were read
/// from the cache after pauses longer than the usual lifetime.
fn recorded_lifetime(session: &Session, billing: Billing<'_>) -> Lifetime {
    let usages = || session.calls.iter().filter_map(|call| call.usage);
    let is_long = if usages().any(|usage| usage.cache_write_hour.is_some()) {
        let written: Tokens = usages().filter_map(|usage| usage.cache_write).sum();
        let long: Tokens = usages().filter_map(|usage| usage.cache_write_hour).sum();
        long.0 > written.0 / 2
    } else {
        outlives_pauses(session, billing)
    };
    if is_long { Lifetime::Long } else { Lifetime::Usual }
}

/// Returns whether most prompts were read from the cache after pauses between the usual and the longer lifetime.
fn outlives_pauses(session: &Session, billing: Billing<'_>) -> bool {
    let mut tariffs = Tariffs::new(session, billing, Lifetime::Usual);
    let (mut hits, mut misses) = (0, 0);
    let reported = |call: &Call| Some((call.time?, call.usage?, call.model));
    let calls: Vec<_> = session.calls.iter().filter_map(reported).collect();
    for pair in calls.windows(2) {
        let [(then, before, earlier), (now, usage, model)] = pair else {
            continue;
        };
        let rule = tariffs.at(*model, Some(*now)).map(|tariff| tariff.caching);
        let lifetimes = rule.and_then(|rule| rule.seconds.zip(rule.seconds_long));
        let (Some((usual, long)), Some(read)) = (lifetimes, usage.cache_read) else {
            continue;
        };
        let seconds = now.0.saturating_sub(then.0).max(0) as u64 / 1_000;
        let is_between = seconds > usual && seconds <= long;
        if is_between && earlier == model {
            // Compactions and other changes of the prompt leave some of it.
            if read.0 > before.input.min(usage.input).0 / 2 {
                hits += 1;
            } else {
                misses += 1;
            }
        }
    }
    hits > misses
}

/// Time during which a price is assumed not to change: known price lists change at full or half hours.
const SAME_PRICE: i64 = 15 * 60 * 1_000;

/// Tariffs by model and time.
struct Tariffs<'a, 's> {
    session: &'s Session,
    billing: Billing<'a>,
    lifetime: Lifetime,
    known: HashMap<(Option<usize>, Option<i64>), Option<Tariff<'a>>>,
}

impl<'a, 's> Tariffs<'a, 's> {
    fn new(session: &'s Session, billing: Billing<'a>, lifetime: Lifetime) -> Self {
        Self { session, billing, lifetime, known: HashMap::new() }
    }

    /// Returns the tariff of a call with this model at this time, if the price is known.
    fn at(&mut self, model: Option<usize>, time: Option<Millis>) -> Option<Tariff<'a>> {
        let key = (model, time.map(|time| time.0.div_euclid(SAME_PRICE)));
        let (session, billing, lifetime) = (self.session, self.billing, self.lifetime);
        *self.known.entry(key).or_insert_with(|| {
            let price = billing.price_at(session, model, time)?;
            billing.tariff(price, lifetime)
        })
    }
}

/// Returns the recorded tokens of each call's answer.
fn answers(case: &Case) -> Vec<Tokens> {
    let mut answers = vec![Tokens::ZERO; case.session.calls.len()];
    for (idx, message) in case.session.messages.iter().enumerate() {
        if let Some(answer) = message.call.and_then(|call| answers.get_mut(call)) {
            *answer += case.ledger.message(idx);
        }
    }
    answers
}
