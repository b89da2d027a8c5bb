//! The trigger of a lane's policy: in its own count, and in actual tokens.

use crate::app::state::model::knobs;
use crate::app::state::model::runs::own_count::OwnScale;
use crate::app::state::model::runs::replays::LaneRun;
use crate::engine::{Budget, Knob, KnobRole};
use crate::units::Tokens;

/// The trigger of a policy at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerMark {
    /// Tokens by its own count.
    pub counted: Tokens,
    /// Actual tokens at that count, by the call with the nearest own count.
    pub actual: Tokens,
}

impl LaneRun {
    /// Returns the trigger, if known.
    pub fn trigger(&self, call: usize, budget: Budget) -> Option<TriggerMark> {
        let knob = self.policy.knob_for(KnobRole::CompressionTrigger)?;
        let value = self.knobs.get(&knob.name)?;
        let counted = match self.trigger_quantity(knob, call, budget)? {
            TriggerQuantity::Tokens(one) => Tokens((value * one).round() as u64),
            TriggerQuantity::BelievedFill(scale) => scale.counted(value),
            TriggerQuantity::Limit(scale) => scale.counted(1.0),
        };
        let nearest = self.own_count.nearest(&self.outcome.samples, counted);
        let nearest = nearest.filter(|_| self.counts_otherwise);
        let actual = nearest.map_or(counted, |s| s.tokens + counted - s.metered);
        Some(TriggerMark { counted, actual })
    }

    /// Returns the trigger value for an own count; the inverse of [`Self::trigger`].
    pub fn trigger_value(&self, counted: Tokens, call: usize, budget: Budget) -> Option<f64> {
        let knob = self.policy.knob_for(KnobRole::CompressionTrigger)?;
        let value = match self.trigger_quantity(knob, call, budget)? {
            TriggerQuantity::Tokens(one) => counted.as_f64() / one.max(1.0),
            TriggerQuantity::BelievedFill(scale) => scale.believed(counted),
            // The limit moves with the value; the distance shows during the drag.
            TriggerQuantity::Limit(scale) => {
                let now = scale.counted(1.0).as_f64().max(1.0);
                self.knobs.get(&knob.name)? * counted.as_f64() / now
            }
        };
        Some(knobs::snapped(knob, value))
    }

    fn own_scale(&self, call: usize) -> Option<OwnScale> {
        self.own_count.scale(&self.outcome.samples, call)
    }

    /// Returns the quantity that the trigger's value refers to. A reported belief takes precedence, since the policy's
    /// limit may differ from the actual one.
    fn trigger_quantity(
        &self,
        knob: &Knob,
        call: usize,
        budget: Budget,
    ) -> Option<TriggerQuantity> {
        let by_unit = || {
            let one = knobs::trigger_unit(&self.policy, &self.knobs, knob, budget);
            one.map(TriggerQuantity::Tokens)
        };
        let Some(believed_fill) = &self.policy.believed_fill else {
            return by_unit();
        };
        if self.policy.needs(believed_fill, &knob.name) {
            return self.own_scale(call).map(TriggerQuantity::Limit);
        }
        match knob.unit.as_str() {
            "share of usable" => self.own_scale(call).map(TriggerQuantity::BelievedFill),
            // Its window may differ from the actual one.
            "share of window" => None,
            _ => by_unit(),
        }
    }
}

/// The quantity that a trigger's value refers to.
enum TriggerQuantity {
    /// Tokens for a value of 1.
    Tokens(f64),
    /// Its believed fill, which reaches the value.
    BelievedFill(OwnScale),
    /// Its believed fill, which reaches 1 when the policy acts.
    Limit(OwnScale),
}
