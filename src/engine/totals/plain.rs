//! Plain policies, whose totals can be computed from sums: at most one stage, which acts from a threshold on.

use super::Totals;
use super::account::{Story, Text, Told, What};
use super::clear::Clearing;
use super::course::Course;
use super::replace::{Notices, Replacing};
use crate::engine::budget::Budget;
use crate::engine::expr::{Expr, Quantity};
use crate::engine::meter::{Count, Meter};
use crate::engine::seen::SeenText;
use crate::engine::stages::{Action, Guard, Hook, Mutates, Repair, Stage};
use crate::engine::{Case, KnobValues, Policy};
use crate::units::Tokens;

/// A plain policy with its settings.
pub(super) struct Plain {
    pub(super) budget: Budget,
    stage: Option<PlainStage>,
}

struct PlainStage {
    /// Threshold on the policy's own meter.
    floor: f64,
    /// Number of calls of its cooldown.
    cooldown: f64,
    actor: Actor,
}

/// The action of the stage, during a run.
pub(super) enum Actor {
    /// Clears tool results.
    Clear(Clearing),
    /// Drops or summarizes messages.
    Replace(Replacing),
}

/// The result of a stage that fired.
pub(super) enum Attempt {
    /// There was nothing to do, or too little.
    Nothing,
    /// It failed after an attempt: the cooldown starts.
    Failed,
    /// It succeeded; the difference in true tokens and on the policy's own meter.
    Done(What, (i64, i64)),
}

/// The inputs of a stage during a run.
pub(super) struct Scene<'a> {
    pub(super) case: &'a Case,
    pub(super) meter: &'a Meter,
    pub(super) course: &'a Course,
    pub(super) notices: &'a Notices,
}

/// Minimum savings of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub(super) min_saved: Option<f64>,
    pub(super) must_shrink: bool,
}

impl Least {
    fn new(guard: &Guard) -> Option<Self> {
        let min_saved = match &guard.min_saved {
            Some(min) => Some(min.constant_value()?),
            None => None,
        };
        Some(Self {
            min_saved,
            must_shrink: guard.must_shrink,
        })
    }

    /// Returns whether replacing `gone` by `left` is accepted, by the same rule as in a run.
    pub(super) fn allows(self, gone: Tokens, left: impl FnOnce() -> Tokens) -> bool {
        let is_enough = |saved: f64| self.min_saved.is_none_or(|least| saved > least);
        if gone == Tokens::ZERO || !is_enough(gone.as_f64()) {
            return false;
        }
        let saved = gone.as_f64() - left().as_f64();
        is_enough(saved) && (!self.must_shrink || saved > 0.0)
    }
}

/// Returns whether the user placed nothing in the session and its window is constant.
pub(super) fn is_even(case: &Case) -> bool {
    let is_untouched =
        case.restarts.is_empty() && case.errors.is_empty() && case.by_hand.is_empty();
    let has_refused = case.session.calls.iter().any(|step| step.is_refused);
    is_untouched && !has_refused && !case.windows.varies()
}

impl Plain {
    /// Prepares a policy; returns none if it is not plain.
    pub(super) fn new(case: &Case, policy: &Policy, knobs: &KnobValues) -> Option<Self> {
        let is_plain = policy.reserve.is_none()
            && policy.stages.len() <= 1
            && !matches!(policy.meter.count, Count::Named(_));
        if !is_plain {
            return None;
        }
        let budget = Budget {
            window: case.windows.at(0),
            output_reserve: policy.output_reserve(knobs, case, 0),
        };
        let stage = match policy.stages.first() {
            Some(stage) => Some(PlainStage::new(stage, policy, knobs, budget)?),
            None => None,
        };
        Some(Self { budget, stage })
    }

    /// Plays it into an empty record. Returns the totals and the final state of the stage.
    pub(super) fn play(
        self,
        scene: &Scene<'_>,
        mut story: Story<'_>,
    ) -> ((Totals, Told), Option<Actor>) {
        let (course, overhead) = (scene.course, scene.case.ledger.overhead);
        let mut truth = overhead.0.cast_signed();
        let mut metered = scene.meter.overhead(scene.case, overhead).cast_signed();
        let Some(mut stage) = self.stage else {
            story.calls(0..course.len(), (truth, metered));
            return (story.finish(truth), None);
        };
        let (mut call, mut rested) = (0, 0);
        while call < course.len() {
            let next = course.reaches(call, metered, stage.floor).max(rested);
            let next = stage.actor.earliest(scene, next.min(course.len()));
            story.calls(call..next, (truth, metered));
            if next == course.len() {
                break;
            }
            let attempt = stage.actor.attempt(scene, next, &mut story);
            if !matches!(attempt, Attempt::Nothing) && stage.cooldown > 0.0 {
                rested = next.saturating_add(stage.cooldown.min(1e9) as usize + 1);
            }
            if let Attempt::Done(what, added) = attempt {
                let used =
                    |more: i64| Tokens((course.truth[next].cast_signed() + more).cast_unsigned());
                let around = (used(truth), used(truth + added.0));
                truth += added.0;
                metered += added.1;
                let wiped = what.wiped(course, next, around, overhead);
                story.did(next, what, wiped);
            }
            story.calls(next..next + 1, (truth, metered));
            call = next + 1;
        }
        (story.finish(truth), Some(stage.actor))
    }
}

impl PlainStage {
    fn new(stage: &Stage, policy: &Policy, knobs: &KnobValues, budget: Budget) -> Option<Self> {
        let mut bound = stage.bind(&policy.bindings(knobs));
        let is_plain = bound.at == Hook::BeforeCall
            && bound.mutates == Mutates::Store
            && bound.repair == Repair::Whole
            && bound.delay.is_none();
        bound.when = bound.when.fix(Quantity::Window, budget.window.as_f64());
        let floor = bound.when.floor_of(Quantity::Used);
        let floor = floor.filter(|floor| !floor.is_nan())?;
        let cooldown = bound.guard.cooldown.constant_value()?;
        let waits = |cold: &Expr| cold.constant_value() != Some(0.0);
        if bound.guard.cold.as_ref().is_some_and(waits) {
            return None;
        }
        let least = Least::new(&bound.guard)?;
        let actor = match bound.action {
            Action::Clear(clear) => Actor::Clear(Clearing::new(&bound.take, clear, least)?),
            Action::Drop(drop) => Actor::Replace(Replacing::dropping(&bound.take, drop, least)?),
            Action::Summarize(summarize) => {
                Actor::Replace(Replacing::summarizing(&bound.take, summarize, least)?)
            }
            Action::Cut(_) | Action::Log(_) | Action::Named(_) => return None,
        };
        is_plain.then_some(Self {
            floor,
            cooldown,
            actor,
        })
    }
}

impl Actor {
    /// Returns the first call from this one on at which the stage may act; the number of calls if none.
    fn earliest(&mut self, scene: &Scene<'_>, call: usize) -> usize {
        match self {
            Self::Clear(clearing) => clearing.earliest(scene, call),
            Self::Replace(replacing) => replacing.earliest(scene.course, call),
        }
    }

    fn attempt(&mut self, scene: &Scene<'_>, call: usize, story: &mut Story<'_>) -> Attempt {
        match self {
            Self::Clear(clearing) => clearing.attempt(scene, call),
            Self::Replace(replacing) => replacing.attempt(scene, call, &mut story.summaries),
        }
    }

    /// Returns the text that it put in the place of messages.
    pub(super) fn text(&self, scene: &Scene<'_>, text: &Text) -> Option<SeenText> {
        match self {
            Self::Clear(_) => None,
            Self::Replace(replacing) => replacing.text(scene, text),
        }
    }

    /// Returns the text that it put in the place of cleared results.
    pub(super) fn marker(&self, scene: &Scene<'_>) -> Option<SeenText> {
        match self {
            Self::Clear(clearing) => Some(clearing.marker(scene)),
            Self::Replace(_) => None,
        }
    }
}
