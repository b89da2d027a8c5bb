//! The trigger that a session is compared with: that of the first lane that has one, in the lane's own count.

use crate::engine::{
    Budget, Case, Effect, KnobRole, KnobValues, Outcome, OwnTrigger, Policy, Sample, simulate,
};
use crate::presets;
use crate::units::{Share, Tokens};

/// The preset whose trigger applies if no lane has one.
const DEFAULT_PRESET: &str = "truncate";
/// The trigger if that preset has none for the session.
const DEFAULT_SHARE: Share = Share(0.75);

/// The trigger that a session is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// Actual tokens at the trigger as a share of the usable window.
    pub share: Share,
    /// The lane that has this trigger, if any.
    pub lane: Option<LaneTrigger>,
    /// The first compaction of that lane. If no lane has a trigger in tokens: of the first lane that compacts.
    pub compaction: Option<FirstCompaction>,
}

/// The trigger of a lane in tokens, and the call that reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneTrigger {
    /// Name of the lane.
    pub name: String,
    /// The trigger in tokens of the lane's own count, at the call that reaches it or else at the last call.
    pub tokens: Tokens,
    /// Index of the first call that reaches it by that count, if any.
    pub call: Option<usize>,
}

/// The first compaction of a lane, whatever triggered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstCompaction {
    /// Name of the lane.
    pub lane: String,
    /// Index of its call.
    pub call: usize,
}

/// A replayed lane.
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
        Self { share, lane: None, compaction: None }
    }
}

impl Trigger {
    /// Returns the trigger of the first lane that has one in tokens, otherwise that of the default preset.
    pub fn of_lanes<'a>(
        case: &Case,
        output_reserve: Tokens,
        lanes: impl IntoIterator<Item = PlayedLane<'a>>,
    ) -> Self {
        let lanes: Vec<_> = lanes.into_iter().collect();
        let of_lane = |lane: &PlayedLane<'_>| Self::of_lane(case, output_reserve, *lane);
        lanes.iter().find_map(of_lane).unwrap_or_else(|| Self {
            compaction: lanes.iter().find_map(|lane| first_compaction(case, *lane)),
            ..default_trigger(case, output_reserve).unwrap_or_else(|| DEFAULT_SHARE.into())
        })
    }

    /// Returns the trigger of a lane as a share of the window minus this reserve. Returns `None` if no number of tokens
    /// triggers its policy.
    pub fn of_lane(case: &Case, output_reserve: Tokens, lane: PlayedLane<'_>) -> Option<Self> {
        let samples = &lane.outcome.samples;
        let mut triggers = TriggerByCall { case, lane, latest: None };
        let call = triggers.first_call_that_reaches();
        let last = case.session.calls.len().saturating_sub(1);
        let compared = call.unwrap_or(last).min(last);
        let trigger = triggers.at(compared)?;
        let budget = Budget { window: case.windows.at(compared), output_reserve };
        Some(Self {
            share: budget.pressure(actual_tokens(trigger, samples)),
            lane: Some(LaneTrigger { name: lane.name.to_owned(), tokens: trigger.tokens, call }),
            compaction: first_compaction(case, lane),
        })
    }

    /// Returns the trigger with its lane, such as `the trigger of truncate`; `the trigger` without a lane.
    pub fn name(&self) -> String {
        match &self.lane {
            Some(LaneTrigger { name, .. }) => format!("the trigger of {name}"),
            None => "the trigger".to_owned(),
        }
    }
}

/// Returns the first compaction by a lane's own policy.
fn first_compaction(case: &Case, lane: PlayedLane<'_>) -> Option<FirstCompaction> {
    let mut events = lane.outcome.events.iter();
    let first = events.find(|event| event.effect == Effect::Removed && !event.is_manual())?;
    let last = case.session.calls.len().saturating_sub(1);
    Some(FirstCompaction { lane: lane.name.to_owned(), call: first.call.min(last) })
}

/// The properties of a call that determine a trigger.
#[derive(Clone, Copy, PartialEq)]
struct Conditions {
    window: Tokens,
    model: Option<usize>,
}

/// Computes a lane's trigger by call, again only when the window or the model changes.
struct TriggerByCall<'a> {
    case: &'a Case,
    lane: PlayedLane<'a>,
    /// The latest result, with its conditions.
    latest: Option<(Conditions, Option<OwnTrigger>)>,
}

impl TriggerByCall<'_> {
    fn at(&mut self, call: usize) -> Option<OwnTrigger> {
        let calls = &self.case.session.calls;
        let conditions = Conditions {
            window: self.case.windows.at(call),
            model: calls.get(call).and_then(|call| call.model),
        };
        match self.latest {
            Some((known, trigger)) if known == conditions => trigger,
            _ => {
                let lane = self.lane;
                let trigger = lane.policy.trigger(lane.knobs, self.case, call);
                self.latest = Some((conditions, trigger));
                trigger
            }
        }
    }

    /// Returns the first call whose sample or event reaches the trigger. Manual edits do not count.
    fn first_call_that_reaches(&mut self) -> Option<usize> {
        let outcome = self.lane.outcome;
        let sample = outcome.samples.iter().find(|sample| {
            let trigger = self.at(sample.call);
            trigger.is_some_and(|trigger| trigger.is_reached(*sample))
        });
        let event = outcome.events.iter().find(|event| {
            let trigger = self.at(event.call);
            !event.is_manual() && trigger.is_some_and(|trigger| trigger.is_reached(*event))
        });
        let at_sample = sample.map(|sample| sample.call);
        let at_event = event.map(|event| event.call);
        at_sample.into_iter().chain(at_event).min()
    }
}

/// Converts a trigger in the policy's own count to actual tokens, using the sample with the nearest own count.
fn actual_tokens(trigger: OwnTrigger, samples: &[Sample]) -> Tokens {
    let nearest =
        samples.iter().min_by_key(|sample| trigger.count(*sample).0.abs_diff(trigger.tokens.0));
    nearest.map_or(trigger.tokens, |sample| sample.tokens + trigger.tokens - trigger.count(sample))
}

fn default_trigger(case: &Case, output_reserve: Tokens) -> Option<Trigger> {
    let policy = presets::by_name(DEFAULT_PRESET)?;
    let mut knobs = policy.defaults();
    let reserve = policy.knob_for(KnobRole::OutputReserve)?;
    policy.set(&mut knobs, &reserve.name, output_reserve.as_f64()).ok()?;
    let outcome = simulate(case, &policy, &knobs, None);
    let lane = PlayedLane { name: &policy.name, policy: &policy, knobs: &knobs, outcome: &outcome };
    Trigger::of_lane(case, output_reserve, lane)
}
