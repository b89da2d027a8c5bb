//! Usage of the recorded calls of a session.

use super::call_identities;
use crate::analysis::cost::{Billing, Bills, CacheMiss, Cost, audit, price_recorded};
use crate::engine::{Budget, Case, Outcome};
use crate::units::{Millis, Share, Tokens, Usd};
use serde::{Deserialize, Serialize};

/// Usage of the recorded calls of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedUsage {
    /// Models that answered.
    pub models: Vec<String>,
    /// The calls, in order.
    pub calls: Vec<UsedCall>,
}

/// Usage of a recorded call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsedCall {
    /// Time of the call or of its answer; `None` if not recorded.
    pub time: Option<Millis>,
    /// Index into [`RecordedUsage::models`]; `None` if not recorded.
    pub model: Option<usize>,
    /// Hash that copies of the call share; `None` if it has no id.
    pub identity: Option<u64>,
    /// Prompt in tokens, cached or not; zero if the provider rejected it.
    pub input: Tokens,
    /// Part of the prompt read from the cache; `None` if not recorded.
    pub cache_read: Option<Tokens>,
    /// Part of the prompt written to the cache; `None` if not recorded.
    pub cache_write: Option<Tokens>,
    /// Tokens of the answer.
    pub output: Tokens,
    /// Part of the answer that is reasoning; `None` if not recorded.
    pub reasoning: Option<Tokens>,
    /// The file does not report the size of the answer, which is counted from its text.
    pub is_output_estimated: bool,
    /// The file reports no usage; the prompt is counted from its text.
    pub is_input_estimated: bool,
    /// Cost with that of the summaries before it; `None` if the price is unknown.
    pub usd: Option<Usd>,
    /// Part of the prompt that was in an earlier prompt and was not read from the cache, if it is large.
    pub miss: Option<CacheMiss>,
    /// Size of the context in tokens.
    pub context: Tokens,
    /// Context window in tokens.
    pub window: Tokens,
    /// Whether the context fitted into the window.
    pub fit: ContextFit,
    /// Number of recorded compactions directly before the call, or behind it if it is the last.
    pub compactions: usize,
}

/// Whether a context fitted into the context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContextFit {
    /// The provider accepted it, or would have.
    Fits,
    /// It was larger than the window.
    Overflows,
    /// The provider rejected it.
    Rejected,
}

impl UsedCall {
    /// Returns whether the context was larger than the window, or the provider rejected it.
    pub fn overflows(&self) -> bool {
        self.fit != ContextFit::Fits
    }

    /// Returns the context as a share of the usable window.
    pub fn pressure(&self, output_reserve: Tokens) -> Share {
        Budget { window: self.window, output_reserve }.pressure(self.context)
    }
}

impl RecordedUsage {
    /// Sets the context window of all calls.
    pub fn set_window(&mut self, window: Tokens) {
        for call in &mut self.calls {
            call.window = window;
            call.fit = match call.fit {
                ContextFit::Rejected => ContextFit::Rejected,
                _ if call.context > window => ContextFit::Overflows,
                _ => ContextFit::Fits,
            };
        }
    }
}

/// Returns what each recorded call used. `recorded` is the lane of that name. The sums equal the figures of
/// [`price_recorded`]: totals that a program recorded only for the whole session are spread over its calls in proportion.
pub fn recorded_usage(case: &Case, billing: Billing<'_>, recorded: &Outcome) -> RecordedUsage {
    let session = &case.session;
    let bills = Bills::new(case, billing);
    let cost = price_recorded(&bills, recorded);
    let identities = call_identities(session);
    let mut calls: Vec<UsedCall> = session
        .calls
        .iter()
        .zip(identities)
        .map(|(call, identity)| UsedCall {
            time: call.time,
            model: call.model,
            identity,
            input: Tokens::ZERO,
            cache_read: call.usage.and_then(|usage| usage.cache_read),
            cache_write: call.usage.and_then(|usage| usage.cache_write),
            output: Tokens::ZERO,
            reasoning: call.usage.and_then(|usage| usage.reasoning),
            is_output_estimated: false,
            is_input_estimated: false,
            usd: Some(Usd::ZERO),
            miss: None,
            context: Tokens::ZERO,
            window: Tokens::ZERO,
            fit: if call.is_rejected { ContextFit::Rejected } else { ContextFit::Fits },
            compactions: 0,
        })
        .collect();
    for sample in &recorded.samples {
        let call = &mut calls[sample.call];
        (call.context, call.window) = (sample.tokens, sample.window);
        if sample.overflows && call.fit == ContextFit::Fits {
            call.fit = ContextFit::Overflows;
        }
    }
    for billed in &bills.calls {
        let call = &mut calls[billed.index];
        call.is_output_estimated = billed.is_output_estimated && !billed.is_rejected;
        call.is_input_estimated = billed.usage.is_none() && !billed.is_rejected;
    }
    let [on_input, on_output, on_price] = totals_per_sum_of_calls(&cost);
    let scaled = |tokens: Tokens, factor: f64| Tokens((tokens.as_f64() * factor).round() as u64);
    for billed in &cost.calls {
        let call = &mut calls[billed.index];
        call.input = scaled(billed.read + billed.written + billed.uncached, on_input);
        call.output = scaled(billed.output, on_output);
        call.usd = billed.usd.map(|usd| Usd(usd.0 * on_price));
    }
    let last = calls.len().saturating_sub(1);
    for added in &cost.additional {
        if let Some(call) = calls.get_mut(added.call.min(last)) {
            call.usd = call.usd.map(|usd| usd + added.usd);
        }
    }
    let audit = audit(case, &bills, recorded).unwrap_or_default();
    for missed in audit.misses {
        calls[missed.call].miss = Some(missed);
    }
    for compaction in &session.compactions {
        if let Some(call) = calls.get_mut(compaction.call.min(last)) {
            call.compactions += 1;
        }
    }
    RecordedUsage { models: session.models.clone(), calls }
}

/// Returns the totals of a session as multiples of the sums over its calls: of prompts, of answers and of the cost. All are
/// 1 unless the program recorded totals.
fn totals_per_sum_of_calls(cost: &Cost) -> [f64; 3] {
    if !cost.has_totals {
        return [1.0; 3];
    }
    let ratio = |total: f64, sum: f64| if sum > 0.0 { total / sum } else { 1.0 };
    let input = cost.read.tokens + cost.written.tokens + cost.uncached.tokens;
    let calls = || cost.calls.iter();
    let inputs: Tokens = calls().map(|call| call.read + call.written + call.uncached).sum();
    let outputs: Tokens = calls().map(|call| call.output).sum();
    let price: f64 = calls().filter_map(|call| call.usd).map(|usd| usd.0).sum();
    let [read, written, uncached, output] =
        [cost.read, cost.written, cost.uncached, cost.output].map(|charge| charge.usd.0);
    [
        ratio(input.as_f64(), inputs.as_f64()),
        ratio(cost.output.tokens.as_f64(), outputs.as_f64()),
        ratio(read + written + uncached + output, price),
    ]
}
