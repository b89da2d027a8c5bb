//! Decides when a stage fires: its expressions bound to a run's knobs, its cooldown, and the current measurements.

use crate::engine::case::Case;
use crate::engine::case::budget::Budget;
use crate::engine::expr::{self, Expr, Moment, Quantity};
use crate::engine::outcome::Idle;
use crate::engine::outcome::event::Cause;
use crate::engine::policy::Policy;
use crate::engine::policy::stages::Stage;
use crate::engine::vocabulary::{ActionKind, Hook};
use crate::engine::working::Working;
use crate::units::{Share, Tokens};
use std::collections::BTreeMap;

/// The stages of a run with the last measurements.
#[derive(Debug)]
pub(super) struct Triggers<'a> {
    policy: &'a Policy,
    stages: Vec<BoundStage>,
    /// Expressions of the policy's names at the run's knobs.
    names: BTreeMap<String, Expr>,
    /// The hooks of all stages, as bits.
    hooks: u16,
    believed_fill: Option<Expr>,
    /// Tokens that stages have removed so far, on the policy's own meter.
    taken: f64,
    /// Whether no expression of the policy needs more than is measured when a stage acts.
    pub(super) are_settled: bool,
    pub(super) moment: Moment,
}

/// A stage with its expressions bound to the run's knobs.
#[derive(Debug)]
struct BoundStage {
    bound: Stage,
    /// The lowest used tokens that meet its trigger, if the trigger has no other condition.
    floor: Option<f64>,
    /// Whether the settings alone prevent it from firing.
    is_off: bool,
    /// Whether no measurement except `floor` affects it.
    is_settled: bool,
    last_fired: Option<usize>,
    last_tried: Option<usize>,
}

impl<'a> Triggers<'a> {
    pub(super) fn new(case: &Case, policy: &'a Policy, names: BTreeMap<String, Expr>) -> Self {
        let bind = |stage: &Stage| {
            let mut bound = stage.bind(&names);
            let is_off = bound.when.constant_value() == Some(0.0);
            bound.when = bound.when.fix(Quantity::WindowShare, case.window_share());
            if !case.windows.varies() {
                let window = case.windows.at(0).as_f64();
                bound.when = bound.when.fix(Quantity::Window, window);
            }
            // A wait of 0 minutes is no wait.
            let is_no_wait = |cold: &Expr| cold.constant_value().is_some_and(|m| m <= 0.0);
            bound.guard.cold = bound.guard.cold.filter(|cold| !is_no_wait(cold));
            let floor = bound.when.floor_of(Quantity::Used);
            BoundStage {
                floor,
                is_off,
                // The reserve is computed from the last measurements.
                is_settled: floor.is_some() && bound.is_settled() && policy.reserve.is_none(),
                bound,
                last_fired: None,
                last_tried: None,
            }
        };
        let stages: Vec<_> = policy.stages.iter().map(bind).collect();
        let hooks = policy.stages.iter().fold(0, |hooks, stage| hooks | bit(stage.at));
        let says_more = policy.believed_fill.is_some() || policy.reserve.is_some();
        let are_settled = !says_more && stages.iter().all(|stage| stage.is_settled);
        let n = stages.len();
        let mut moment =
            Moment { since: vec![f64::INFINITY; n], fired: vec![false; n], ..Moment::default() };
        moment.set(Quantity::Tools, policy.meter.tools(case).as_f64());
        Self {
            policy,
            stages,
            hooks,
            believed_fill: policy.believed_fill.as_ref().map(|expr| expr.bind(&names)),
            names,
            taken: 0.0,
            are_settled,
            moment,
        }
    }

    /// Continues with the same policy at another place.
    pub(super) fn moved_to(self, policy: &Policy) -> Triggers<'_> {
        let Self { policy: _, stages, hooks, names, believed_fill, taken, are_settled, moment } =
            self;
        Triggers { policy, stages, names, hooks, believed_fill, taken, are_settled, moment }
    }

    pub(super) fn len(&self) -> usize {
        self.stages.len()
    }

    /// Returns the stage as the policy defines it.
    pub(super) fn stage(&self, idx: usize) -> &'a Stage {
        &self.policy.stages[idx]
    }

    /// Returns the stage with its names bound.
    pub(super) fn bound(&self, idx: usize) -> &Stage {
        &self.stages[idx].bound
    }

    /// Returns whether a stage acts if the user forces a compaction.
    pub(super) fn may_be_forced(&self, idx: usize) -> bool {
        let summarizes = |at: usize| {
            let stage = self.stage(at);
            let is_planned = !matches!(stage.at, Hook::OverflowError | Hook::ToolResult);
            is_planned && stage.action.kind() == ActionKind::Summarize && !self.is_off(at)
        };
        !self.is_off(idx) && (summarizes(idx) || !(0..self.len()).any(summarizes))
    }

    /// Returns whether settings alone disable a stage.
    pub(super) fn is_off(&self, idx: usize) -> bool {
        self.stages[idx].is_off
    }

    /// Returns whether any stage acts at a hook.
    #[inline]
    pub(super) fn act_at(&self, hook: Hook) -> bool {
        self.hooks & bit(hook) != 0
    }

    /// Returns whether a stage fires at this call, or the reason why not.
    pub(super) fn fires(
        &mut self,
        idx: usize,
        call: usize,
        working: &Working<'_>,
        budget: Budget,
    ) -> Result<(), Idle> {
        let used = working.metered().as_f64();
        let is_met = self.stages[idx].floor.map(|floor| used >= floor);
        if is_met == Some(false) {
            return Err(Idle::NotMet);
        }
        if !self.stages[idx].is_settled {
            self.measure(call, working, budget);
        }
        let stage = &self.stages[idx];
        if !is_met.unwrap_or_else(|| stage.bound.when.holds(&self.moment)) {
            return Err(Idle::NotMet);
        }
        if stage.is_in_cooldown(&self.moment, call) {
            return Err(Idle::InCooldown);
        }
        if stage.waits_for_cold(&self.moment, used) {
            return Err(Idle::CacheWarm);
        }
        Ok(())
    }

    /// Returns the count that a stage compares with its limit, if the policy defines it.
    pub(super) fn compared(
        &mut self,
        idx: usize,
        step: usize,
        working: &Working<'_>,
        budget: Budget,
    ) -> Option<Tokens> {
        self.stages[idx].bound.compares.as_ref()?;
        self.measure(step, working, budget);
        let count = self.stages[idx].bound.compares.as_ref()?;
        let count = count.value(&self.moment);
        (count >= 0.0).then_some(Tokens(count as u64))
    }

    /// Returns the fill that the policy believes, if the preset defines it.
    pub(super) fn believed(
        &mut self,
        call: usize,
        working: &Working<'_>,
        budget: Budget,
    ) -> Option<Share> {
        self.believed_fill.as_ref()?;
        self.measure(call, working, budget);
        let believed_fill = self.believed_fill.as_ref()?;
        // Negative: the system has no limit.
        let fill = believed_fill.value(&self.moment);
        (fill >= 0.0).then_some(Share(fill))
    }

    /// Updates the measurements.
    pub(super) fn measure(&mut self, call: usize, working: &Working<'_>, budget: Budget) {
        let turn = working.turn(call);
        let values = [
            (Quantity::Used, working.metered().as_f64()),
            (Quantity::Window, budget.window.as_f64()),
            (Quantity::Input, budget.usable().as_f64()),
            (Quantity::OutputReserve, budget.output_reserve.as_f64()),
            (Quantity::Msgs, working.context.entries.len() as f64),
            (Quantity::Turns, f64::from(turn)),
            (Quantity::Call, (call + 1) as f64),
            (Quantity::Sent, working.metered().as_f64() + self.taken),
        ];
        for (quantity, value) in values {
            self.moment.set(quantity, value);
        }
        for (since, stage) in self.moment.since.iter_mut().zip(&self.stages) {
            *since = stage.last_fired.map_or(f64::INFINITY, |fired| (call - fired) as f64);
        }
    }

    /// Records the weights of the store on the policy's own meter before and after a stage changed it.
    pub(super) fn note_removed(&mut self, before: f64, now: f64) {
        self.taken += before - now;
        for quantity in [Quantity::LastInput, Quantity::LastTotal] {
            let reported = self.moment.quantities[quantity as usize];
            self.moment.set(quantity, reported.min(now));
        }
    }

    /// Returns the index of the call at which a stage last acted.
    pub(super) fn last_fired(&self, idx: usize) -> Option<usize> {
        self.stages[idx].last_fired
    }

    /// Records an attempt of a stage: its cooldown starts, whether the attempt succeeds or not.
    pub(super) fn tried(&mut self, idx: usize, call: usize) {
        self.stages[idx].last_tried = Some(call);
    }

    /// Records that a stage acted.
    pub(super) fn fired(&mut self, idx: usize, call: usize) {
        self.stages[idx].last_fired = Some(call);
        self.moment.fired[idx] = true;
    }

    /// Returns the trigger as written with the values of its terms.
    pub(super) fn cause(&self, idx: usize) -> Cause {
        let when = &self.stage(idx).when;
        let value = |term: String| {
            let quantity = || expr::quantity(&term).map(Expr::quantity);
            let expr = self.names.get(&term).cloned().or_else(quantity)?;
            Some((term, expr.value(&self.moment)))
        };
        Cause {
            when: when.text.clone(),
            terms: when.terms().into_iter().filter_map(value).collect(),
        }
    }
}

impl BoundStage {
    /// Returns whether a stage is in its cooldown. Without a cooldown it may act again at the same call: a rejected
    /// call is tried again.
    fn is_in_cooldown(&self, moment: &Moment, call: usize) -> bool {
        let Some(tried) = self.last_tried else {
            return false;
        };
        let cooldown = self.bound.guard.cooldown.value(moment);
        cooldown > 0.0 && (call - tried) as f64 <= cooldown
    }

    /// Returns whether the prompt cache is still warm and the context does not reach into the output reserve.
    fn waits_for_cold(&self, moment: &Moment, used: f64) -> bool {
        let Some(cold) = &self.bound.guard.cold else {
            return false;
        };
        let minutes = cold.value(moment);
        let of = |quantity: Quantity| moment.quantities[quantity as usize];
        minutes > 0.0 && of(Quantity::Idle) < minutes && used <= of(Quantity::Input)
    }
}

/// Returns the bit of a hook.
fn bit(hook: Hook) -> u16 {
    1 << hook as u16
}
