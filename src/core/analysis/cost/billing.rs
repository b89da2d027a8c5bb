//! Billing data that all lanes of a session share: billed calls, prices and pauses.

use crate::engine::Case;
use crate::presets::prices::{Caching, Price, Prices};
use crate::session::{Call, Session};
use crate::units::{Millis, Rate, Tokens};

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
        Self {
            prices,
            model: None,
            bills_rejected: false,
            lifetime: None,
        }
    }

    /// Returns the price of a model of the session, by its index, on the day of its first call with a time. The
    /// index is `None` for calls whose model is not recorded.
    pub fn price(self, session: &Session, model: Option<usize>) -> Option<&'a Price> {
        let is_of_model = |call: &&Call| model.is_none() || call.model == model;
        let mut calls = session.calls.iter().filter(is_of_model);
        self.price_at(session, model, calls.find_map(|call| call.time))
    }

    /// Returns the price of a model of the session at a time. Some providers charge less at some hours.
    fn price_at(
        self,
        session: &Session,
        model: Option<usize>,
        time: Option<Millis>,
    ) -> Option<&'a Price> {
        let name = model.map_or("", |model| &*session.models[model]);
        self.prices.lookup(self.model.unwrap_or(name), time)
    }

    /// Returns price and caching rule of a model at a time.
    fn tariff_at(
        self,
        session: &Session,
        model: Option<usize>,
        time: Option<Millis>,
        lifetime: Lifetime,
    ) -> Option<Tariff<'a>> {
        let price = self.price_at(session, model, time)?;
        let rule = self.prices.rule(&price.caching)?;
        Some(Tariff::new(price, rule, lifetime))
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
        Self {
            price,
            caching,
            lifetime,
        }
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
}

impl<'a> Bills<'a> {
    /// The calls of a session. Where it reports usage, a call without any was aborted or never made: it is billed in
    /// no lane. One that the provider rejected is billed in lanes where it fits.
    pub fn new(case: &Case, billing: Billing<'a>) -> Self {
        let session = &case.session;
        let lifetime = billing.lifetime;
        let lifetime = lifetime.unwrap_or_else(|| recorded_lifetime(session, billing));
        let tariffs = tariffs(session, billing, lifetime);
        let answers = answers(case);
        let reports = session.calls.iter().any(|call| call.usage.is_some());
        let (mut model, mut before) = (None, None::<(Option<usize>, Option<Millis>)>);
        let mut calls = Vec::with_capacity(session.calls.len());
        for (idx, call) in session.calls.iter().enumerate() {
            if reports && call.usage.is_none() && !call.is_rejected {
                continue;
            }
            model = call.model.or(model);
            let reported = call.usage.and_then(|usage| usage.output);
            let time_before = before.and_then(|(_, time)| time);
            let gap = call
                .time
                .zip(time_before)
                .map(|(now, then)| (now.0 - then.0) as f64 / 1e3);
            calls.push(BilledCall {
                index: idx,
                tariff: match call.time {
                    Some(time) => billing.tariff_at(session, model, Some(time), lifetime),
                    None => tariffs[model.map_or(0, |model| model + 1)],
                },
                gap,
                same_model: before.is_none_or(|(known, _)| known == model),
                output: reported.unwrap_or(answers[idx]),
                is_output_estimated: reported.is_none(),
            });
            if !call.is_rejected {
                before = Some((model, call.time));
            }
        }
        Self {
            calls,
            bills_rejected: billing.bills_rejected,
            lifetime,
        }
    }
}

/// Returns the longer lifetime if most cache writes were for it. If the file does not say: if most prompts were read from
/// the cache after pauses longer than the usual lifetime.
fn recorded_lifetime(session: &Session, billing: Billing<'_>) -> Lifetime {
    let usages = || session.calls.iter().filter_map(|call| call.usage);
    let is_long = if usages().any(|usage| usage.cache_write_hour.is_some()) {
        let written: Tokens = usages().filter_map(|usage| usage.cache_write).sum();
        let long: Tokens = usages().filter_map(|usage| usage.cache_write_hour).sum();
        long.0 > written.0 / 2
    } else {
        outlives_pauses(session, billing)
    };
    if is_long {
        Lifetime::Long
    } else {
        Lifetime::Usual
    }
}

/// Returns whether most prompts were read from the cache after pauses between the usual and the longer lifetime.
fn outlives_pauses(session: &Session, billing: Billing<'_>) -> bool {
    let tariffs = tariffs(session, billing, Lifetime::Usual);
    let (mut hits, mut misses) = (0, 0);
    let reported = |call: &Call| Some((call.time?, call.usage?, call.model));
    let calls: Vec<_> = session.calls.iter().filter_map(reported).collect();
    for pair in calls.windows(2) {
        let [(then, before, earlier), (now, usage, model)] = pair else {
            continue;
        };
        let rule = tariffs[model.map_or(0, |model| model + 1)].map(|tariff| tariff.caching);
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

/// Returns one tariff per model, preceded by that of calls with an unknown model.
fn tariffs<'a>(
    session: &Session,
    billing: Billing<'a>,
    lifetime: Lifetime,
) -> Vec<Option<Tariff<'a>>> {
    let tariff = |model: Option<usize>| {
        let price = billing.price(session, model)?;
        let rule = billing.prices.rule(&price.caching)?;
        Some(Tariff::new(price, rule, lifetime))
    };
    let models = (0..session.models.len()).map(Some);
    std::iter::once(None).chain(models).map(tariff).collect()
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
