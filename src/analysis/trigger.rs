//! The trigger that a session is held against: that of the first lane that has one, by the lane's own count.

use crate::engine::{
    Budget, Case, KnobRole, KnobValues, Outcome, OwnTrigger, Policy, Sample, simulate,
};
use crate::presets;
use crate::units::{Share, Tokens};

/// The preset whose trigger is used where no lane has one.
const DEFAULT: &str = "truncate";
/// Its trigger, where even that cannot act.
const DEFAULT_SHARE: Share = Share(0.75);

/// The trigger that a session is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// True tokens as a share of usable when the policy acts, judged by the call that its count is nearest at.
    pub share: Share,
    /// The lane that it belongs to, if any.
    pub whose: Option<LaneTrigger>,
}

/// The trigger of a lane, and where the lane reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneTrigger {
    /// The lane's name.
    pub lane: String,
    /// The trigger in tokens of the lane's own count: at the call that reaches it, else at the last.
    pub tokens: Tokens,
    /// Index of the first step that reaches it by that count; none if no step does.
    pub step: Option<usize>,
}

/// A lane that was played.
#[derive(Clone, Copy, Debug)]
pub struct PlayedLane<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its policy.
    pub policy: &'a Policy,
    /// Its settings.
    pub knobs: &'a KnobValues,
    /// Its run.
    pub outcome: &'a Outcome,
}

impl From<Share> for Trigger {
    fn from(share: Share) -> Self {
        Self { share, whose: None }
    }
}

impl Trigger {
    /// Returns the trigger of the first lane that has one. Where none has, plays the default preset.
    pub fn of_lanes<'a>(
        case: &Case,
        output_reserve: Tokens,
        lanes: impl IntoIterator<Item = PlayedLane<'a>>,
    ) -> Self {
        let mut lanes = lanes.into_iter();
        lanes
            .find_map(|lane| Self::of_lane(case, output_reserve, lane))
            .or_else(|| default_trigger(case, output_reserve))
            .unwrap_or_else(|| DEFAULT_SHARE.into())
    }

    /// Returns the trigger of a lane, as a share of what this reserve leaves usable.
    pub fn of_lane(case: &Case, output_reserve: Tokens, lane: PlayedLane<'_>) -> Option<Self> {
        let samples = &lane.outcome.samples;
        let mut triggers = Triggers {
            case,
            lane,
            last: None,
        };
        let at_samples = samples
            .iter()
            .find(|s| triggers.at(s.step).is_some_and(|t| t.is_reached(*s)));
        let at_samples = at_samples.map(|sample| sample.step);
        let at_events = lane.outcome.events.iter().find(|event| {
            let trigger = triggers.at(event.step);
            !event.is_manual() && trigger.is_some_and(|t| t.is_reached(*event))
        });
        let at_events = at_events.map(|event| event.step);
        let step = at_events.into_iter().chain(at_samples).min();
        let last = case.session.calls.len().saturating_sub(1);
        let shown = step.unwrap_or(last).min(last);
        let trigger = triggers.at(shown)?;
        let budget = Budget {
            window: case.windows.at(shown),
            output_reserve,
        };
        Some(Self {
            share: budget.pressure(true_tokens(trigger, samples)),
            whose: Some(LaneTrigger {
                lane: lane.name.to_owned(),
                tokens: trigger.tokens,
                step,
            }),
        })
    }

    /// `the trigger`, or `the trigger of truncate`.
    pub fn name(&self) -> String {
        match &self.whose {
            Some(LaneTrigger { lane, .. }) => format!("the trigger of {lane}"),
            None => "the trigger".to_owned(),
        }
    }
}

/// Context window and model of a call, which determine a trigger.
type Conditions = (Tokens, Option<usize>);

/// A lane's trigger by call, computed again when the window or the model changes.
struct Triggers<'a> {
    case: &'a Case,
    lane: PlayedLane<'a>,
    last: Option<(Conditions, Option<OwnTrigger>)>,
}

impl Triggers<'_> {
    fn at(&mut self, step: usize) -> Option<OwnTrigger> {
        let model = self.case.session.calls.get(step).and_then(|s| s.model);
        let key = (self.case.windows.at(step), model);
        match self.last {
            Some((known, trigger)) if known == key => trigger,
            _ => {
                let lane = self.lane;
                let trigger = lane.policy.trigger(lane.knobs, self.case, step);
                self.last = Some((key, trigger));
                trigger
            }
        }
    }
}

/// The true tokens when a policy counts its trigger, judged by the call that its count is nearest at.
fn true_tokens(trigger: OwnTrigger, samples: &[Sample]) -> Tokens {
    let nearest = samples
        .iter()
        .min_by_key(|sample| trigger.count(*sample).0.abs_diff(trigger.tokens.0));
    nearest.map_or(trigger.tokens, |sample| {
        sample.tokens + trigger.tokens - trigger.count(sample)
    })
}

fn default_trigger(case: &Case, output_reserve: Tokens) -> Option<Trigger> {
    let policy = presets::by_name(DEFAULT)?;
    let mut knobs = policy.defaults();
    let reserve = policy.knob_for(KnobRole::OutputReserve)?;
    policy
        .set(&mut knobs, &reserve.name, output_reserve.as_f64())
        .ok()?;
    let outcome = simulate(case, &policy, &knobs, None);
    let lane = PlayedLane {
        name: &policy.name,
        policy: &policy,
        knobs: &knobs,
        outcome: &outcome,
    };
    Trigger::of_lane(case, output_reserve, lane)
}
