//! Results of probes: the share that each lane retained, and the differences of lanes.

use super::answer::AnswerCounts;
use super::probe::Probe;
use super::scores::{LeftOut, ProbeAnswers, SCORING, count, score};
use super::templates::TEMPLATES;
use crate::analysis::statistics::{
    BaselinedScore, Estimate, PairedScore, effect_retained, effect_retained_value,
    paired_difference,
};
use serde::Serialize;
use std::collections::BTreeSet;

/// A probe with its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredProbe {
    /// The probe.
    pub probe: Probe,
    /// By lane: its compaction whose loss the probe measures, unique over all sessions.
    pub clusters: Vec<usize>,
    /// Answers.
    pub answers: ProbeAnswers,
}

/// Results of probes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeOutcome {
    /// Which probes are scored.
    pub selection: Selection,
    /// Answers without any context.
    pub no_context: AnswerCounts,
    /// Answers with the full context.
    pub full_context: AnswerCounts,
    /// Results by lane.
    pub lanes: Vec<LaneScore>,
    /// Differences of all pairs of lanes.
    pub differences: Vec<LaneDifference>,
}

/// Numbers of selected and left out probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Selection {
    /// Number of probes.
    pub probes: usize,
    /// Number of selected probes.
    pub selected: usize,
    /// Number of probes that are answered without any context.
    pub answered_without_context: usize,
    /// Number of probes that are not answered with the full context.
    pub missed_with_full_context: usize,
    /// Number of probes without an answer of a baseline.
    pub unanswered: usize,
}

/// Result of a lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneScore {
    /// Name of the lane.
    pub lane: String,
    /// Effect retained over the selected probes, (lane − none) / (full − none).
    pub retained: Estimate,
    /// Effect retained over all answered probes.
    pub retained_unselected: Estimate,
    /// Effect retained over the selected probes in each sample; null if it cannot be judged.
    pub retained_by_sample: Vec<Option<f64>>,
    /// Effect retained by template.
    pub templates: Vec<TemplateScore>,
    /// Answers.
    pub answers: AnswerCounts,
}

/// Result of a template in a lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TemplateScore {
    /// Name of the template.
    pub template: &'static str,
    /// Effect retained over the selected probes.
    pub retained: Estimate,
}

/// Difference of the mean scores of two lanes over the same selected probes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneDifference {
    /// Name of the first lane.
    pub first: String,
    /// Name of the second lane.
    pub second: String,
    /// Score of the first minus score of the second.
    pub difference: Estimate,
}

impl ProbeOutcome {
    /// Computes the results of lanes with these names.
    pub fn new(probes: &[AnsweredProbe], lanes: &[String]) -> Self {
        let mut selection = Selection { probes: probes.len(), ..Selection::default() };
        let mut selected = Vec::new();
        for probe in probes {
            match probe.answers.left_out() {
                None => selected.push(probe),
                Some(LeftOut::Unanswered) => selection.unanswered += 1,
                Some(LeftOut::AnsweredWithoutContext) => selection.answered_without_context += 1,
                Some(LeftOut::MissedWithFullContext) => selection.missed_with_full_context += 1,
            }
        }
        selection.selected = selected.len();
        let all: Vec<_> = probes.iter().collect();
        let results = lanes.iter().enumerate();
        let results = results.map(|(lane, name)| lane_score(lane, name, &selected, &all));
        Self {
            selection,
            no_context: count(probes.iter().flat_map(|probe| &probe.answers.none)),
            full_context: count(probes.iter().flat_map(|probe| &probe.answers.full)),
            lanes: results.collect(),
            differences: differences(&selected, lanes),
        }
    }
}

fn lane_score(
    lane: usize,
    name: &str,
    selected: &[&AnsweredProbe],
    all: &[&AnsweredProbe],
) -> LaneScore {
    let mean = |probe: &AnsweredProbe| probe.answers.lane(lane);
    let retained = |probes: &[&AnsweredProbe]| effect_retained(&baselined(lane, probes, mean));
    let samples = |probe: &AnsweredProbe| probe.answers.lanes.get(lane).map_or(0, Vec::len);
    let n_samples = all.iter().map(|probe| samples(probe)).max().unwrap_or(0);
    let by_sample = (0..n_samples).map(|sample| {
        let of_sample = |probe: &AnsweredProbe| score(*probe.answers.lanes[lane].get(sample)?);
        effect_retained_value(&baselined(lane, selected, of_sample))
    });
    let templates = TEMPLATES.iter().filter_map(|template| {
        let is_own = |probe: &&&AnsweredProbe| probe.probe.template == template.name;
        let own: Vec<_> = selected.iter().filter(is_own).copied().collect();
        (!own.is_empty())
            .then(|| TemplateScore { template: template.name, retained: retained(&own) })
    });
    LaneScore {
        lane: name.to_owned(),
        retained: retained(selected),
        retained_unselected: retained(all),
        retained_by_sample: by_sample.collect(),
        templates: templates.collect(),
        answers: count(all.iter().filter_map(|probe| probe.answers.lanes.get(lane)).flatten()),
    }
}

/// Returns the scores of the probes that have all three.
pub(super) fn baselined(
    lane: usize,
    probes: &[&AnsweredProbe],
    of_lane: impl Fn(&AnsweredProbe) -> Option<f64>,
) -> Vec<BaselinedScore> {
    let scores = probes.iter().filter_map(|probe| {
        Some(BaselinedScore {
            cluster: probe.clusters[lane],
            lane: of_lane(probe)?,
            none: score(probe.answers.none[SCORING])?,
            full: score(probe.answers.full[SCORING])?,
        })
    });
    scores.collect()
}

fn differences(selected: &[&AnsweredProbe], lanes: &[String]) -> Vec<LaneDifference> {
    let n_clusters = |lane: usize| {
        let clusters = selected.iter().map(|probe| probe.clusters[lane]);
        clusters.collect::<BTreeSet<_>>().len()
    };
    let mut differences = Vec::new();
    for first in 0..lanes.len() {
        for second in first + 1..lanes.len() {
            // The coarser clusters, since pairs of one compaction of either lane depend on each other.
            let coarser = if n_clusters(second) < n_clusters(first) { second } else { first };
            let pairs = selected.iter().filter_map(|probe| {
                Some(PairedScore {
                    cluster: probe.clusters[coarser],
                    first: probe.answers.lane(first)?,
                    second: probe.answers.lane(second)?,
                })
            });
            differences.push(LaneDifference {
                first: lanes[first].clone(),
                second: lanes[second].clone(),
                difference: paired_difference(&pairs.collect::<Vec<_>>()),
            });
        }
    }
    differences
}
