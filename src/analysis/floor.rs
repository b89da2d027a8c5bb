//! Whether a policy can get below its own trigger at all: proven from its settings and the session, before it runs.

use crate::engine::{
    Action, Boundary, Case, Count, Keep, KnobRole, KnobValues, Policy, Stage, What,
};
use crate::session::Kind;
use crate::units::Tokens;

/// Calls in a row at which a policy cannot get below its trigger before that counts.
const STUCK: usize = 3;

/// What the proofs for all settings of all policies have in common.
#[derive(Debug)]
pub struct Floors<'a> {
    case: &'a Case,
    /// The messages of the history.
    history: Vec<usize>,
    /// How many of them stand before each call.
    before: Vec<usize>,
    /// Tokens before each call of all that is no tool result.
    without_results: Vec<u64>,
}

/// A policy cannot get below its own trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Index of the first step of the first row of calls at which it cannot.
    pub step: usize,
    /// Calls of that row.
    pub in_a_row: usize,
    /// Calls in all.
    pub in_all: usize,
    /// The least that is left at the first of them.
    pub floor: Tokens,
    /// Its trigger there.
    pub limit: Tokens,
}

impl<'a> Floors<'a> {
    /// Works out what does not depend on settings.
    pub fn new(case: &'a Case) -> Self {
        let messages = &case.session.messages;
        let history: Vec<usize> = (0..messages.len())
            .filter(|m| messages[*m].in_history)
            .collect();
        let sums = without_results(case);
        let ends = || case.session.steps.iter().map(|step| step.context_end);
        Self {
            before: ends()
                .map(|end| history.partition_point(|m| *m < end))
                .collect(),
            without_results: ends().map(|end| sums[end]).collect(),
            history,
            case,
        }
    }

    /// Where a policy with these settings cannot get below its own trigger; none where it can, or nothing is proven.
    pub fn stuck(&self, policy: &Policy, knobs: &KnobValues) -> Option<Stuck> {
        let trigger = trigger(policy, knobs)?;
        let floor = self.floor(policy, knobs)?;
        let steps = self.case.session.steps.len();
        let reserve = policy.output_reserve(knobs, self.case, 0);
        let limit = |step: usize| {
            // Only a reserve that is worked out can change from call to call.
            let reserve = match policy.reserve {
                Some(_) => policy.output_reserve(knobs, self.case, step),
                None => reserve,
            };
            (self.case.windows.at(step) - reserve).as_f64() * trigger
        };
        let is_stuck = |step: &usize| floor(*step) as f64 >= limit(*step);
        let stuck: Vec<usize> = (0..steps).filter(is_stuck).collect();
        let row = stuck
            .chunk_by(|a, b| a + 1 == *b)
            .find(|row| row.len() >= STUCK)?;
        Some(Stuck {
            step: row[0],
            in_a_row: row.len(),
            in_all: stuck.len(),
            floor: Tokens(floor(row[0])),
            limit: Tokens(limit(row[0]) as u64),
        })
    }

    /// The least that can be left before each call.
    fn floor(&self, policy: &Policy, knobs: &KnobValues) -> Option<Box<dyn Fn(usize) -> u64 + '_>> {
        let stage = policy.stages.first()?;
        let number = |role: KnobRole| knobs.get(&policy.knob_for(role)?.name);
        let case = self.case;
        let overhead = case.ledger.overhead.0;
        if stage.take.what == What::ToolResults {
            // Everything that is no tool result stays.
            return Some(Box::new(move |step| overhead + self.without_results[step]));
        }
        let keep = keeps(policy, stage, knobs)?;
        let summary = match stage.action {
            Action::Summarize(_) => number(KnobRole::SummaryMaxTokens)? as u64,
            _ => 0,
        };
        let prefix = &case.ledger.truth.history_prefix;
        let preamble_end = case.index.preamble_end as usize;
        let base = overhead + prefix[preamble_end];
        Some(Box::new(move |step| {
            let (end, upto) = (case.session.steps[step].context_end, self.before[step]);
            let first = upto
                .checked_sub(keep)
                .and_then(|at| self.history.get(at).copied());
            let first = first
                .unwrap_or(preamble_end)
                .clamp(preamble_end.min(end), end);
            // Where all of it is kept there is nothing to summarize.
            let summary = if first > preamble_end { summary } else { 0 };
            base + prefix[end] - prefix[first] + summary
        }))
    }
}

/// The trigger as a share of usable, where the policy goes by true tokens and such a share alone.
fn trigger(policy: &Policy, knobs: &KnobValues) -> Option<f64> {
    let knob = policy.knob_for(KnobRole::CompressionTrigger)?;
    let is_plain = matches!(policy.meter.count, Count::True) && knob.unit == "share of usable";
    let all_ours = policy
        .stages
        .iter()
        .all(|stage| !matches!(stage.action, Action::Named(_)));
    knobs
        .get(&knob.name)
        .filter(|_| is_plain && all_ours && policy.stages.len() == 1)
}

/// How many of the newest messages a stage keeps in any case, instructions apart.
fn keeps(policy: &Policy, stage: &Stage, knobs: &KnobValues) -> Option<usize> {
    let knob = policy.knob_for(KnobRole::KeepRecent)?;
    let keep = &stage.take.keep;
    let is_it = |keep: &Keep| matches!(keep, Keep::LastMessages(n) if n.text == knob.name);
    // Where less may be kept than the rule says, nothing is proven.
    let is_sure = stage.take.boundary != Boundary::NextTurn && keep.contains(&Keep::System);
    let n = knobs.get(&knob.name)?;
    (is_sure && keep.iter().any(is_it)).then_some(n.max(0.0) as usize)
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
