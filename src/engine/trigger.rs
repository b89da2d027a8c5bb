//! When a stage fires: its expressions bound to a run's knobs, its cooldown, and what is measured at the moment.

use super::Case;
use super::budget::Budget;
use super::event::Cause;
use super::expr::{Expr, Moment, Quantity};
use super::outcome::Idle;
use super::policy::{KnobValues, Policy};
use super::stages::{Hook, Stage};
use super::working::Working;
use crate::units::Share;
use std::collections::BTreeMap;

/// The stages of a run with what was measured last.
#[derive(Debug)]
pub(super) struct Triggers<'a> {
    stages: Vec<BoundStage<'a>>,
    /// The hooks that any of them acts at, as bits.
    hooks: u16,
    believes: Option<Expr>,
    /// What stages have taken out so far, on the policy's own meter.
    taken: f64,
    /// An expression of the policy asks how long the session rested.
    pub(super) wants_idle: bool,
    /// Nothing that the policy says asks for more than is measured when a stage acts.
    pub(super) are_settled: bool,
    pub(super) moment: Moment,
}

/// A stage with its expressions bound to the run's knobs.
#[derive(Debug)]
struct BoundStage<'a> {
    stage: &'a Stage,
    bound: Stage,
    /// What its trigger mentions, with what that stands for.
    terms: Vec<(String, Expr)>,
    /// Its trigger is met from this much used on, where it asks for no more than that.
    floor: Option<f64>,
    /// The settings alone keep it from ever firing.
    is_off: bool,
    /// Nothing that is measured says more than that: all else is settled.
    is_settled: bool,
    last_fired: Option<usize>,
    last_tried: Option<usize>,
}

impl<'a> Triggers<'a> {
    pub(super) fn new(case: &Case, policy: &'a Policy, knobs: &KnobValues) -> Self {
        let names = policy.bindings(knobs);
        let bind = |stage: &'a Stage| {
            let mut bound = stage.bind(&names);
            let is_off = bound.when.constant_value() == Some(0.0);
            if !case.windows.varies() {
                let window = case.windows.at(0).as_f64();
                bound.when = bound.when.fix(Quantity::Window, window);
            }
            // Nobody waits no time at all.
            let is_no_wait = |cold: &Expr| cold.constant_value().is_some_and(|m| m <= 0.0);
            bound.guard.cold = bound.guard.cold.filter(|cold| !is_no_wait(cold));
            let floor = bound.when.floor_of(Quantity::Used);
            BoundStage {
                stage,
                terms: terms(&stage.when, &names),
                floor,
                is_off,
                // The reserve is worked out from what was measured last.
                is_settled: floor.is_some() && bound.is_settled() && policy.reserve.is_none(),
                bound,
                last_fired: None,
                last_tried: None,
            }
        };
        let stages: Vec<_> = policy.stages.iter().map(bind).collect();
        let hooks = stages.iter().fold(0, |hooks, s| hooks | bit(s.stage.at));
        let waits = stages.iter().any(|stage| stage.bound.guard.cold.is_some());
        let says_more = policy.believes.is_some() || policy.reserve.is_some();
        let are_settled = !says_more && stages.iter().all(|stage| stage.is_settled);
        let n = stages.len();
        let mut moment = Moment {
            since: vec![f64::INFINITY; n],
            fired: vec![false; n],
            ..Moment::default()
        };
        moment.set(Quantity::Tools, policy.meter.tools(case).as_f64());
        Self {
            stages,
            hooks,
            believes: policy.believes.as_ref().map(|expr| expr.bind(&names)),
            taken: 0.0,
            wants_idle: policy.mentions(Quantity::Idle) || waits,
            are_settled,
            moment,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.stages.len()
    }

    /// The stage as the policy has it.
    pub(super) fn stage(&self, idx: usize) -> &'a Stage {
        self.stages[idx].stage
    }

    /// The same with its names bound.
    pub(super) fn bound(&self, idx: usize) -> &Stage {
        &self.stages[idx].bound
    }

    /// Whether settings alone turn a stage off.
    pub(super) fn is_off(&self, idx: usize) -> bool {
        self.stages[idx].is_off
    }

    /// Whether any stage acts at a hook.
    #[inline]
    pub(super) fn act_at(&self, hook: Hook) -> bool {
        self.hooks & bit(hook) != 0
    }

    /// Whether a stage fires at this step; if not, why.
    pub(super) fn fires(
        &mut self,
        idx: usize,
        step: usize,
        working: &Working<'_>,
        budget: Budget,
    ) -> Result<(), Idle> {
        let used = working.metered().as_f64();
        let is_met = self.stages[idx].floor.map(|floor| used >= floor);
        if is_met == Some(false) {
            return Err(Idle::NotMet);
        }
        if !self.stages[idx].is_settled {
            self.measure(step, working, budget);
        }
        let stage = &self.stages[idx];
        if !is_met.unwrap_or_else(|| stage.bound.when.holds(&self.moment)) {
            return Err(Idle::NotMet);
        }
        if stage.rests(&self.moment, step) {
            return Err(Idle::Resting);
        }
        if stage.waits_for_cold(&self.moment, used) {
            return Err(Idle::CacheWarm);
        }
        Ok(())
    }

    /// How full the policy believes the context to be, where it says.
    pub(super) fn believed(
        &mut self,
        step: usize,
        working: &Working<'_>,
        budget: Budget,
    ) -> Option<Share> {
        self.believes.as_ref()?;
        self.measure(step, working, budget);
        let believes = self.believes.as_ref()?;
        Some(Share(believes.value(&self.moment)))
    }

    /// Brings the moment up to date.
    pub(super) fn measure(&mut self, step: usize, working: &Working<'_>, budget: Budget) {
        let turn = working.turn(step);
        let values = [
            (Quantity::Used, working.metered().as_f64()),
            (Quantity::Window, budget.window.as_f64()),
            (Quantity::Input, budget.usable().as_f64()),
            (Quantity::OutputReserve, budget.output_reserve.as_f64()),
            (Quantity::Msgs, working.context.entries.len() as f64),
            (Quantity::Turns, f64::from(turn)),
            (Quantity::Step, (step + 1) as f64),
            (Quantity::Sent, working.metered().as_f64() + self.taken),
        ];
        for (quantity, value) in values {
            self.moment.set(quantity, value);
        }
        for (since, stage) in self.moment.since.iter_mut().zip(&self.stages) {
            *since = stage
                .last_fired
                .map_or(f64::INFINITY, |fired| (step - fired) as f64);
        }
    }

    /// The store weighed so much on the policy's own meter before a stage changed it, and weighs so much now.
    pub(super) fn took(&mut self, before: f64, now: f64) {
        self.taken += before - now;
        for quantity in [Quantity::LastInput, Quantity::LastTotal] {
            let reported = self.moment.quantities[quantity as usize];
            self.moment.set(quantity, reported.min(now));
        }
    }

    /// Index of the step at which a stage last acted.
    pub(super) fn last_fired(&self, idx: usize) -> Option<usize> {
        self.stages[idx].last_fired
    }

    /// A stage found something to do and tries it: it rests from now on, whether that succeeds or not.
    pub(super) fn tried(&mut self, idx: usize, step: usize) {
        self.stages[idx].last_tried = Some(step);
    }

    /// A stage acted.
    pub(super) fn fired(&mut self, idx: usize, step: usize) {
        self.stages[idx].last_fired = Some(step);
        self.moment.fired[idx] = true;
    }

    /// The trigger as written and what its terms stood at.
    pub(super) fn cause(&self, idx: usize) -> Cause {
        let stage = &self.stages[idx];
        let value = |(term, expr): &(String, Expr)| (term.clone(), expr.value(&self.moment));
        Cause {
            when: stage.stage.when.text.clone(),
            terms: stage.terms.iter().map(value).collect(),
        }
    }
}

impl BoundStage<'_> {
    /// Whether it tried too short a while ago. Without a rest it may act again in the same step: a call that was rejected
    /// is tried again.
    fn rests(&self, moment: &Moment, step: usize) -> bool {
        let Some(tried) = self.last_tried else {
            return false;
        };
        let cooldown = self.bound.guard.cooldown.value(moment);
        cooldown > 0.0 && (step - tried) as f64 <= cooldown
    }

    /// Whether the prompt cache has not been left alone for long enough, and what is used still fits.
    fn waits_for_cold(&self, moment: &Moment, used: f64) -> bool {
        let Some(cold) = &self.bound.guard.cold else {
            return false;
        };
        let minutes = cold.value(moment);
        let of = |quantity: Quantity| moment.quantities[quantity as usize];
        minutes > 0.0 && of(Quantity::Idle) < minutes && used <= of(Quantity::Input)
    }
}

/// The bit that stands for a hook.
fn bit(hook: Hook) -> u16 {
    1 << hook as u16
}

/// Quantities and names that a trigger mentions, with what they stand for.
fn terms(when: &Expr, names: &BTreeMap<String, Expr>) -> Vec<(String, Expr)> {
    let stands_for = |term: String| {
        let quantity = || super::expr::quantity(&term).map(Expr::quantity);
        let expr = names.get(&term).cloned().or_else(quantity);
        expr.map(|expr| (term, expr))
    };
    when.terms().into_iter().filter_map(stands_for).collect()
}
