//! What the cache should have served against what it did, call by call, with the likely cause of each difference.

use super::Bills;
use super::price::{modelled, with_samples};
use crate::engine::{Case, Outcome};
use crate::session::Body;
use crate::units::{Tokens, Usd};

/// A prefix that was sent again uncached is told from this size on: less is lost to rounding and framing.
pub const LEAST_BREAK: Tokens = Tokens(5_000);

/// The model of the cache against the file's own counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Every billed call for which the file says what was read.
    pub calls: Vec<AuditedCall>,
    /// What should have been read, summed.
    pub predicted: Tokens,
    /// What was.
    pub recorded: Tokens,
    /// What had been sent before and was not read, by cause, weightiest first.
    pub breaks: Vec<Break>,
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditedCall {
    /// Index of the step.
    pub step: usize,
    /// What the model says the cache should have served.
    pub predicted: Tokens,
    /// What the file says it served.
    pub recorded: Tokens,
    /// As much as the prompt before was long, and this one: more no cache could serve.
    pub most: Tokens,
    /// Why much of it was not read, where that is so.
    pub cause: Option<Cause>,
}

/// What was sent again uncached for one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Break {
    /// The cause.
    pub cause: Cause,
    /// How many calls.
    pub calls: usize,
    /// The first of them (index of the step).
    pub first: usize,
    /// Tokens that had been sent before.
    pub tokens: Tokens,
    /// What they cost more than if they had been read; none where a price is not known.
    pub usd: Option<Usd>,
}

/// Why a prefix was not read from the cache: the nearest thing in the file that explains it, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The recorded program compacted its history.
    Compaction,
    /// Another model answered.
    ModelChange,
    /// Definitions of tools were new.
    ToolChange,
    /// The pause was longer than the cache keeps what is not used.
    Gap,
    /// The call before was aborted or failed.
    Abort,
    /// A person spoke: providers drop earlier reasoning then, and programs add reminders.
    UserTurn,
    /// Nothing in the file tells.
    Unexplained,
}

impl Cause {
    /// All causes, in the order in which they are looked for.
    pub const ALL: [Self; 7] = [
        Self::Compaction,
        Self::ModelChange,
        Self::ToolChange,
        Self::Gap,
        Self::Abort,
        Self::UserTurn,
        Self::Unexplained,
    ];

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::ModelChange => "model_change",
            Self::ToolChange => "tool_change",
            Self::Gap => "gap",
            Self::Abort => "abort",
            Self::UserTurn => "user_turn",
            Self::Unexplained => "unexplained",
        }
    }
}

/// The audit of the lane `recorded`; none where the file does not say what its cache served.
pub fn audit(case: &Case, bills: &Bills<'_>, recorded: &Outcome) -> Option<Audit> {
    let mut audit = Audit::default();
    let mut before: Option<(usize, Tokens)> = None;
    let mut lost = Vec::new();
    for (call, sample, unchanged) in with_samples(bills, recorded) {
        let last = before.replace((call.step, sample.tokens));
        let usage = case.session.steps[call.step].usage;
        let Some(read) = usage.and_then(|usage| usage.cache_read) else {
            continue;
        };
        let most = last.map_or(Tokens::ZERO, |(_, tokens)| tokens.min(sample.tokens));
        let missed = most - read;
        let cause = last
            .filter(|_| missed > LEAST_BREAK)
            .map(|(before, _)| cause(case, recorded, (before, call.step), call));
        let predicted = modelled(call, sample, unchanged).read;
        audit.predicted += predicted;
        audit.recorded += read;
        audit.calls.push(AuditedCall {
            step: call.step,
            predicted,
            recorded: read,
            most,
            cause,
        });
        if let Some(cause) = cause {
            let usd = call.tariff.map(|tariff| {
                let price = tariff.price;
                let (factor, _) = price.factors(sample.tokens);
                let dear = tariff.write().unwrap_or(price.input).of(missed);
                Usd((dear - price.cache_read.of(missed)).0 * factor)
            });
            lost.push((cause, call.step, missed, usd));
        }
    }
    audit.breaks = Cause::ALL
        .into_iter()
        .filter_map(|cause| total(cause, &lost))
        .collect();
    audit
        .breaks
        .sort_by_key(|found| std::cmp::Reverse(found.tokens));
    (!audit.calls.is_empty()).then_some(audit)
}

fn total(cause: Cause, lost: &[(Cause, usize, Tokens, Option<Usd>)]) -> Option<Break> {
    let of_it = || lost.iter().filter(|(known, ..)| *known == cause);
    Some(Break {
        cause,
        calls: of_it().count(),
        first: of_it().next()?.1,
        tokens: of_it().map(|(_, _, tokens, _)| *tokens).sum(),
        usd: of_it().map(|(.., usd)| *usd).sum(),
    })
}

/// What happened after the call at the first of these steps and not later than the call at the second.
fn cause(
    case: &Case,
    recorded: &Outcome,
    (before, step): (usize, usize),
    call: &super::BilledCall<'_>,
) -> Cause {
    let session = &case.session;
    let is_between = |at: usize| at > before && at <= step;
    let new = session.steps[before].context_end..session.steps[step].context_end;
    let is_tool = |m: usize| {
        let mut parts = session.parts_of(&session.messages[m]).iter();
        parts.any(|part| matches!(part.body, Body::ToolDefinition { .. }))
    };
    let holds = |cause: &Cause| match cause {
        Cause::Compaction => recorded.events.iter().any(|event| is_between(event.step)),
        Cause::ModelChange => !call.same_model,
        Cause::ToolChange => new.clone().any(is_tool),
        Cause::Gap => call.is_late(),
        Cause::Abort => step > before + 1,
        Cause::UserTurn => session.steps[before].turn != session.steps[step].turn,
        Cause::Unexplained => true,
    };
    Cause::ALL
        .into_iter()
        .find(holds)
        .unwrap_or(Cause::Unexplained)
}
