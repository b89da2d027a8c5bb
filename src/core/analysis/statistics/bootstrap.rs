//! Bootstrap of whole clusters.

use super::generator::Generator;
use super::{Estimate, Interval};
use std::collections::BTreeMap;

/// Number of resamples. The share outside one end of the interval then has a standard error of 0.16 points around 2.5
/// %; with 1,000 it would be 0.5 points, and the word *inconclusive* could depend on the seed.
const RESAMPLES: usize = 10_000;
/// Seed of every bootstrap. Any number: the same answers have to give the same interval.
const SEED: u64 = 0x506c_696d_736f_6c6c;
/// Share of the resamples outside the interval on each side.
const TAIL: f64 = 0.025;

/// A cluster and the values of one pair.
pub(super) type ClusterRow<const N: usize> = (usize, [f64; N]);

/// Estimates a statistic of sums. `statistic` returns `None` if the sums do not define it.
pub(super) fn estimate<const N: usize>(
    rows: &[ClusterRow<N>],
    statistic: impl Fn([f64; N]) -> Option<f64>,
) -> Estimate {
    let clusters = sums_by_cluster(rows);
    let mut total = [0.0; N];
    for cluster in &clusters {
        add(&mut total, cluster);
    }
    let value = (!rows.is_empty()).then(|| statistic(total)).flatten();
    let interval = value.and_then(|_| interval(&clusters, statistic));
    Estimate::new(value, interval, rows.len(), clusters.len())
}

fn sums_by_cluster<const N: usize>(rows: &[ClusterRow<N>]) -> Vec<[f64; N]> {
    let mut sums: BTreeMap<usize, [f64; N]> = BTreeMap::new();
    for (cluster, values) in rows {
        add(sums.entry(*cluster).or_insert([0.0; N]), values);
    }
    sums.into_values().collect()
}

fn add<const N: usize>(sum: &mut [f64; N], values: &[f64; N]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += value;
    }
}

/// Returns the percentile interval. Resamples without a value count as outside on both sides, so that the interval is
/// unknown if there are many. One cluster has no interval.
fn interval<const N: usize>(
    clusters: &[[f64; N]],
    statistic: impl Fn([f64; N]) -> Option<f64>,
) -> Option<Interval> {
    if clusters.len() < 2 {
        return None;
    }
    let mut generator = Generator::new(SEED);
    let mut drawn = vec![0; clusters.len()];
    let resample = |_| {
        for idx in &mut drawn {
            *idx = generator.index(clusters.len());
        }
        let mut total = [0.0; N];
        for (n, sum) in total.iter_mut().enumerate() {
            for idx in &drawn {
                *sum += clusters[*idx][n];
            }
        }
        statistic(total)
    };
    let mut values: Vec<f64> = (0..RESAMPLES).filter_map(resample).collect();
    let tail = (RESAMPLES as f64 * TAIL) as usize;
    // Resamples without a value use up the tails first. If they are more, an end of the interval is unknown.
    let inside = tail.checked_sub(RESAMPLES - values.len())?;
    let outside = values.len().checked_sub(inside + 1)?;
    let mut nth = |n| *values.select_nth_unstable_by(n, f64::total_cmp).1;
    Some(Interval { low: nth(inside), high: nth(outside) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(rows: &[ClusterRow<2>]) -> Estimate {
        estimate(rows, |[sum, n]| Some(sum / n))
    }

    #[test]
    fn pairs_of_one_cluster_add_no_certainty() {
        let value = |cluster: usize| f64::from(cluster.is_multiple_of(2));
        let single: Vec<ClusterRow<2>> = (0..20).map(|c| (c, [value(c), 1.0])).collect();
        let repeated: Vec<_> = single.iter().copied().cycle().take(200).collect();
        let independent: Vec<_> = (0..200).map(|c| (c, [value(c), 1.0])).collect();
        let width = |rows: &[ClusterRow<2>]| {
            let interval = mean(rows).interval.unwrap();
            interval.high - interval.low
        };
        assert_eq!(width(&single), width(&repeated));
        assert!(width(&independent) < width(&repeated) / 2.5);
        let estimate = mean(&repeated);
        assert_eq!((estimate.n, estimate.clusters), (200, 20));
        // Standard error of the share 1/2 of 20: 0.112.
        assert!((width(&single) - 2.0 * 1.96 * 0.112).abs() < 0.05);
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter() {
        let rows: Vec<ClusterRow<2>> = (0..30).map(|n| (n / 3, [(n % 7) as f64, 1.0])).collect();
        let reversed: Vec<_> = rows.iter().rev().copied().collect();
        assert_eq!(mean(&rows), mean(&reversed));
    }

    #[test]
    fn nothing_has_no_value_and_one_cluster_no_interval() {
        assert_eq!(mean(&[]).value, None);
        let one = mean(&[(3, [1.0, 1.0]), (3, [0.0, 1.0])]);
        assert_eq!((one.value, one.interval), (Some(0.5), None));
    }

    #[test]
    fn a_statistic_that_is_often_undefined_has_no_interval() {
        // A resample without cluster 0 has a denominator of 0: (9/10)^10 = 35 % of them.
        let rows: Vec<ClusterRow<2>> = (0..10).map(|c| (c, [0.5, f64::from(c == 0)])).collect();
        let ratio = estimate(&rows, |[top, bottom]| (bottom > 0.0).then(|| top / bottom));
        assert_eq!((ratio.value, ratio.interval), (Some(5.0), None));
    }
}
