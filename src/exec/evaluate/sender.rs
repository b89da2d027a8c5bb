//! Sends requests once each: an answer in the log is not requested again. Stops at the budget, at a failure that no
//! further request can pass, after several failures in a row, and on cancellation.

use super::log::{EvaluationLog, LoggedRequest};
use super::question_counts::QuestionCounts;
use crate::engine::RequestSize;
use crate::exec::model::FailureScope;
use crate::exec::summary::{Ending, Exchange, Exchanges, Model, RunLog, send};
use crate::presets::prices::{Price, Prices};
use crate::providers::{Endpoint, Prompt};
use crate::units::{Tokens, Usd};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Number of failures without an answer in between that ends a run. It is two for each of the four concurrent requests,
/// so that one outage that hits all of them does not end it.
const MAX_FAILURES_IN_A_ROW: usize = 8;

/// A limit on the price of new requests. Runs that continue with the same [`EvaluationLog`] share it.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The limit.
    pub limit: Usd,
    /// Price of the model.
    pub price: Price,
}

impl Budget {
    /// Creates a limit on the price of requests to a server; none for this machine, whose models cost nothing.
    ///
    /// # Errors
    /// Returns one line if the price of the model is not known.
    pub fn new(limit: Usd, endpoint: &Endpoint, prices: &Prices) -> Result<Option<Self>, String> {
        if endpoint.is_local() {
            return Ok(None);
        }
        match prices.lookup(&endpoint.model, None) {
            Some(price) => Ok(Some(Self { limit, price: price.clone() })),
            None => Err(format!("no price of {} is known", endpoint.model)),
        }
    }
}

/// The reason why requests were not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The next request would exceed the budget.
    Budget,
    /// The user cancelled the run.
    Cancelled,
    /// No further request can succeed, for this reason.
    Failed(String),
}

/// Requests of a run and their answers.
pub(super) struct Sender<'a> {
    /// `None` if only the log answers.
    model: Option<&'a Model>,
    settings: RunLog,
    budget: Option<&'a Budget>,
    state: Mutex<SenderState<'a>>,
    /// Signals that a request is no longer in flight.
    answered: Condvar,
    on_answer: &'a (dyn Fn() + Sync),
}

struct SenderState<'a> {
    log: &'a mut EvaluationLog,
    n_sent: usize,
    /// Keys of the requests in flight.
    in_flight: HashSet<String>,
    stopped: Option<Stopped>,
    /// The model answered a request of this run.
    has_answered: bool,
    /// Number of failures since the last answer.
    failures_in_a_row: usize,
    questions: QuestionCounts,
    /// Answers that this run used, by key.
    used: BTreeMap<String, Exchange>,
    /// Number of requests without an answer.
    missing: usize,
}

/// Tokens of the requests that a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) answered: usize,
    /// Answered with an error, for example because the context is too long for the model.
    pub(super) failed: usize,
    pub(super) missing: usize,
    pub(super) questions: QuestionCounts,
    pub(super) sent: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) received: Option<u64>,
}

impl<'a> Sender<'a> {
    pub(super) fn new(
        model: Option<&'a Model>,
        log: &'a mut EvaluationLog,
        budget: Option<&'a Budget>,
        on_answer: &'a (dyn Fn() + Sync),
    ) -> Self {
        Self {
            model,
            settings: log.settings.clone(),
            budget,
            on_answer,
            state: Mutex::new(SenderState {
                log,
                n_sent: 0,
                in_flight: HashSet::new(),
                stopped: None,
                has_answered: false,
                failures_in_a_row: 0,
                questions: QuestionCounts::default(),
                used: BTreeMap::new(),
                missing: 0,
            }),
            answered: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, SenderState<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while another thread sends the same request.
    fn wait_for(&self, request: &LoggedRequest<'_>) -> MutexGuard<'_, SenderState<'a>> {
        let is_sent = |state: &mut SenderState<'a>| state.in_flight.contains(&request.key);
        let state = self.answered.wait_while(self.state(), is_sent);
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the settings of the model.
    pub(super) fn settings(&self) -> &RunLog {
        &self.settings
    }

    /// Returns the answer to a prompt of this many tokens; `None` if it was not sent or failed for good.
    pub(super) fn answer(&self, prompt: &Prompt, tokens: u64, series: &str) -> Option<Exchange> {
        let answer = self.try_answer(prompt, tokens, series);
        (self.on_answer)();
        answer
    }

    /// Counts the result of a question.
    pub(super) fn count(&self, add: impl FnOnce(&mut QuestionCounts)) {
        add(&mut self.state().questions);
    }

    /// Counts a question that cannot be sent.
    pub(super) fn skip(&self, add: impl FnOnce(&mut QuestionCounts)) {
        self.count(add);
        (self.on_answer)();
    }

    fn try_answer(&self, prompt: &Prompt, tokens: u64, series: &str) -> Option<Exchange> {
        let request = LoggedRequest::new(prompt, series);
        let size = RequestSize { sent: Tokens(tokens), answer: Tokens(prompt.max_tokens) };
        let estimate = self.budget.map(|budget| size.uncached_price(&budget.price).most);
        let number = {
            let mut state = self.wait_for(&request);
            if let Some(known) = state.known(&request) {
                return Some(known);
            }
            state.check(self, estimate);
            if self.model.is_none() || state.stopped.is_some() {
                return state.without_answer(&request);
            }
            state.in_flight.insert(request.key.clone());
            state.log.spent += estimate.unwrap_or_default();
            state.n_sent += 1;
            state.n_sent
        };
        let model = self.model?;
        let exchange = send(model, prompt, number, tokens, &request.key);
        let mut state = self.state();
        state.in_flight.remove(&request.key);
        self.answered.notify_all();
        let is_cancelled = exchange.failed.is_some() && model.stop.is_cancelled();
        if let (Some(budget), Some(estimate)) = (self.budget, estimate) {
            // A cancelled request may cost as much as its longest answer.
            let price = if is_cancelled {
                estimate
            } else {
                price_of(&budget.price, &exchange, tokens, estimate)
            };
            state.log.spent = state.log.spent - estimate + price;
        }
        if state.is_end(&exchange) {
            let reason = exchange.failed.clone().unwrap_or_default();
            let stopped = if is_cancelled { Stopped::Cancelled } else { Stopped::Failed(reason) };
            state.stopped.get_or_insert(stopped);
            if exchange.scope != FailureScope::Prompt {
                return state.without_answer(&request);
            }
        }
        state.log.add(&request, series, &exchange);
        state.used.insert(request.key, exchange.clone());
        Some(exchange)
    }

    /// Returns the reason why the run ended early.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.state().stopped.clone()
    }

    /// Sums the requests that were used. The sums do not depend on the order of the requests.
    pub(super) fn traffic(&self) -> Traffic {
        let state = self.state();
        let sum = |of: fn(&Exchange) -> Option<u64>| {
            let counts = state.used.values().filter_map(of);
            counts.fold(None, |sum: Option<u64>, n| Some(sum.unwrap_or(0) + n))
        };
        Traffic {
            answered: state.used.len(),
            failed: state.used.values().filter(|e| e.failed.is_some()).count(),
            missing: state.missing,
            questions: state.questions,
            sent: sum(|exchange| exchange.sent),
            cache_read: sum(|exchange| exchange.cache_read),
            received: sum(|exchange| exchange.received),
        }
    }
}

impl SenderState<'_> {
    /// Returns the answer in the log. A failure of an earlier run that may pass is requested again.
    fn known(&mut self, request: &LoggedRequest<'_>) -> Option<Exchange> {
        let known = self.log.answer(request)?.clone();
        if known.is_fatal && !self.used.contains_key(&request.key) {
            return None;
        }
        self.used.insert(request.key.clone(), known.clone());
        Some(known)
    }

    /// Returns the failure of an earlier run, if any, instead of sending a request.
    fn without_answer(&mut self, request: &LoggedRequest<'_>) -> Option<Exchange> {
        let earlier = self.log.answer(request).cloned();
        match &earlier {
            Some(failure) => {
                self.used.insert(request.key.clone(), failure.clone());
            }
            None => self.missing += 1,
        }
        earlier
    }

    /// Counts failures and decides whether one ends the run: no further request can succeed, the server never answered,
    /// or too many failed in a row.
    fn is_end(&mut self, exchange: &Exchange) -> bool {
        if exchange.failed.is_none() || exchange.is_too_long || exchange.ending == Ending::Refused {
            (self.has_answered, self.failures_in_a_row) = (true, 0);
            return false;
        }
        self.failures_in_a_row += 1;
        match exchange.scope {
            FailureScope::All => true,
            FailureScope::Moment if !self.has_answered => true,
            _ => self.failures_in_a_row >= MAX_FAILURES_IN_A_ROW,
        }
    }

    /// Stops before a request that must not be sent.
    fn check(&mut self, sender: &Sender<'_>, estimate: Option<Usd>) {
        if self.stopped.is_some() {
            return;
        }
        let is_cancelled = sender.model.is_some_and(|model| model.stop.is_cancelled());
        let exceeds =
            |budget: &Budget| self.log.spent + estimate.unwrap_or_default() > budget.limit;
        if is_cancelled {
            self.stopped = Some(Stopped::Cancelled);
        } else if sender.budget.is_some_and(exceeds) {
            self.stopped = Some(Stopped::Budget);
        }
    }
}

/// Returns the price of a request. Tokens that the provider did not report are estimated. A request that failed may
/// cost as much as `most`, since the model may have written an answer that did not arrive.
fn price_of(price: &Price, exchange: &Exchange, tokens: u64, most: Usd) -> Usd {
    if exchange.scope == FailureScope::All {
        return Usd::ZERO;
    }
    if exchange.failed.is_some() && exchange.sent.is_none() && !exchange.is_too_long {
        return most;
    }
    let sent = exchange.sent.unwrap_or(tokens);
    let (read, written) = (exchange.cache_read.unwrap_or(0), exchange.cache_write.unwrap_or(0));
    let (input, output) = price.factors(Tokens(sent));
    let uncached = Tokens(sent.saturating_sub(read + written));
    let write = price.cache_write.unwrap_or(price.input);
    let answer = exchange.received.unwrap_or(exchange.text.len() as u64 / 4);
    price.input.times(input).of(uncached)
        + price.cache_read.times(input).of(Tokens(read))
        + write.times(input).of(Tokens(written))
        + price.output.times(output).of(Tokens(answer))
}

/// Sends the prompts of one series. Equal requests of different series have answers of their own.
#[derive(Clone, Copy)]
pub(super) struct Series<'a, 'b> {
    pub(super) sender: &'a Sender<'b>,
    pub(super) name: &'a str,
}

impl Exchanges for Series<'_, '_> {
    fn exchange(&self, prompt: &Prompt, tokens: u64) -> Exchange {
        let answer = self.sender.answer(prompt, tokens, self.name);
        answer.unwrap_or_else(|| Exchange {
            failed: Some("the request was not sent".to_owned()),
            is_fatal: true,
            ..Exchange::default()
        })
    }

    fn settings(&self) -> &RunLog {
        self.sender.settings()
    }
}
