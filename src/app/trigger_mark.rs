//! Where a lane's policy acts: in its own count, and in what is really sent by then.

use crate::app::knobs;
use crate::app::own_count::OwnScale;
use crate::app::runs::LaneRun;
use crate::engine::{Budget, Knob, KnobRole};
use crate::units::Tokens;

/// Where a policy acts, as seen from one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerMark {
    /// Tokens on its own count.
    pub counted: Tokens,
    /// What is really sent when it counts that, going by the call that it counted most alike.
    pub really: Tokens,
}

impl LaneRun {
    /// Where the policy acts, where that is known.
    pub fn trigger(&self, step: usize, budget: Budget) -> Option<TriggerMark> {
        let knob = self.policy.knob_for(KnobRole::CompressionTrigger)?;
        let value = self.knobs.get(&knob.name)?;
        let counted = match self.yardstick(knob, step, budget)? {
            Yardstick::Tokens(one) => Tokens((value * one).round() as u64),
            Yardstick::Belief(scale) => scale.counted(value),
            Yardstick::Limit(scale) => scale.counted(1.0),
        };
        let alike = self.own_count.nearest(&self.outcome.samples, counted);
        let alike = alike.filter(|_| self.counts_otherwise);
        let really = alike.map_or(counted, |s| s.tokens + counted - s.metered);
        Some(TriggerMark { counted, really })
    }

    /// The trigger's value that makes the policy act at a count: the way back of [`Self::trigger`].
    pub fn trigger_value(&self, counted: Tokens, step: usize, budget: Budget) -> Option<f64> {
        let knob = self.policy.knob_for(KnobRole::CompressionTrigger)?;
        let value = match self.yardstick(knob, step, budget)? {
            Yardstick::Tokens(one) => counted.as_f64() / one.max(1.0),
            Yardstick::Belief(scale) => scale.believed(counted),
            // The limit moves with the value; by how much shows as it is moved.
            Yardstick::Limit(scale) => {
                let now = scale.counted(1.0).as_f64().max(1.0);
                self.knobs.get(&knob.name)? * counted.as_f64() / now
            }
        };
        Some(knobs::snapped(knob, value))
    }

    fn own_scale(&self, step: usize) -> Option<OwnScale> {
        self.own_count.scale(&self.outcome.samples, step)
    }

    /// What the trigger's value is held against. What the policy believes decides where it says so, since its limit
    /// need not be ours.
    fn yardstick(&self, knob: &Knob, step: usize, budget: Budget) -> Option<Yardstick> {
        let by_unit = || {
            let one = knobs::trigger_unit(&self.policy, &self.knobs, knob, budget);
            one.map(Yardstick::Tokens)
        };
        let Some(believes) = &self.policy.believes else {
            return by_unit();
        };
        if self.policy.needs(believes, &knob.name) {
            return self.own_scale(step).map(Yardstick::Limit);
        }
        match knob.unit.as_str() {
            "share of usable" => self.own_scale(step).map(Yardstick::Belief),
            // Its window need not be the true one.
            "share of window" => None,
            _ => by_unit(),
        }
    }
}

/// What a trigger's value is held against.
enum Yardstick {
    /// So many tokens for a value of 1.
    Tokens(f64),
    /// Its own belief, which reaches the value.
    Belief(OwnScale),
    /// Its own belief, which reaches 1 where the value has it act.
    Limit(OwnScale),
}
