//! Limits that a call may cross: the usable window and the trigger.

use crate::analysis::Trigger;
use crate::engine::Sample;
use crate::units::Tokens;

/// Limits that a call may cross.
#[derive(Clone, Copy)]
pub(super) struct VerdictLimits<'a> {
    pub(super) output_reserve: Tokens,
    pub(super) trigger: &'a Trigger,
}

impl VerdictLimits<'_> {
    /// Returns the usable window of a call.
    pub(super) fn usable(self, sample: &Sample) -> Tokens {
        sample.window - self.output_reserve
    }

    /// Returns the trigger in actual tokens.
    pub(super) fn trigger(self, sample: &Sample) -> Tokens {
        Tokens((self.usable(sample).as_f64() * self.trigger.share.0).ceil() as u64)
    }

    /// Returns whether a call reaches the trigger; false without usable tokens, where the trigger would be zero.
    pub(super) fn reaches_trigger(self, sample: &Sample) -> bool {
        self.usable(sample) > Tokens::ZERO && sample.tokens >= self.trigger(sample)
    }

    /// Returns the trigger in tokens of the policy's own count, as text.
    pub(super) fn shown_trigger(self, sample: &Sample) -> String {
        let lane = self.trigger.lane.as_ref();
        lane.map_or_else(|| self.trigger(sample), |lane| lane.tokens).short()
    }
}
