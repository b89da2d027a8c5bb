//! When a stage fires: its expressions bound to a run's knobs, its cooldown, and what is measured at the moment.

use super::Case;
use super::budget::Budget;
use super::event::Cause;
use super::expr::{Expr, Moment, Quantity};
use super::outcome::Idle;
use super::policy::{KnobValues, Policy};
use super::stages::Stage;
use super::working::Working;
use std::collections::BTreeMap;

/// The stages of a run with what was measured last.
#[derive(Debug)]
pub(super) struct Triggers<'a> {
    stages: Vec<BoundStage<'a>>,
    names: BTreeMap<String, Expr>,
    pub(super) moment: Moment,
}

/// A stage with its expressions bound to the run's knobs.
#[derive(Debug)]
struct BoundStage<'a> {
    stage: &'a Stage,
    bound: Stage,
    /// Below this much used it cannot fire, so that nothing need be measured.
    floor: f64,
    last_fired: Option<usize>,
    last_tried: Option<usize>,
}

impl<'a> Triggers<'a> {
    pub(super) fn new(case: &Case, policy: &'a Policy, knobs: &KnobValues) -> Self {
        let names = policy.bindings(knobs);
        let bind = |stage: &'a Stage| {
            let bound = stage.bind(&names);
            let floor = floor(case, &bound.when);
            BoundStage {
                stage,
                bound,
                floor,
                last_fired: None,
                last_tried: None,
            }
        };
        let stages: Vec<_> = policy.stages.iter().map(bind).collect();
        let n = stages.len();
        let moment = Moment {
            since: vec![f64::INFINITY; n],
            fired: vec![false; n],
            ..Moment::default()
        };
        Self {
            stages,
            names,
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

    /// Whether a stage fires at this step; if not, why.
    pub(super) fn fires(
        &mut self,
        idx: usize,
        step: usize,
        working: &Working<'_>,
        budget: Budget,
    ) -> Result<(), Idle> {
        if working.metered().as_f64() < self.stages[idx].floor {
            return Err(Idle::NotMet);
        }
        self.measure(step, working, budget);
        let stage = &self.stages[idx];
        if !stage.bound.when.holds(&self.moment) {
            return Err(Idle::NotMet);
        }
        let cooldown = stage.bound.guard.cooldown.value(&self.moment);
        let rests = stage
            .last_tried
            .is_some_and(|tried| (step - tried) as f64 <= cooldown);
        if rests { Err(Idle::Resting) } else { Ok(()) }
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
        let when = &self.stages[idx].stage.when;
        let value = |term: &str| match (self.names.get(term), super::expr::quantity(term)) {
            (Some(expr), _) => expr.value(&self.moment),
            (None, Some(quantity)) => self.moment.quantities[quantity as usize],
            (None, None) => f64::NAN,
        };
        let terms = when.terms().into_iter().map(|term| {
            let value = value(&term);
            (term, value)
        });
        Cause {
            when: when.text.clone(),
            terms: terms.collect(),
        }
    }
}

/// The least that must be used for a trigger to hold, as far as that can be known before the run.
fn floor(case: &Case, when: &Expr) -> f64 {
    if case.windows.varies() {
        return f64::NEG_INFINITY;
    }
    let when = when.fix(Quantity::Window, case.windows.at(0).as_f64());
    when.floor_of(Quantity::Used).unwrap_or(f64::NEG_INFINITY)
}
