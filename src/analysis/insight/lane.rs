//! Insights about a policy's run: its findings, what is proven before it runs, and whether it pays.

use super::{Certainty, Insight, InsightKind, Level, advice, counted, sort};
use crate::analysis::cost::BreakEven;
use crate::analysis::{Finding, FindingKind};
use crate::engine::{Action, Case, Count, KnobRole, KnobValues, Outcome, Policy, What};
use crate::session::Kind;
use crate::units::{Share, Tokens, Usd};

/// Calls in a row at which a policy cannot get below its trigger before that is told.
const STUCK: usize = 3;

/// A policy with its run.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// Its name.
    pub name: &'a str,
    /// What is played.
    pub policy: &'a Policy,
    /// Its settings.
    pub knobs: &'a KnobValues,
    /// What came of it.
    pub outcome: &'a Outcome,
    /// What its run shows.
    pub findings: &'a [Finding],
    /// What became of its compactions.
    pub break_even: &'a [BreakEven],
}

/// What there is to know about a run, worst first.
pub fn lane_insights(case: &Case, lane: Lane<'_>) -> Vec<Insight> {
    let mut found: Vec<Insight> = lane
        .findings
        .iter()
        .map(|finding| of_finding(&lane, finding))
        .collect();
    let proof = cannot_get_below(case, &lane);
    // What is proven explains what the run shows of it.
    found.retain(|f| proof.is_none() || f.kind != InsightKind::Finding(FindingKind::Thrashing));
    found.extend(proof);
    found.extend(summary_too_long(case, &lane));
    found.extend(not_paid(&lane));
    sort(&mut found);
    found
}

fn insight(lane: &Lane<'_>, kind: InsightKind, level: Level, step: usize) -> Insight {
    Insight {
        kind,
        level,
        certainty: Certainty::Certain,
        lane: Some(lane.name.to_owned()),
        step: Some(step),
        message: None,
        text: String::new(),
        evidence: String::new(),
        advice: "",
        stake: Tokens::ZERO,
    }
}

fn of_finding(lane: &Lane<'_>, finding: &Finding) -> Insight {
    Insight {
        text: finding.text.clone(),
        evidence: match finding.times {
            1 => format!("at call {}", finding.step + 1),
            times => format!("{times} times, first at call {}", finding.step + 1),
        },
        advice: advice::advice(finding.kind),
        ..insight(
            lane,
            InsightKind::Finding(finding.kind),
            advice::level(finding.kind),
            finding.step,
        )
    }
}

/// What a policy keeps in any case is at its trigger already: proven from its settings and the session alone.
fn cannot_get_below(case: &Case, lane: &Lane<'_>) -> Option<Insight> {
    let trigger = trigger(lane)?;
    let reserve = |step: usize| lane.policy.output_reserve(lane.knobs, case, step);
    let usable = |step: usize| case.windows.at(step) - reserve(step);
    let floors = floors(case, lane)?;
    let is_stuck = |step: usize| {
        let limit = usable(step).as_f64() * trigger.0;
        floors[step].as_f64() >= limit
    };
    let stuck: Vec<usize> = (0..floors.len()).filter(|step| is_stuck(*step)).collect();
    let mut runs = stuck.chunk_by(|a, b| a + 1 == *b);
    let run = runs.find(|run| run.len() >= STUCK)?;
    let step = run[0];
    Some(Insight {
        text: format!(
            "It cannot get below its own trigger: from call {} on what it keeps in any case is above it, at {} in a row, {} in all.",
            step + 1,
            counted(run.len(), "call"),
            stuck.len()
        ),
        evidence: format!(
            "keeps {} of {} tokens at the trigger, before it has run at all",
            floors[step].short(),
            Tokens((usable(step).as_f64() * trigger.0) as u64).short()
        ),
        advice: "Keep fewer messages or tokens, raise the trigger, or add a stage that summarizes.",
        ..insight(lane, InsightKind::CannotGetBelow, Level::Bad, step)
    })
}

/// The trigger as a share of usable, where the policy goes by true tokens and such a share alone.
fn trigger(lane: &Lane<'_>) -> Option<Share> {
    let knob = lane.policy.knob_for(KnobRole::CompressionTrigger)?;
    let is_plain = matches!(lane.policy.meter.count, Count::True) && knob.unit == "share of usable";
    let all_ours = lane
        .policy
        .stages
        .iter()
        .all(|stage| !matches!(stage.action, Action::Named(_)));
    lane.knobs
        .get(&knob.name)
        .filter(|_| is_plain && all_ours && lane.policy.stages.len() == 1)
        .map(Share)
}

/// The least that can be left before each call.
fn floors(case: &Case, lane: &Lane<'_>) -> Option<Vec<Tokens>> {
    let stage = lane.policy.stages.first()?;
    let number = |role: KnobRole| {
        let knob = lane.policy.knob_for(role)?;
        lane.knobs.get(&knob.name)
    };
    let steps = &case.session.steps;
    let prefix = &case.ledger.truth.history_prefix;
    let preamble = prefix[case.index.preamble_end as usize];
    let base = case.ledger.overhead.0 + preamble;
    match stage.take.what {
        What::ToolResults => {
            // Everything that is no tool result stays.
            let fixed = without_results(case);
            Some(
                steps
                    .iter()
                    .map(|step| Tokens(case.ledger.overhead.0 + fixed[step.context_end]))
                    .collect(),
            )
        }
        What::Messages => {
            let keep = number(KnobRole::KeepRecent)?.max(0.0) as usize;
            let summary = match stage.action {
                Action::Summarize(_) => number(KnobRole::SummaryMaxTokens)? as u64,
                _ => 0,
            };
            let history: Vec<usize> = (0..case.session.messages.len())
                .filter(|m| case.session.messages[*m].in_history)
                .collect();
            let preamble_end = case.index.preamble_end as usize;
            let floor = |end: usize| {
                let upto = history.partition_point(|m| *m < end);
                let first = upto
                    .checked_sub(keep)
                    .and_then(|at| history.get(at).copied());
                let first = first
                    .unwrap_or(preamble_end)
                    .clamp(preamble_end.min(end), end);
                // Where all of it is kept there is nothing to summarize.
                let summary = if first > preamble_end { summary } else { 0 };
                Tokens(base + prefix[end] - prefix[first] + summary)
            };
            Some(steps.iter().map(|step| floor(step.context_end)).collect())
        }
    }
}

/// Sums over the history before each message, tool results and what is in them left out.
fn without_results(case: &Case) -> Vec<u64> {
    let mut sums = vec![0; case.session.messages.len() + 1];
    for (idx, message) in case.session.messages.iter().enumerate() {
        let parts = message.parts.clone().filter(|_| message.in_history);
        let stays = |part: &usize| {
            case.index.kinds[*part] != Kind::ToolResult && case.index.owner[*part].is_none()
        };
        sums[idx + 1] = sums[idx]
            + parts
                .filter(stays)
                .map(|part| case.ledger.part(part).0)
                .sum::<u64>();
    }
    sums
}

/// A request for a summary is itself longer than the window.
fn summary_too_long(case: &Case, lane: &Lane<'_>) -> Option<Insight> {
    let requests = || {
        lane.outcome.events.iter().filter_map(|event| {
            let (sent, received) = event.request?;
            let window = case.windows.at(event.step);
            (sent + received > window).then_some((event.step, sent, window))
        })
    };
    let (step, sent, window) = requests().next()?;
    Some(Insight {
        text: format!(
            "{} for a summary would not fit into the window.",
            counted(requests().count(), "request")
        ),
        evidence: format!(
            "{} tokens in a window of {} at call {}",
            sent.short(),
            window.short(),
            step + 1
        ),
        advice: "Compact earlier, clear tool results first, or summarize in pieces.",
        ..insight(lane, InsightKind::SummaryTooLong, Level::Bad, step)
    })
}

/// Compactions that cost more than they saved until the session's end.
fn not_paid(lane: &Lane<'_>) -> Option<Insight> {
    let unpaid: Vec<&BreakEven> = lane
        .break_even
        .iter()
        .filter(|b| b.has_paid() == Some(false))
        .collect();
    let first = unpaid.first()?;
    let short_of = |b: &BreakEven| {
        let saved = b.per_call.map_or(0.0, |usd| usd.0) * b.left as f64;
        Usd(b.once.map_or(0.0, |usd| usd.0) - saved)
    };
    let lost: Usd = unpaid.iter().map(|b| short_of(b)).sum();
    // The last one before the end hardly ever pays; a few cents are no news.
    if unpaid.len() < 2 && lost.0 < 0.05 {
        return None;
    }
    Some(Insight {
        certainty: Certainty::Likely,
        text: format!(
            "{} of {} cost more than they saved by the session's end.",
            unpaid.len(),
            counted(lane.break_even.len(), "compaction")
        ),
        evidence: format!(
            "${:.2} lost in all; the one at call {} needed {} more calls, {} were left",
            lost.0,
            first.step + 1,
            first.needed.unwrap_or_default(),
            first.left
        ),
        advice: "Remove more at once and less often, or right after a pause, when the cache is empty anyway.",
        ..insight(lane, InsightKind::NotPaid, Level::Note, first.step)
    })
}
