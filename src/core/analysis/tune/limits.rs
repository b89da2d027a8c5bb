//! Checks of a run against limits and against an earlier run, for continuous integration.

use super::gauge::{Assessment, Score};
use super::ruled_out::Reason;
use crate::analysis::FindingKind;
use crate::analysis::facts::{FactKind, LaneSurvival, counted_facts};
use crate::analysis::rereads::rereads_number;
use crate::analysis::statistics::{Conclusion, Estimate};
use crate::figure::{percent, usd};
use crate::units::{Share, Tokens, Usd};
use serde::Serialize;

/// Reads a count of a score.
type ScoreCount = fn(&Score) -> Option<f64>;

/// Figures of a run to check.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Its score.
    pub score: Score,
    /// Name of its flaw, if any: it cannot get below its trigger, stays over its own limit, pays for summaries at
    /// consecutive calls, or the system ends the run.
    pub flaw: Option<String>,
}

impl Figures {
    /// Creates the figures of a run. Overflows are counted and are not a flaw.
    pub fn new(run: &Assessment) -> Self {
        let mut reasons = run.reasons.iter().map(|why| why.reason);
        let flaw = reasons.find(|reason| is_flaw(*reason));
        Self { score: run.score, flaw: flaw.map(|reason| reason.name().to_owned()) }
    }
}

/// Returns whether a reason is a flaw. Overflows and deliberate choices are not.
fn is_flaw(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::CannotGetBelow(_)
            | Reason::Thrashes
            | Reason::GivesUp
            | Reason::Flawed(FindingKind::NeverAgain)
    )
}

/// Limits of a run. Without any, no figure may exceed that of the earlier run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateLimits {
    /// Maximum peak, as a share of usable.
    pub peak: Option<Share>,
    /// Maximum cost in dollars.
    pub cost: Option<Limit>,
    /// Maximum expected re-reads.
    pub rereads: Option<Limit>,
    /// Minimum survival of facts.
    pub survival: Vec<MinSurvival>,
    /// Maximum number of overflows.
    pub overflows: Option<usize>,
    /// Maximum number of calls that reach into the output reserve.
    pub into_reserve: Option<usize>,
    /// Thrashing is not allowed.
    pub no_thrash: bool,
    /// Increase that does not count as a regression.
    pub tolerance: Share,
}

/// A minimum survival of facts at the last call of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinSurvival {
    /// Kind of the facts; none for all kinds.
    pub kind: Option<FactKind>,
    /// Minimum share that the context holds verbatim or partly.
    pub share: Share,
}

impl MinSurvival {
    /// Checks a run. A predicted summary may hold nothing or all that was removed: the check passes if the lowest possible
    /// share does.
    pub fn check(&self, survival: &LaneSurvival) -> Check {
        let (kind, least) = (survival.of(self.kind), percent(self.share));
        let stated = counted_facts(self.kind, kind.stated);
        let is_enough = |share: Share| share.0 >= self.share.0 - 1e-9;
        let (ok, is_judged, text) = match kind.bounds() {
            None => (
                true,
                false,
                format!(
                    "not judged: the session states no {}",
                    self.kind.map_or("facts", FactKind::label)
                ),
            ),
            Some([low, high]) if kind.unknown > 0 => {
                let range = format!("{} to {} of {stated}", percent(low), percent(high));
                let text = format!("{range} (the summary is not known), at least {least} required");
                (is_enough(low), true, text)
            }
            Some([low, _]) => {
                let text = format!("{} of {stated}, at least {least} required", percent(low));
                (is_enough(low), true, text)
            }
        };
        Check { measure: Measure::Survival, ok, is_judged, text }
    }
}

/// Checks the effect retained against a minimum. The check passes if the whole interval is above it.
pub fn check_retained(least: Share, retained: &Estimate) -> Check {
    let required = format!("at least {:.2} required", least.0);
    let is_enough = retained.conclusion != Conclusion::TooFewCompactions;
    let interval = retained.interval.filter(|_| is_enough);
    let text = if interval.is_some() {
        format!("{retained}, {required} of the whole interval")
    } else {
        let why = retained.conclusion.words().unwrap_or("no answers");
        format!("not judged: {why}, {required}")
    };
    Check {
        measure: Measure::Retained,
        ok: interval.is_none_or(|interval| interval.low >= least.0),
        is_judged: interval.is_some(),
        text,
    }
}

/// A limit of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// No more than this.
    AtMost(f64),
    /// At most this share above the earlier run.
    Above(Share),
}

impl GateLimits {
    /// Returns whether any limit applies without an earlier run.
    pub fn are_any(&self) -> bool {
        let is_own = |limit: Option<Limit>| matches!(limit, Some(Limit::AtMost(_)));
        let figures = self.peak.is_some() || is_own(self.cost) || is_own(self.rereads);
        let counts = self.overflows.is_some() || self.into_reserve.is_some();
        figures || !self.survival.is_empty() || counts || self.no_thrash
    }

    /// Returns whether any limit refers to an earlier run.
    pub fn need_before(&self) -> bool {
        let is_relative = |limit: Option<Limit>| matches!(limit, Some(Limit::Above(_)));
        is_relative(self.cost) || is_relative(self.rereads)
    }
}

/// A checked figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Cost in USD.
    Cost,
    /// Total tokens, if a price is unknown.
    TokensTotal,
    /// Expected re-reads.
    Rereads,
    /// Survival of facts.
    Survival,
    /// Effect retained, as measured with a model.
    Retained,
    /// Peak as a share of the usable window.
    Peak,
    /// Calls that overflow.
    Overflows,
    /// Calls that reach into the output reserve.
    IntoReserve,
    /// Thrashing and other flaws of the run.
    Thrash,
}

impl Measure {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::TokensTotal => "tokens_total",
            Self::Rereads => "rereads",
            Self::Survival => "survival",
            Self::Retained => "retained",
            Self::Peak => "peak",
            Self::Overflows => "overflows",
            Self::IntoReserve => "into_reserve",
            Self::Thrash => "thrash",
        }
    }

    /// Returns the name as text.
    pub fn label(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::TokensTotal => "tokens in total",
            Self::Rereads => "expected re-reads",
            Self::Survival => "survival",
            Self::Retained => "effect retained",
            Self::Peak => "peak of the usable window",
            Self::Overflows => "calls that overflow",
            Self::IntoReserve => "calls into the reserve",
            Self::Thrash => "thrash",
        }
    }
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The checked figure.
    pub measure: Measure,
    /// True if it is within its limit.
    pub ok: bool,
    /// False if there is nothing to judge, such as facts of a session that states none or the cost of a model without a price.
    pub is_judged: bool,
    /// The figure and its limit, as text.
    pub text: String,
}

impl Check {
    /// Makes a check that could not be judged fail.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { ok: self.ok && self.is_judged, ..self }
    }
}

/// Checks a run against limits and against the earlier run, if given.
pub fn checks(limits: &GateLimits, now: &Figures, before: Option<&Figures>) -> Vec<Check> {
    let checker = Checker { limits, now: &now.score, before: before.map(|b| &b.score) };
    let mut found = Vec::new();
    checker.cost(&mut found);
    let rereads = |score: &Score| Some(score.rereads.files.value);
    checker.figure(&mut found, (Measure::Rereads, limits.rereads), rereads, rereads_number);
    let peak = limits.peak.map(|share| Limit::AtMost(share.0));
    let peak_of = |score: &Score| Some(score.peak_share.0);
    let shown = |share: f64| percent(Share(share));
    checker.figure(&mut found, (Measure::Peak, peak), peak_of, shown);
    let counts: [(Measure, Option<usize>, ScoreCount); 2] = [
        (Measure::Overflows, limits.overflows, |score| Some(score.overflows as f64)),
        (Measure::IntoReserve, limits.into_reserve, |score| Some(score.into_reserve as f64)),
    ];
    for (measure, most, count) in counts {
        let limit = most.map(|n| Limit::AtMost(n as f64));
        checker.figure(&mut found, (measure, limit), count, whole);
    }
    let is_new = before.is_some_and(|before| before.flaw.is_none());
    if limits.no_thrash || before.is_some() {
        let text = match &now.flaw {
            Some(flaw) if is_new => format!("{}, and did not before", flaw.replace('_', " ")),
            Some(flaw) => flaw.replace('_', " "),
            None => "none".to_owned(),
        };
        found.push(Check {
            measure: Measure::Thrash,
            ok: now.flaw.is_none() || !(limits.no_thrash || is_new),
            is_judged: true,
            text,
        });
    }
    found
}

struct Checker<'a> {
    limits: &'a GateLimits,
    now: &'a Score,
    before: Option<&'a Score>,
}

impl Checker<'_> {
    /// Checks the cost. Without prices, total tokens are compared with the earlier run, and a limit in dollars is
    /// not judged.
    fn cost(&self, found: &mut Vec<Check>) {
        let limit = self.limits.cost;
        let is_known = self.now.cost.is_some() && self.before.is_none_or(|b| b.cost.is_some());
        if is_known {
            let cost = |score: &Score| score.cost.map(|usd| usd.0);
            return self.figure(found, (Measure::Cost, limit), cost, |dollars| usd(Usd(dollars)));
        }
        if matches!(limit, Some(Limit::AtMost(_))) && self.now.cost.is_none() {
            found.push(Check {
                measure: Measure::Cost,
                ok: true,
                is_judged: false,
                text: "not judged: no price for this model; set one with --price-as or --prices"
                    .to_owned(),
            });
        }
        let relative = limit.filter(|limit| matches!(limit, Limit::Above(_)));
        let total = |score: &Score| Some(score.total.as_f64());
        let short = |tokens: f64| Tokens(tokens as u64).short();
        self.figure(found, (Measure::TokensTotal, relative), total, short);
    }

    /// Checks a figure against its limit and the earlier run.
    fn figure(
        &self,
        found: &mut Vec<Check>,
        (measure, limit): (Measure, Option<Limit>),
        of: impl Fn(&Score) -> Option<f64>,
        say: impl Fn(f64) -> String,
    ) {
        let Some(now) = of(self.now) else {
            return;
        };
        // Rounding errors of sums are not a regression.
        let is_within = |most: f64| now <= most + most.abs() * 1e-9;
        if let Some(Limit::AtMost(most)) = limit {
            found.push(Check {
                measure,
                ok: is_within(most),
                is_judged: true,
                text: format!("{}, at most {} allowed", say(now), say(most)),
            });
        }
        let Some(before) = self.before.and_then(of) else {
            return;
        };
        let share = match limit {
            Some(Limit::Above(share)) => share,
            _ => self.limits.tolerance,
        };
        let allowed =
            if share.0 > 0.0 { format!(" (+{} allowed)", percent(share)) } else { String::new() };
        let change = if before > 0.0 {
            format!(", {:+.1} %", (now / before - 1.0) * 100.0)
        } else {
            String::new()
        };
        let ok = is_within(before * (1.0 + share.0));
        let text = match (say(now), say(before)) {
            (is, was) if is != was => format!("{is} instead of {was}{change}{allowed}"),
            (is, _) if ok => format!("{is}, as before"),
            // The difference is too small for the rounded figures.
            (is, _) => format!("{is}, slightly more than before ({now} instead of {before})"),
        };
        found.push(Check { measure, ok, is_judged: true, text });
    }
}

fn whole(n: f64) -> String {
    format!("{n:.0}")
}
