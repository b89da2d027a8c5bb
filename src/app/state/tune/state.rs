//! State of the tab Tune: lanes, settings and sweep size. Independent of the UI.

use crate::analysis::tune::{Axis, SweepSubject};
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::model::view::View;
use crate::engine::{Knob, Policy};
use std::collections::{BTreeMap, BTreeSet};

/// State of the tab Tune.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneView {
    /// Labels of excluded lanes.
    pub skipped: BTreeSet<String>,
    /// Whether a knob varies, by policy and knob name; a missing entry means the default.
    pub knobs: BTreeMap<(String, String), bool>,
    /// Number of settings to try.
    pub points: usize,
    /// Index of the setting under the pointer.
    pub hovered: Option<usize>,
}

/// Available sweep sizes.
pub const POINTS: [usize; 4] = [100, 300, 1_000, 3_000];

impl Default for TuneView {
    fn default() -> Self {
        Self { skipped: BTreeSet::new(), knobs: BTreeMap::new(), points: 300, hovered: None }
    }
}

impl TuneView {
    /// Returns whether each knob of a policy varies.
    pub fn varying(&self, policy: &Policy) -> Vec<bool> {
        let usual = Axis::usual(policy);
        let varies = |knob: &Knob| {
            let key = (policy.name.clone(), knob.name.clone());
            let chosen = self.knobs.get(&key).copied();
            chosen.unwrap_or_else(|| usual.iter().any(|axis| axis.knob == knob.name))
        };
        policy.knobs.iter().map(varies).collect()
    }

    /// Returns the indices of the lanes in the sweep, and the policy and varying knobs of each.
    pub fn subjects(&self, runs: &Runs) -> (Vec<usize>, Vec<SweepSubject>) {
        let lanes =
            (0..runs.lanes.len()).filter(|lane| !self.skipped.contains(&runs.labels[*lane]));
        // A lane without management has no settings.
        let lanes = lanes.filter(|lane| !runs.lanes[*lane].policy.stages.is_empty());
        let subject = |lane: usize| {
            let run = &runs.lanes[lane];
            let varying = run.policy.knobs.iter().zip(self.varying(&run.policy));
            let varying = varying.filter(|(_, varies)| *varies).map(|(knob, _)| knob);
            SweepSubject {
                lane: runs.labels[lane].clone(),
                policy: (*run.policy).clone(),
                now: run.knobs.clone(),
                axes: varying.map(Axis::of).collect(),
            }
        };
        lanes.map(|lane| (lane, subject(lane))).unzip()
    }
}

impl View {
    /// Returns the view settings of the tab Tune.
    pub fn tune(&self) -> &TuneView {
        self.get()
    }

    /// Returns the view settings of the tab Tune, to change them.
    pub fn tune_mut(&mut self) -> &mut TuneView {
        self.get_mut()
    }
}
