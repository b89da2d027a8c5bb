//! The sessions, policies and tier of an evaluation.

use crate::analysis::facts::{Fact, Facts};
use crate::analysis::next_action::MIN_SAMPLES;
use crate::engine::{Case, KnobValues, ManualEdits, Policy};
use crate::presets;
use crate::session::Session;

/// Usual number of plays of each policy. Repeated summaries of one policy can differ more than policies do: in the
/// published runs of `lost-in-compaction`, one strategy kept 2.6 to 35.9 % at temperature 0. Requests and price are
/// proportional to it.
pub const SAMPLES: usize = 5;
/// Most points of a session at which questions are asked. Further compactions are left out evenly. Chosen: twice as
/// many points cost twice as much and make intervals 30 % narrower.
const MAX_POINTS: usize = 40;
/// Most probes of a point. Chosen: probes of one point depend on each other, so more points are worth more than more
/// probes. With ten, the assumed correlation already nearly doubles the needed number of pairs.
const MAX_PROBES: usize = 10;

/// Task of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Forced-choice questions about facts.
    Probes,
    /// Finding the content that the next recorded actions rely on.
    Judge,
    /// The next action.
    NextAction,
    /// None: planted facts are followed through successive compactions.
    Planted(Planting),
}

/// Number of canaries and of compactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planting {
    /// Number of facts planted into each session.
    pub canaries: usize,
    /// Number of successive compactions.
    pub rounds: usize,
}

/// An evaluation to run.
#[derive(Clone, Debug)]
pub struct EvaluationJob {
    /// The tier.
    pub tier: Tier,
    /// The sessions.
    pub sessions: Vec<EvaluatedSession>,
    /// The policies.
    pub lanes: Vec<EvaluatedLane>,
    /// Number of times that each lane is played with new summaries.
    pub samples: usize,
    /// Most points of a session at which questions are asked.
    pub max_points: usize,
    /// Most probes of a point.
    pub max_probes: usize,
}

/// A session to evaluate.
#[derive(Clone, Debug)]
pub struct EvaluatedSession {
    /// The session.
    pub case: Case,
    /// Its facts.
    pub facts: Vec<Fact>,
}

/// A policy to evaluate.
#[derive(Clone, Debug)]
pub struct EvaluatedLane {
    /// Name of the lane.
    pub name: String,
    /// Policy.
    pub policy: Policy,
    /// Settings of the policy.
    pub knobs: KnobValues,
    /// Whether the user's pins apply.
    has_pins: bool,
    /// The recorded run, whose contexts come from the file, instead of a policy.
    pub(super) is_recorded: bool,
}

/// Name of the lane of the recorded run.
pub const RECORDED: &str = "recorded";

impl EvaluatedSession {
    /// Finds the facts of a session.
    pub fn new(case: Case) -> Self {
        let facts = Facts::new(&case.session).all().to_vec();
        Self { case, facts }
    }
}

impl EvaluationJob {
    /// Creates a job with the usual limits. If the user pinned messages, each lane is played with the pins as well,
    /// except with planted facts, which are followed without manual edits. [`Tier::Probes`] adds the lane `recorded` if
    /// a call follows a recorded compaction. [`Tier::NextAction`] plays each lane at least [`MIN_SAMPLES`] times.
    pub fn new(
        tier: Tier,
        sessions: Vec<EvaluatedSession>,
        lanes: Vec<EvaluatedLane>,
        samples: usize,
    ) -> Self {
        let mut cases = sessions.iter().map(|session| &session.case);
        let has_pins = !matches!(tier, Tier::Planted(_))
            && cases.any(|case| !case.manual_edits.pinned.is_empty());
        let mut lanes = if has_pins { with_pins(lanes) } else { lanes };
        let mut all = sessions.iter().map(|session| &session.case.session);
        // Other tiers measure every lane at every point. The recorded run can be measured at its own compactions only.
        if tier == Tier::Probes && all.any(|session| has_measurable_compaction(session)) {
            lanes.extend(EvaluatedLane::recorded());
        }
        Self {
            tier,
            lanes,
            sessions,
            samples: match tier {
                Tier::Probes | Tier::Judge | Tier::Planted(_) => samples,
                Tier::NextAction => samples.max(MIN_SAMPLES),
            },
            max_points: MAX_POINTS,
            max_probes: MAX_PROBES,
        }
    }

    /// Leaves out the lane of the recorded run.
    pub fn remove_recorded_lane(&mut self) {
        self.lanes.retain(|lane| !lane.is_recorded);
    }

    /// Returns the number of samples of a lane. A recorded run has one.
    pub(super) fn n_samples(&self, lane: &EvaluatedLane) -> usize {
        if lane.is_recorded { 1 } else { self.samples }
    }

    /// Returns the names of the lanes.
    pub fn lane_names(&self) -> Vec<String> {
        self.lanes.iter().map(|lane| lane.name.clone()).collect()
    }
}

/// Returns whether a call follows a recorded compaction of a session.
pub fn has_measurable_compaction(session: &Session) -> bool {
    let n_calls = session.calls.len();
    session.compactions.iter().any(|c| c.call < n_calls)
}

/// Adds to each lane one with the user's pins.
fn with_pins(lanes: Vec<EvaluatedLane>) -> Vec<EvaluatedLane> {
    let both = lanes.into_iter().flat_map(|lane| {
        let pinned =
            EvaluatedLane { name: format!("{} + pins", lane.name), has_pins: true, ..lane.clone() };
        [lane, pinned]
    });
    both.collect()
}

impl EvaluatedLane {
    /// Creates a lane without pins.
    pub fn new(name: impl Into<String>, policy: Policy, knobs: KnobValues) -> Self {
        Self { name: name.into(), policy, knobs, has_pins: false, is_recorded: false }
    }

    /// Creates the lane of the recorded run.
    fn recorded() -> Option<Self> {
        let none = presets::by_name("none")?;
        let knobs = none.defaults();
        Some(Self { is_recorded: true, ..Self::new(RECORDED, none, knobs) })
    }

    /// Returns the session as this lane plays it: with the user's pins or without any manual edits.
    pub(super) fn case(&self, case: &Case) -> Case {
        let pinned = if self.has_pins { case.manual_edits.pinned.clone() } else { Vec::new() };
        case.with_manual_edits(ManualEdits { pinned, ..ManualEdits::default() })
    }
}
