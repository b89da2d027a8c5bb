//! All replays for one config: every lane, the recorded lane, and the verdict.

use crate::analysis::attribution::{Selector, Sources, without};
use crate::analysis::{Finding, PlayedLane, Trigger, Verdict, findings, verdict};
use crate::app::state::model::config::{Config, numbered};
use crate::app::state::model::document::Document;
use crate::app::state::model::knobs::KnobSettings;
use crate::app::state::model::runs::own_count::OwnCount;
use crate::app::state::model::selection::{EventId, Selection};
use crate::app::state::model::{knobs, policies};
use crate::engine::{
    Budget, Case, Effect, Event, Hook, Knob, KnobRole, KnobValues, Outcome, Peak, Policy, Stage,
    recorded, simulate,
};
use crate::presets::models;
use crate::tokens::TokenLedger;
use crate::units::{Share, Tokens};
use rayon::prelude::*;
use std::sync::Arc;

/// The policy and the result of one lane.
#[derive(Debug)]
pub struct LaneRun {
    /// The policy.
    pub policy: Arc<Policy>,
    /// Its settings.
    pub knobs: KnobValues,
    /// Result of the run.
    pub outcome: Outcome,
    /// Calls with a compaction, without manual edits, ascending.
    pub compactions: Vec<usize>,
    /// Calls with an event that changed nothing, ascending.
    pub no_ops: Vec<usize>,
    /// The first call of each run of calls at which the system would have stopped.
    pub halts: Vec<usize>,
    /// The largest context, including the one at the end.
    pub peak: Option<Peak>,
    /// Total tokens of all calls.
    pub sent: Tokens,
    /// The policy's own count differs visibly from the actual one.
    pub counts_otherwise: bool,
    /// Its calls by own count.
    pub own_count: OwnCount,
    /// Problems of the run, worst first.
    pub findings: Vec<Finding>,
}

impl LaneRun {
    fn new(policy: Arc<Policy>, knobs: KnobValues, mut outcome: Outcome) -> Self {
        outcome.shrink_to_fit();
        let with = |effect: Effect| outcome.events.iter().filter(move |e| e.effect == effect);
        Self {
            policy,
            knobs,
            compactions: with(Effect::Removed)
                .filter(|event| !event.is_manual())
                .map(|event| event.call)
                .collect(),
            no_ops: with(Effect::Nothing).map(|e| e.call).collect(),
            halts: halt_runs(&outcome),
            peak: outcome.peak(),
            sent: outcome.tokens_sent(),
            counts_otherwise: counts_otherwise(&outcome),
            own_count: OwnCount::new(&outcome.samples),
            findings: Vec::new(),
            outcome,
        }
    }

    /// Returns believed and actual fill at a call, if the policy reports its belief.
    pub fn believed_fill(&self, call: usize) -> Option<(Share, Share)> {
        let sample = self.outcome.samples.get(call)?;
        Some((sample.believed?, sample.pressure))
    }
}

/// Returns the first call of each run of consecutive halts.
fn halt_runs(outcome: &Outcome) -> Vec<usize> {
    let mut last = None;
    let mut first = Vec::new();
    for halt in &outcome.halts {
        if last.is_none_or(|last| halt.call > last + 1) {
            first.push(halt.call);
        }
        last = Some(halt.call);
    }
    first
}

/// Returns whether the policy's own count differs visibly from the actual one.
fn counts_otherwise(outcome: &Outcome) -> bool {
    outcome.samples.iter().any(|sample| {
        let (metered, tokens) = (sample.metered.0, sample.tokens.0);
        metered.abs_diff(tokens) * 100 > tokens
    })
}

/// Returns whether a policy acts on a restart.
pub fn resumes(policy: &Policy) -> bool {
    policy.stages.iter().any(|stage| stage.at == Hook::Resume)
}

/// Returns whether a policy reads the text of provider errors.
pub fn reads_errors(policy: &Policy) -> bool {
    let reads = |stage: &Stage| stage.at == Hook::OverflowError && stage.action.reads_errors();
    policy.stages.iter().any(reads)
}

/// All runs for one config.
#[derive(Debug)]
pub struct Runs {
    /// ID of the document.
    pub document: u64,
    /// The config.
    pub config: Config,
    /// The session with token counts of the selected tokenizer and the selected context window. `document.loaded.case`
    /// has those that were loaded.
    pub case: Case,
    /// Token counts of the session with all sources.
    pub counted: Arc<TokenLedger>,
    /// One entry per lane.
    pub lanes: Vec<Arc<LaneRun>>,
    /// Unique display names of the lanes: `Truncate`, `Truncate 2`.
    pub labels: Vec<String>,
    /// All events in call order, those of the recorded lane first.
    pub events: Vec<EventId>,
    /// The recorded lane.
    pub recorded: Arc<LaneRun>,
    /// The result in one sentence.
    pub verdict: Verdict,
    /// Output reserve of the recorded lane.
    pub output_reserve: Tokens,
    /// The trigger that the verdict compares the session with.
    pub trigger: Trigger,
}

impl Runs {
    /// Returns the lane with this index, or the recorded one.
    pub fn lane(&self, lane: Option<usize>) -> Option<&LaneRun> {
        match lane {
            Some(lane) => self.lanes.get(lane).map(Arc::as_ref),
            None => Some(&self.recorded),
        }
    }

    /// Returns an event and its run.
    pub fn event(&self, id: EventId) -> Option<(&LaneRun, &Event)> {
        let run = self.lane(id.lane)?;
        Some((run, run.outcome.events.get(id.index)?))
    }

    /// Returns the name of a lane, or of the recorded one.
    pub fn label(&self, lane: Option<usize>) -> &str {
        let label = lane.and_then(|lane| self.labels.get(lane));
        label.map_or("Recorded", String::as_str)
    }

    /// Returns the focused lane, else the recorded one.
    pub fn focused(&self, selection: &Selection) -> &LaneRun {
        self.lane(selection.lane).unwrap_or(&self.recorded)
    }

    /// Returns the lane whose thresholds are drawn: the focused one if its policy is active, else the first with a
    /// trigger.
    pub fn threshold_lane(&self, selection: &Selection) -> &LaneRun {
        let has_trigger =
            |lane: &LaneRun| lane.policy.knob_for(KnobRole::CompressionTrigger).is_some();
        let focused = self.focused(selection);
        if !focused.policy.stages.is_empty() {
            return focused;
        }
        self.lanes.iter().map(Arc::as_ref).find(|lane| has_trigger(lane)).unwrap_or(focused)
    }

    /// Returns window and output reserve of a policy at a call.
    pub fn budget(&self, policy: &Policy, values: &KnobValues, call: usize) -> Budget {
        Budget {
            window: self.case.windows.at(call),
            output_reserve: policy.output_reserve(values, &self.case, call),
        }
    }
}

/// Plays all lanes. Takes the results of unchanged lanes from the runs `before`.
pub(crate) fn run_all(
    document: &Document,
    config: Config,
    ledger: Arc<TokenLedger>,
    policies: Vec<Arc<Policy>>,
    before: Option<&Runs>,
) -> Runs {
    let loaded = &document.loaded.case;
    let windows = match before.filter(|b| b.config.window == config.window) {
        Some(runs) => Arc::clone(&runs.case.windows),
        // As loaded, including a window from the command line.
        None if config.window.is_none() => Arc::clone(&loaded.windows),
        None => Arc::new(models::window_plan(&loaded.session, config.window)),
    };
    let same_count =
        before.filter(|b| Arc::ptr_eq(&b.counted, &ledger) && b.config.without == config.without);
    let base = match same_count {
        Some(before) => before.case.clone(),
        None => sent(loaded.with_ledger(Arc::clone(&ledger)), &config),
    };
    let case = base.with_windows(windows);
    let case = case.with_restarts(&config.restarts).with_errors(&config.errors);
    let case = if case.manual_edits == config.manual_edits {
        case
    } else {
        case.with_manual_edits((*config.manual_edits).clone())
    };
    let is_same_case = before.is_some_and(|b| {
        Arc::ptr_eq(&b.case.ledger, &case.ledger) && Arc::ptr_eq(&b.case.windows, &case.windows)
    });
    let before = before.filter(|_| is_same_case);
    let lanes: Vec<_> = policies
        .into_par_iter()
        .enumerate()
        .map(|(lane, policy)| run(&case, policy, config.lane_settings(lane), before))
        .collect();
    let labels = numbered(lanes.iter().map(|lane| lane.policy.label.as_str()));
    let reserve = shared_reserve(&config, &case);
    let policy = as_recorded(reserve);
    let recorded =
        LaneRun::new(Arc::new(policy.clone()), policy.defaults(), recorded(&case, reserve, None));
    let played = lanes.iter().zip(&labels).map(|(run, label)| PlayedLane {
        name: label,
        policy: &run.policy,
        knobs: &run.knobs,
        outcome: &run.outcome,
    });
    let trigger = Trigger::of_lanes(&case, reserve, played);
    let verdict = verdict(&case, &recorded.outcome, reserve, &trigger);
    Runs {
        document: document.id,
        config,
        counted: ledger,
        case,
        labels,
        events: events(&lanes, &recorded),
        lanes,
        recorded: Arc::new(recorded),
        verdict,
        output_reserve: reserve,
        trigger,
    }
}

/// Returns the session without the sources that are switched off, as far as it has them.
fn sent(case: Case, config: &Config) -> Case {
    if config.without.is_empty() {
        return case;
    }
    let all = Sources::new(&case).all;
    let has = |selector: &&Selector| all.iter().any(|source| selector.matches(source));
    let selectors: Vec<Selector> = config.without.iter().filter(has).cloned().collect();
    without(&case, &selectors).map_or(case, |less| less.case)
}

fn run(
    case: &Case,
    policy: Arc<Policy>,
    settings: &KnobSettings,
    before: Option<&Runs>,
) -> Arc<LaneRun> {
    let knobs = knobs::values(&policy, settings);
    let same = before.and_then(|b| {
        let is_other = b.case.errors != case.errors
            || b.case.manual_edits != case.manual_edits
            || (resumes(&policy) && b.case.restarts != case.restarts);
        if is_other {
            return None;
        }
        b.lanes.iter().find(|lane| Arc::ptr_eq(&lane.policy, &policy) && lane.knobs == knobs)
    });
    if let Some(lane) = same {
        return Arc::clone(lane);
    }
    let outcome = simulate(case, &policy, &knobs, None);
    let findings = findings(case, &policy, &knobs, &outcome);
    Arc::new(LaneRun { findings, ..LaneRun::new(policy, knobs, outcome) })
}

fn events(lanes: &[Arc<LaneRun>], recorded: &LaneRun) -> Vec<EventId> {
    let of = |lane, run: &LaneRun| {
        let events = run.outcome.events.iter().enumerate();
        events.map(|(index, event)| (event.call, lane, index)).collect::<Vec<_>>()
    };
    let mut all = of(None, recorded);
    all.extend((0..).zip(lanes).flat_map(|(lane, run)| of(Some(lane), run)));
    all.sort_unstable();
    all.into_iter().map(|(_, lane, index)| EventId { lane, index }).collect()
}

/// Returns the output reserve of the recorded lane and of the lane without compaction, by the shared setting.
pub(crate) fn shared_reserve(config: &Config, case: &Case) -> Tokens {
    let none = policies::bundled_none();
    none.output_reserve(&knobs::values(&none, &config.knobs), case, 0)
}

/// Returns a policy for the recorded lane; its only setting is the output reserve.
fn as_recorded(reserve: Tokens) -> Policy {
    let reserve = Knob {
        name: "output_reserve".to_owned(),
        role: Some(KnobRole::OutputReserve),
        value: reserve.as_f64(),
        range: [0.0, reserve.as_f64()],
        step: 1.0,
        unit: "tokens".to_owned(),
        help: String::new(),
        key: None,
        scale: 1.0,
        is_assumed: false,
        is_offered: true,
        sensible: None,
        ignored: None,
        unset: None,
        choices: Vec::new(),
    };
    let help = "The recorded session: compactions in the file and tokens reported by the provider."
        .to_owned();
    Policy {
        name: "recorded".to_owned(),
        label: "Recorded".to_owned(),
        help,
        knobs: vec![reserve],
        ..policies::none()
    }
}
