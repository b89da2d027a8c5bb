//! What the tab Tune tries, without a window: which lanes, which of their knobs, how many settings, what is preferred.

use crate::analysis::tune::{Axis, Subject};
use crate::app::runs::Runs;
use crate::engine::{Knob, Policy};
use std::collections::{BTreeMap, BTreeSet};

/// What is tried, and what is looked at of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneView {
    /// Indices of lanes that are left out.
    pub skipped: BTreeSet<usize>,
    /// Whether a knob varies, by the names of its policy and its own; else the usual ones do.
    pub knobs: BTreeMap<(String, String), bool>,
    /// Settings in all.
    pub points: usize,
    /// What is preferred: 0 is cost alone, 1 is the fewest references at risk alone.
    pub weight: f64,
    /// The setting under the pointer, by its index.
    pub hovered: Option<usize>,
    /// The lane of hindsight is drawn on the timeline.
    pub shows_hindsight: bool,
}

/// How many settings may be tried.
pub const POINTS: [usize; 4] = [100, 300, 1_000, 3_000];

impl Default for TuneView {
    fn default() -> Self {
        Self {
            skipped: BTreeSet::new(),
            knobs: BTreeMap::new(),
            points: 300,
            weight: 0.5,
            hovered: None,
            shows_hindsight: false,
        }
    }
}

impl TuneView {
    /// Of each knob of a policy, in order, whether it varies.
    pub fn varying(&self, policy: &Policy) -> Vec<bool> {
        let usual = Axis::usual(policy);
        let varies = |knob: &Knob| {
            let key = (policy.name.clone(), knob.name.clone());
            let chosen = self.knobs.get(&key).copied();
            chosen.unwrap_or_else(|| usual.iter().any(|axis| axis.knob == knob.name))
        };
        policy.knobs.iter().map(varies).collect()
    }

    /// The lanes that are tried, by their indices, with their policies and what varies of them.
    pub fn subjects(&self, runs: &Runs) -> (Vec<usize>, Vec<Subject>) {
        let lanes = (0..runs.lanes.len()).filter(|lane| !self.skipped.contains(lane));
        // What manages nothing has nothing to vary.
        let lanes = lanes.filter(|lane| !runs.lanes[*lane].policy.stages.is_empty());
        let subject = |lane: usize| {
            let run = &runs.lanes[lane];
            let varying = run.policy.knobs.iter().zip(self.varying(&run.policy));
            let varying = varying.filter(|(_, varies)| *varies).map(|(knob, _)| knob);
            Subject {
                lane: runs.labels[lane].clone(),
                policy: (*run.policy).clone(),
                now: run.knobs.clone(),
                axes: varying.map(Axis::of).collect(),
            }
        };
        lanes.map(|lane| (lane, subject(lane))).unzip()
    }
}
