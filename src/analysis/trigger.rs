//! The trigger that a session is compared with: that of the first lane that has one, in the lane's own count.

use crate::engine::{
    Budget, Case, Effect, KnobRole, KnobValues, Outcome, OwnTrigger, Policy, Sample, simulate,
};
use crate::presets;
use crate::units::{Share, Tokens};

/// The preset whose trigger is used where no lane has one.
const DEFAULT: &str = "truncate";
/// The trigger if that preset has none for the session.
const DEFAULT_SHARE: Share = Share(0.75);

/// The trigger that a session is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// Actual tokens at the trigger as a share of usable, by the call with the nearest own count.
    pub share: Share,
    /// The lane that has this trigger, if any.
    pub lane: Option<LaneTrigger>,
    /// The first compaction of that lane; if no lane has a trigger in tokens, of the first lane that compacts.
    pub compaction: Option<FirstCompaction>,
}

/// The trigger of a lane in tokens, and the call that reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneTrigger {
    /// Name of the lane.
    pub name: String,
    /// The trigger in tokens of the lane's own count: at the call that reaches it, else at the last.
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
        Self {
            share,
            lane: None,
            compaction: None,
        }
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
        let mut own = lanes.iter();
        if let Some(trigger) = own.find_map(|lane| Self::of_lane(case, output_reserve, *lane)) {
            return trigger;
        }
        let usual = default_trigger(case, output_reserve);
        Self {
            compaction: lanes.iter().find_map(|lane| first_compaction(case, *lane)),
            ..usual.unwrap_or_else(|| DEFAULT_SHARE.into())
        }
    }

    /// Returns the trigger of a lane, as a share of the window minus this reserve; none if no count of tokens makes
    /// its policy act.
    pub fn of_lane(case: &Case, output_reserve: Tokens, lane: PlayedLane<'_>) -> Option<Self> {
        let samples = &lane.outcome.samples;
        let mut triggers = Triggers {
            case,
            lane,
            last: None,
        };
        let at_samples = samples
            .iter()
            .find(|s| triggers.at(s.call).is_some_and(|t| t.is_reached(*s)));
        let at_samples = at_samples.map(|sample| sample.call);
        let at_events = lane.outcome.events.iter().find(|event| {
            let trigger = triggers.at(event.call);
            !event.is_manual() && trigger.is_some_and(|t| t.is_reached(*event))
        });
        let at_events = at_events.map(|event| event.call);
        let call = at_events.into_iter().chain(at_samples).min();
        let last = case.session.calls.len().saturating_sub(1);
        let shown = call.unwrap_or(last).min(last);
        let trigger = triggers.at(shown)?;
        let budget = Budget {
            window: case.windows.at(shown),
            output_reserve,
        };
        Some(Self {
            share: budget.pressure(true_tokens(trigger, samples)),
            lane: Some(LaneTrigger {
                name: lane.name.to_owned(),
                tokens: trigger.tokens,
                call,
            }),
            compaction: first_compaction(case, lane),
        })
    }

    /// Returns `the trigger`, or `the trigger of truncate`.
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
    Some(FirstCompaction {
        lane: lane.name.to_owned(),
        call: first.call.min(last),
    })
}

/// Context window and model of a call, which determine a trigger.
type Conditions = (Tokens, Option<usize>);

/// A lane's trigger by call, recomputed when the window or the model changes.
struct Triggers<'a> {
    case: &'a Case,
    lane: PlayedLane<'a>,
    last: Option<(Conditions, Option<OwnTrigger>)>,
}

impl Triggers<'_> {
    fn at(&mut self, call: usize) -> Option<OwnTrigger> {
        let model = self.case.session.calls.get(call).and_then(|s| s.model);
        let key = (self.case.windows.at(call), model);
        match self.last {
            Some((known, trigger)) if known == key => trigger,
            _ => {
                let lane = self.lane;
                let trigger = lane.policy.trigger(lane.knobs, self.case, call);
                self.last = Some((key, trigger));
                trigger
            }
        }
    }
}

/// Returns the actual tokens at a trigger, by the call with the nearest own count.
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
