//! Results of the hindsight judge.

use super::answer::{JudgedAction, Support};
use crate::analysis::statistics::{ClusteredValue, Estimate, PairedScore, mean, paired_difference};
use serde::Serialize;

/// The judged actions after a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedPoint {
    /// By lane: its compaction, unique over all sessions.
    pub clusters: Vec<usize>,
    /// Judgements with the full context, by action.
    pub full: Vec<Option<JudgedAction>>,
    /// Judgements by lane, sample and action.
    pub lanes: Vec<Vec<Vec<Option<JudgedAction>>>>,
}

/// Results of the hindsight judge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgeOutcome {
    /// Number of points that were judged.
    pub points: usize,
    /// Number of points that are left out because the actions after them depend on the summary of a recorded compaction.
    pub left_out_after_recorded_compaction: usize,
    /// Number of points without a later action.
    pub without_actions: usize,
    /// Judgements with the full context.
    pub full_context: SupportCounts,
    /// Results by lane.
    pub lanes: Vec<JudgedLane>,
}

/// Result of a lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedLane {
    /// Name of the lane.
    pub lane: String,
    /// Share of actions that the context supports.
    pub supported: Estimate,
    /// Share of supported actions minus the share with the full context.
    pub difference_to_full: Estimate,
    /// Judgements.
    pub counts: SupportCounts,
}

/// Actions by judgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SupportCounts {
    /// Number of supported actions.
    pub supported: usize,
    /// Number of actions that rest on something missing.
    pub missing: usize,
    /// Number of these whose quote is not in the context.
    pub false_quotes: usize,
    /// Number of contradicted actions.
    pub contradicted: usize,
    /// Number of actions that were not judged.
    pub not_judged: usize,
}

impl SupportCounts {
    fn add(&mut self, judged: Option<JudgedAction>) {
        let Some(judged) = judged else {
            self.not_judged += 1;
            return;
        };
        self.false_quotes += usize::from(judged.has_false_quote);
        match judged.support {
            Support::Supported => self.supported += 1,
            Support::Missing => self.missing += 1,
            Support::Contradicted => self.contradicted += 1,
        }
    }

    fn of<'a>(all: impl Iterator<Item = &'a Option<JudgedAction>>) -> Self {
        let mut counts = Self::default();
        all.for_each(|judged| counts.add(*judged));
        counts
    }
}

fn is_supported(judged: JudgedAction) -> f64 {
    f64::from(judged.support == Support::Supported)
}

impl JudgeOutcome {
    /// Computes the results of lanes with these names; `left_out` and `without_actions` are numbers of further points.
    pub fn new(
        points: &[JudgedPoint],
        lanes: &[String],
        left_out: usize,
        without_actions: usize,
    ) -> Self {
        Self {
            points: points.len(),
            left_out_after_recorded_compaction: left_out,
            without_actions,
            full_context: SupportCounts::of(points.iter().flat_map(|point| &point.full)),
            lanes: lanes
                .iter()
                .enumerate()
                .map(|(lane, name)| judged_lane(points, lane, name))
                .collect(),
        }
    }
}

fn judged_lane(points: &[JudgedPoint], lane: usize, name: &str) -> JudgedLane {
    let mut pairs = Vec::new();
    let mut shares = Vec::new();
    for point in points {
        for (action, full) in point.full.iter().enumerate() {
            let samples = point.lanes[lane].iter().filter_map(|sample| *sample.get(action)?);
            let scores: Vec<f64> = samples.map(is_supported).collect();
            if scores.is_empty() {
                continue;
            }
            let (cluster, score) =
                (point.clusters[lane], scores.iter().sum::<f64>() / scores.len() as f64);
            shares.push(ClusteredValue { cluster, value: score });
            pairs.extend(full.map(|full| PairedScore {
                cluster,
                first: score,
                second: is_supported(full),
            }));
        }
    }
    JudgedLane {
        lane: name.to_owned(),
        supported: mean(&shares),
        difference_to_full: paired_difference(&pairs),
        counts: SupportCounts::of(
            points.iter().flat_map(|point| point.lanes[lane].iter().flatten()),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::statistics::Conclusion;

    const YES: Option<JudgedAction> =
        Some(JudgedAction { support: Support::Supported, has_false_quote: false });
    const NO: Option<JudgedAction> =
        Some(JudgedAction { support: Support::Missing, has_false_quote: true });

    #[test]
    fn a_lane_is_compared_with_the_full_context_action_by_action() {
        let point = |cluster| JudgedPoint {
            clusters: vec![cluster, cluster],
            full: vec![YES, YES, None],
            lanes: vec![vec![vec![YES, NO, NO], vec![YES, YES, None]], vec![vec![YES, YES, YES]]],
        };
        let points: Vec<_> = (0..12).map(point).collect();
        let names = ["a".to_owned(), "b".to_owned()];
        let outcome = JudgeOutcome::new(&points, &names, 2, 1);
        let [a, b] = &outcome.lanes[..] else {
            panic!("two lanes");
        };
        // (1 + 1/2 + 0) / 3, and (1 + 1/2) / 2 against 1.
        assert_eq!((a.supported.value, a.supported.n), (Some(0.5), 36));
        assert_eq!((a.difference_to_full.value, a.difference_to_full.n), (Some(-0.25), 24));
        assert_eq!(a.difference_to_full.conclusion, Conclusion::Below);
        assert_eq!((a.counts.missing, a.counts.false_quotes, a.counts.not_judged), (24, 24, 12));
        assert_eq!((b.supported.value, b.difference_to_full.value), (Some(1.0), Some(0.0)));
        assert_eq!((outcome.full_context.supported, outcome.full_context.not_judged), (24, 12));
        let nothing = JudgeOutcome::new(&[], &names, 0, 0);
        assert_eq!(nothing.lanes[0].supported.value, None);
    }
}
