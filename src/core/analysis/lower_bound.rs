//! Proves from settings and session, before a run, that a policy cannot get below its own trigger: the content that it
//! always keeps is a lower bound of the context.

use crate::engine::{
    ActionKind, Boundary, Case, Count, Keep, KnobRole, KnobValues, Memo, Policy, Stage, TakeKind,
};
use crate::session::Kind;
use crate::units::Tokens;

/// Calls in a row at which a policy cannot get below its trigger before that counts. Chosen, and equal to the calls in
/// a row that count as thrashing: one large result keeps any policy above its trigger for a call or two until the next
/// removal.
const STUCK: usize = 3;

/// Data that the proofs for all settings of all policies share.
#[derive(Debug)]
pub struct LowerBounds<'a> {
    case: &'a Case,
    /// Messages of the history before each call.
    before: Vec<usize>,
    /// Tokens of the history before each of its messages, and in all.
    history: Vec<u64>,
    /// Number of leading instruction messages in the history.
    preamble: usize,
    /// Tokens before each call of all that is no tool result.
    without_results: Vec<u64>,
    /// The smallest window.
    window: Tokens,
    /// It is the window of all calls.
    is_even: bool,
    /// Minimum tokens at this many calls, by kept content; shared between settings.
    often: Memo<(KeptContent, usize), u64>,
}

/// A policy cannot get below its own trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Index of the first call of the first row at which it cannot.
    pub call: usize,
    /// Number of calls in that row.
    pub in_a_row: usize,
    /// Total number of such calls.
    pub in_all: usize,
    /// Minimum tokens at the first of them.
    pub least: Tokens,
    /// Its trigger there.
    pub limit: Tokens,
}

/// Content that a policy always keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum KeptContent {
    /// All but tool results.
    WithoutResults,
    /// This many of the newest messages, and a summary of this size if others were removed.
    Newest(usize, u64),
}

impl<'a> LowerBounds<'a> {
    /// Computes the data that does not depend on settings.
    pub fn new(case: &'a Case) -> Self {
        let messages = &case.session.messages;
        let is_history = |m: &usize| messages[*m].in_history;
        let history: Vec<usize> = (0..messages.len()).filter(is_history).collect();
        let sums = without_results(case);
        let ends = || case.session.calls.iter().map(|call| call.context_end);
        let rank = |end: usize| history.partition_point(|m| *m < end);
        let prefix = &case.ledger.truth.history_prefix;
        let all = prefix.last().copied().unwrap_or(0);
        Self {
            before: ends().map(rank).collect(),
            without_results: ends().map(|end| sums[end]).collect(),
            preamble: rank(case.index.preamble_end as usize),
            history: history.iter().map(|m| prefix[*m]).chain([all]).collect(),
            window: case.windows.smallest(),
            is_even: !case.windows.varies(),
            often: Memo::default(),
            case,
        }
    }

    /// Returns where a policy with these settings cannot get below its own trigger; `None` if not proven.
    pub fn stuck(&self, policy: &Policy, knobs: &KnobValues) -> Option<Stuck> {
        self.stuck_often(policy, knobs, STUCK)
    }

    /// Returns the proof if it applies to enough calls to rule the setting out. One large message that keeps the
    /// context above the trigger for a while is not enough, nor a trigger that is always met with a guard for the
    /// minimum saved.
    pub fn hopeless(&self, policy: &Policy, knobs: &KnobValues) -> Option<Stuck> {
        if waits_for_minimum(policy) {
            return None;
        }
        let cooldown = policy
            .knob_for(KnobRole::Cooldown)
            .filter(|knob| knob.unit == "calls")
            .and_then(|knob| knobs.get(&knob.name));
        let rest = cooldown.unwrap_or(0.0) as usize + 1;
        let calls = self.case.session.calls.len();
        // A setting that is stuck at less than one call in 20 may still be the best one, so it has to be replayed.
        let least = (STUCK * rest).max(calls.div_ceil(20));
        self.stuck_often(policy, knobs, least)
    }

    /// Returns the proof if it applies to at least this many calls.
    fn stuck_often(&self, policy: &Policy, knobs: &KnobValues, least: usize) -> Option<Stuck> {
        let trigger = trigger(policy, knobs)?;
        let kept = kept_content(policy, knobs)?;
        let reserve = policy.output_reserve(knobs, self.case, 0);
        let smallest = (self.window - reserve).as_f64() * trigger;
        if policy.reserve.is_none() && (self.often(kept, least) as f64) < smallest {
            return None;
        }
        let is_even = policy.reserve.is_none() && self.is_even;
        let limit = |call: usize| {
            if is_even {
                return smallest;
            }
            // Only a computed reserve can change from call to call.
            let reserve = match policy.reserve {
                Some(_) => policy.output_reserve(knobs, self.case, call),
                None => reserve,
            };
            (self.case.windows.at(call) - reserve).as_f64() * trigger
        };
        let found = match kept {
            KeptContent::WithoutResults => self.rows(|call| self.without_results(call), limit),
            KeptContent::Newest(keep, summary) => {
                self.rows(|call| self.newest(keep, summary, call), limit)
            }
        };
        found.filter(|stuck| stuck.in_all >= least)
    }

    /// Returns the first row of consecutive calls at which at least the limit is left, and the total number of such
    /// calls.
    fn rows(&self, left: impl Fn(usize) -> u64, limit: impl Fn(usize) -> f64) -> Option<Stuck> {
        let (mut row, mut found, mut in_all) = (0, None::<(usize, usize)>, 0);
        for call in 0..self.before.len() {
            let is_stuck = left(call) as f64 >= limit(call);
            row = if is_stuck { row + 1 } else { 0 };
            in_all += usize::from(is_stuck);
            match &mut found {
                None if row == STUCK => found = Some((call + 1 - STUCK, STUCK)),
                Some((first, calls)) if *first + *calls == call && is_stuck => *calls += 1,
                _ => {}
            }
        }
        let (call, in_a_row) = found?;
        Some(Stuck {
            call,
            in_a_row,
            in_all,
            least: Tokens(left(call)),
            limit: Tokens(limit(call) as u64),
        })
    }

    /// Returns the lower bound that applies to at least this many calls.
    fn often(&self, kept: KeptContent, n_calls: usize) -> u64 {
        if let KeptContent::Newest(keep, summary @ 1..) = kept {
            return self.often(KeptContent::Newest(keep, 0), n_calls) + summary;
        }
        let key = (kept, n_calls);
        self.often.get_or_make(&key, || self.nth_largest(kept, n_calls))
    }

    /// Returns the `n_calls`th largest of what is left before each call.
    fn nth_largest(&self, kept: KeptContent, n_calls: usize) -> u64 {
        let calls = 0..self.before.len();
        let mut all: Vec<u64> = match kept {
            KeptContent::WithoutResults => calls.map(|call| self.without_results(call)).collect(),
            KeptContent::Newest(keep, summary) => {
                let newest = calls.map(|call| self.newest(keep, summary, call));
                newest.collect()
            }
        };
        match n_calls.checked_sub(1) {
            Some(nth) if nth < all.len() => *all.select_nth_unstable_by(nth, |a, b| b.cmp(a)).1,
            Some(_) => 0,
            None => u64::MAX,
        }
    }

    /// Returns the minimum before a call if all tool results are removed.
    fn without_results(&self, call: usize) -> u64 {
        self.case.ledger.overhead.0 + self.without_results[call]
    }

    /// Returns the minimum before a call if this many messages stay, after a summary of this size.
    #[inline]
    fn newest(&self, keep: usize, summary: u64, call: usize) -> u64 {
        let overhead = self.case.ledger.overhead.0;
        let upto = self.before[call];
        let first = upto.saturating_sub(keep).max(self.preamble).min(upto);
        // Without a removed message there is no summary.
        let summary = if first > self.preamble { summary } else { 0 };
        let newest = self.history[upto] - self.history[first];
        overhead + self.history[self.preamble.min(upto)] + newest + summary
    }
}

/// Returns whether a policy waits until it can remove a minimum, even if its trigger is always met.
pub fn waits_for_minimum(policy: &Policy) -> bool {
    let mut stages = policy.stages.iter();
    stages.any(|stage| stage.guard.min_saved.is_some())
}

/// Returns the content that a policy of one stage always keeps.
fn kept_content(policy: &Policy, knobs: &KnobValues) -> Option<KeptContent> {
    let stage = policy.stages.first()?;
    if stage.take.what == TakeKind::ToolResults {
        return Some(KeptContent::WithoutResults);
    }
    // Without a summary the bound counts no added content.
    let summary = if stage.action.kind() == ActionKind::Summarize {
        let knob = policy.knob_for(KnobRole::SummaryMaxTokens)?;
        knobs.get(&knob.name)? as u64
    } else {
        0
    };
    Some(KeptContent::Newest(keeps(policy, stage, knobs)?, summary))
}

/// Returns the trigger as a share of the usable window; `None` if the policy counts otherwise or has other conditions.
fn trigger(policy: &Policy, knobs: &KnobValues) -> Option<f64> {
    let knob = policy.knob_for(KnobRole::CompressionTrigger)?;
    let is_plain = matches!(policy.meter.count, Count::True) && knob.unit == "share of usable";
    let all_ours = policy.stages.iter().all(|stage| stage.action.takes().is_some());
    knobs.get(&knob.name).filter(|_| is_plain && all_ours && policy.stages.len() == 1)
}

/// Returns the number of newest messages that a stage always keeps, without instructions.
fn keeps(policy: &Policy, stage: &Stage, knobs: &KnobValues) -> Option<usize> {
    let knob = policy.knob_for(KnobRole::KeepRecent)?;
    let keep = &stage.take.keep;
    let is_it = |keep: &Keep| matches!(keep, Keep::LastMessages(n) if n.text == knob.name);
    // Nothing is proven if a boundary rule may keep less.
    let is_sure = stage.take.boundary != Boundary::NextTurn && keep.contains(&Keep::System);
    let n = knobs.get(&knob.name)?;
    (is_sure && keep.iter().any(is_it)).then_some(n.max(0.0) as usize)
}

/// Returns the tokens of the history before each message, without tool results and their media.
fn without_results(case: &Case) -> Vec<u64> {
    let mut sums = vec![0; case.session.messages.len() + 1];
    for (idx, message) in case.session.messages.iter().enumerate() {
        let parts = message.parts.clone().filter(|_| message.in_history);
        let stays = |part: &usize| {
            case.index.kinds[*part] != Kind::ToolResult && case.index.owner[*part].is_none()
        };
        sums[idx + 1] =
            sums[idx] + parts.filter(stays).map(|part| case.ledger.part(part).0).sum::<u64>();
    }
    sums
}
