//! Scores between the no-context and the full-context baseline, and differences between lanes.

use super::Estimate;
use super::bootstrap::estimate;

/// Scores of one probe: 0 is wrong, 1 is right, the mean over orders and samples is between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaselinedScore {
    /// The cluster: probes of one compaction belong together.
    pub cluster: usize,
    /// Score with the context of the lane.
    pub lane: f64,
    /// Score of the no-context baseline.
    pub none: f64,
    /// Score of the full-context baseline.
    pub full: f64,
}

/// Scores of one probe in two lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedScore {
    /// The cluster: probes of one compaction belong together.
    pub cluster: usize,
    /// Score in the first lane.
    pub first: f64,
    /// Score in the second lane.
    pub second: f64,
}

/// Estimates the effect retained, (lane − none) / (full − none), over the sums of all probes. It cannot be judged if
/// the context does not raise the score.
pub fn effect_retained(scores: &[BaselinedScore]) -> Estimate {
    let rows: Vec<_> = scores.iter().map(|s| (s.cluster, s.effects())).collect();
    estimate(&rows, share)
}

/// Returns the effect retained without an interval.
pub fn effect_retained_value(scores: &[BaselinedScore]) -> Option<f64> {
    let sums = scores.iter().map(BaselinedScore::effects);
    share(sums.fold([0.0; 2], |[a, b], [kept, whole]| [a + kept, b + whole]))
}

impl BaselinedScore {
    /// Returns what the lane's context and the full context add.
    fn effects(&self) -> [f64; 2] {
        [self.lane - self.none, self.full - self.none]
    }
}

fn share([kept, whole]: [f64; 2]) -> Option<f64> {
    (whole > 0.0).then(|| kept / whole)
}

/// Estimates the mean difference of two lanes over the same probes: first minus second.
pub fn paired_difference(scores: &[PairedScore]) -> Estimate {
    let differences = scores
        .iter()
        .map(|score| ClusteredValue { cluster: score.cluster, value: score.first - score.second });
    mean(&differences.collect::<Vec<_>>())
}

/// A value of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusteredValue {
    /// Number of the item's cluster.
    pub cluster: usize,
    /// The value.
    pub value: f64,
}

/// Estimates a mean of values.
pub fn mean(values: &[ClusteredValue]) -> Estimate {
    let rows = values.iter().map(|v| (v.cluster, [v.value, 1.0]));
    let rows: Vec<_> = rows.collect();
    estimate(&rows, |[sum, n]| Some(sum / n))
}

/// Estimates the difference of two means over different items of the same clusters: first minus second. It cannot be
/// judged if one of them has no item.
pub fn difference_of_means(first: &[ClusteredValue], second: &[ClusteredValue]) -> Estimate {
    let first = first.iter();
    let first = first.map(|v| (v.cluster, [v.value, 1.0, 0.0, 0.0]));
    let second = second.iter();
    let second = second.map(|v| (v.cluster, [0.0, 0.0, v.value, 1.0]));
    let rows: Vec<_> = first.chain(second).collect();
    estimate(&rows, |[a, n_a, b, n_b]| (n_a > 0.0 && n_b > 0.0).then(|| a / n_a - b / n_b))
}

/// A ratio with its sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Sum, or share, above the line.
    pub above: f64,
    /// Sum, or share, below the line.
    pub below: f64,
    /// The ratio with its interval.
    pub estimate: Estimate,
}

/// Estimates a ratio over clusters: of sums (`[a, b]`), or of the shares `a / n_a` and `b / n_b` of different items.
/// A row has the cluster and `[a, n_a, b, n_b]`.
pub fn estimate_ratio(rows: &[(usize, [f64; 4])], of_shares: bool) -> Ratio {
    let sides = move |[a, n_a, b, n_b]: [f64; 4]| {
        if of_shares { [a / n_a, b / n_b] } else { [a, b] }
    };
    let mut sums = [0.0; 4];
    for (_, row) in rows {
        sums.iter_mut().zip(row).for_each(|(sum, own)| *sum += own);
    }
    let [above, below] = sides(sums);
    Ratio {
        above,
        below,
        estimate: estimate(rows, move |sums| {
            let [above, below] = sides(sums);
            (below > 0.0).then(|| above / below)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Conclusion;
    use super::*;

    fn probe(cluster: usize, lane: f64, none: f64, full: f64) -> BaselinedScore {
        BaselinedScore { cluster, lane, none, full }
    }

    #[test]
    fn the_effect_retained_is_between_the_baselines() {
        let scores: Vec<_> =
            (0..40).map(|n| probe(n / 2, f64::from(n % 2 == 0), 0.0, 1.0)).collect();
        let estimate = effect_retained(&scores);
        assert_eq!((estimate.value, estimate.n, estimate.clusters), (Some(0.5), 40, 20));
        let scaled: Vec<_> = (0..40).map(|n| probe(n, 0.7, 0.5, 0.9)).collect();
        assert!((effect_retained(&scaled).value.unwrap() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_context_without_effect_cannot_be_judged() {
        let scores: Vec<_> = (0..40).map(|n| probe(n, 0.5, 0.5, 0.5)).collect();
        let estimate = effect_retained(&scores);
        assert_eq!((estimate.value, estimate.interval), (None, None));
        assert_eq!(effect_retained(&[]).value, None);
    }

    #[test]
    fn means_of_different_items_are_compared_by_cluster() {
        let item =
            |cluster: usize, is_one: bool| ClusteredValue { cluster, value: f64::from(is_one) };
        let often: Vec<_> = (0..40).map(|n| item(n / 2, n % 4 < 3)).collect();
        let seldom: Vec<_> = (0..20).map(|n| item(n, n % 4 < 1)).collect();
        let difference = difference_of_means(&often, &seldom);
        assert_eq!((difference.value, difference.clusters), (Some(0.5), 20));
        assert_eq!(difference.conclusion, Conclusion::Above);
        assert_eq!(difference_of_means(&often, &[]).value, None);
    }

    #[test]
    fn lanes_differ_only_if_the_interval_excludes_zero() {
        let pair = |cluster, first, second| PairedScore { cluster, first, second };
        let equal: Vec<_> =
            (0..40).map(|n| pair(n, f64::from(n % 2 == 0), f64::from(n % 4 < 2))).collect();
        assert_eq!(paired_difference(&equal).conclusion, Conclusion::Inconclusive);
        let better: Vec<_> = (0..40).map(|n| pair(n, 1.0, f64::from(n % 2 == 0))).collect();
        assert_eq!(paired_difference(&better).conclusion, Conclusion::Above);
        let few = paired_difference(&better[..7]);
        assert_eq!(few.conclusion, Conclusion::TooFewCompactions);
        let worse: Vec<_> = better.iter().map(|p| pair(p.cluster, p.second, p.first)).collect();
        assert_eq!(paired_difference(&worse).conclusion, Conclusion::Below);
    }
}
