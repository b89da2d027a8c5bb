//! What the cache should have served against what it did, call by call, with the likely cause of each difference.

use super::price::{modelled, with_samples};
use super::{BilledCall, Bills, Tariff};
use crate::engine::{Case, Outcome};
use crate::session::{Body, Step};
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
    /// The reasoning effort was another.
    EffortChange,
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
    /// For people, as it stands behind `missed`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Compaction => "after a compaction",
            Self::ModelChange => "another model",
            Self::EffortChange => "another reasoning effort",
            Self::ToolChange => "new tools",
            Self::Gap => "after a long pause",
            Self::Abort => "after an aborted call",
            Self::UserTurn => "a person had spoken",
            Self::Unexplained => "unexplained",
        }
    }

    /// All causes, in the order in which they are looked for.
    pub const ALL: [Self; 8] = [
        Self::Compaction,
        Self::ModelChange,
        Self::EffortChange,
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
            Self::EffortChange => "effort_change",
            Self::ToolChange => "tool_change",
            Self::Gap => "gap",
            Self::Abort => "abort",
            Self::UserTurn => "user_turn",
            Self::Unexplained => "unexplained",
        }
    }
}

/// What one call sent again uncached: why, at which step, how much, and what that cost more.
type Missed = (Cause, usize, Tokens, Option<Usd>);

/// The audit of the lane `recorded`; none where the file does not say what its cache served.
pub fn audit(case: &Case, bills: &Bills<'_>, recorded: &Outcome) -> Option<Audit> {
    let mut found = Audit::default();
    let mut before: Option<(usize, Tokens)> = None;
    let mut missed: Vec<Missed> = Vec::new();
    for (call, sample, unchanged) in with_samples(bills, recorded) {
        let last = before.replace((call.step, sample.tokens));
        let usage = case.session.steps[call.step].usage;
        let Some(read) = usage.and_then(|usage| usage.cache_read) else {
            continue;
        };
        let most = last.map_or(Tokens::ZERO, |(_, tokens)| tokens.min(sample.tokens));
        let again = most - read;
        let reason = last
            .filter(|_| again > LEAST_BREAK)
            .map(|(step, _)| cause(case, recorded, step, call));
        let predicted = modelled(call, sample, unchanged).read;
        found.predicted += predicted;
        found.recorded += read;
        found.calls.push(AuditedCall {
            step: call.step,
            predicted,
            recorded: read,
            most,
            cause: reason,
        });
        let dearer = |tariff: Tariff<'_>| dearer(&tariff, sample.tokens, again);
        missed.extend(reason.map(|why| (why, call.step, again, call.tariff.map(dearer))));
    }
    let causes = Cause::ALL.into_iter();
    found.breaks = causes.filter_map(|cause| total(cause, &missed)).collect();
    found
        .breaks
        .sort_by_key(|found| std::cmp::Reverse(found.tokens));
    (!found.calls.is_empty()).then_some(found)
}

/// What tokens of a prompt cost more if they are not read.
fn dearer(tariff: &Tariff<'_>, prompt: Tokens, again: Tokens) -> Usd {
    let price = tariff.price;
    let (factor, _) = price.factors(prompt);
    let dear = tariff.write().unwrap_or(price.input).of(again);
    Usd((dear - price.cache_read.of(again)).0 * factor)
}

fn total(cause: Cause, missed: &[Missed]) -> Option<Break> {
    let of_it = || missed.iter().filter(|(known, ..)| *known == cause);
    Some(Break {
        cause,
        calls: of_it().count(),
        first: of_it().next()?.1,
        tokens: of_it().map(|(_, _, tokens, _)| *tokens).sum(),
        usd: of_it().map(|(.., usd)| *usd).sum(),
    })
}

/// What happened after the call at the step `before` and not later than this one.
fn cause(case: &Case, recorded: &Outcome, before: usize, call: &BilledCall<'_>) -> Cause {
    let step = call.step;
    let session = &case.session;
    let is_between = |at: usize| at > before && at <= step;
    let new = session.steps[before].context_end..session.steps[step].context_end;
    let is_tool = |m: usize| {
        let mut parts = session.parts_of(&session.messages[m]).iter();
        parts.any(|part| matches!(part.body, Body::ToolDefinition { .. }))
    };
    let since = &session.steps[before..=step];
    let is_other_effort = |pair: &[Step]| match (&pair[0].effort, &pair[1].effort) {
        (Some(before), Some(after)) => before != after,
        _ => false,
    };
    let holds = |cause: &Cause| match cause {
        Cause::Compaction => recorded.events.iter().any(|event| is_between(event.step)),
        Cause::ModelChange => !call.same_model,
        Cause::EffortChange => since.windows(2).any(is_other_effort),
        Cause::ToolChange => new.clone().any(is_tool),
        Cause::Gap => call.is_late(),
        Cause::Abort => step > before + 1 || since[1..].iter().any(|step| step.is_after_abort),
        Cause::UserTurn => session.steps[before].turn != session.steps[step].turn,
        Cause::Unexplained => true,
    };
    Cause::ALL
        .into_iter()
        .find(holds)
        .unwrap_or(Cause::Unexplained)
}
