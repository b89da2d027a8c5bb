//! Predictions for people who were left out: whether they are calibrated, and whether they rank compactions.

use super::fit::{calibration, removed_without};
use super::items::RereadItem;
use super::model::{WINDOW_CALLS, probability};
use crate::analysis::statistics::{Generator, Interval, MIN_CLUSTERS};
use std::collections::{BTreeMap, BTreeSet};

/// Groups of equal size, by predicted probability, in the table of calibration.
///
/// Chosen: with the 2,597 bundled files a group has 325, so that its observed share has a standard error of about 2
/// points. Twice as many groups would show noise.
const GROUPS: usize = 8;
/// Resamples of persons for the interval of a rank correlation. Fewer than for other intervals, since each one sorts
/// all compactions: 50 are outside on each side, which fixes the ends to two digits.
const RESAMPLES: usize = 2_000;
/// Any number: the same items have to give the same interval.
const SEED: u64 = 0x7261_6e6b_5f63_6f72;

/// Predictions for each person by coefficients from all others.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Intercept and slope of re-reads on predicted log odds: 0 and 1 if calibrated.
    pub calibration: [f64; 2],
    /// Mean predicted and observed share of each group, lowest first.
    pub groups: Vec<[f64; 2]>,
    /// Mean predicted and observed re-reads per compaction.
    pub per_compaction: [f64; 2],
    /// Rank correlation (Spearman) of predicted and observed re-reads per compaction.
    pub correlation: f64,
    /// Its 95 % interval, by resampling persons; none for fewer than eight.
    pub interval: Option<Interval>,
    /// Share of the variance per compaction that is explained.
    pub explained: f64,
    /// Area under the curve: the chance that a file that is read again has the higher probability of two.
    pub area: f64,
    /// The area that the age alone reaches.
    pub area_of_age: f64,
}

/// A predicted file at a compaction.
struct Prediction<'a> {
    item: &'a RereadItem,
    probability: f64,
    is_read_again: bool,
}

impl LeftOut {
    pub(super) fn new(items: &[RereadItem]) -> Self {
        let fitted: Vec<&RereadItem> =
            items.iter().filter(|item| item.is_fitted() && !item.is_control).collect();
        let persons: BTreeSet<u32> = fitted.iter().map(|item| item.person).collect();
        let mut predicted: Vec<Prediction<'_>> = Vec::with_capacity(fitted.len());
        for person in persons {
            let coefficients = removed_without(&fitted, person);
            let own = fitted.iter().filter(|item| item.person == person);
            predicted.extend(own.map(|item| Prediction {
                item,
                probability: probability(&coefficients, &item.known.features(u32::MAX)),
                is_read_again: item.is_read_again_within(WINDOW_CALLS),
            }));
        }
        let pairs: Vec<(f64, bool)> =
            predicted.iter().map(|p| (p.probability, p.is_read_again)).collect();
        // Negative, since files of a smaller age are read again more often.
        let ages = predicted.iter().map(|p| (-f64::from(p.item.known.age), p.is_read_again));
        let compactions = by_compaction(&predicted);
        let sums: Vec<[f64; 2]> = compactions.iter().map(|(_, sums)| *sums).collect();
        let n = sums.len() as f64;
        let mean = |which: usize| sums.iter().map(|sums| sums[which]).sum::<f64>() / n;
        let means = [mean(0), mean(1)];
        Self {
            calibration: calibration(&pairs),
            groups: groups(&pairs),
            correlation: spearman(&sums),
            interval: correlation_interval(&compactions),
            explained: explained(&sums, means[1]),
            per_compaction: means,
            area: area(&pairs),
            area_of_age: area(&ages.collect::<Vec<_>>()),
        }
    }
}

/// Returns for each compaction its person and the sums (predicted, observed).
fn by_compaction(predicted: &[Prediction<'_>]) -> Vec<(u32, [f64; 2])> {
    let mut sums = BTreeMap::<(u32, u32), (u32, [f64; 2])>::new();
    for one in predicted {
        let key = (one.item.session, one.item.point);
        let (_, sum) = sums.entry(key).or_insert((one.item.person, [0.0; 2]));
        sum[0] += one.probability;
        sum[1] += f64::from(u8::from(one.is_read_again));
    }
    sums.into_values().collect()
}

/// Returns the mean predicted and observed share of groups of equal size.
fn groups(pairs: &[(f64, bool)]) -> Vec<[f64; 2]> {
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = sorted.len();
    let group = |nth: usize| {
        let group = &sorted[n * nth / GROUPS..n * (nth + 1) / GROUPS];
        let len = group.len().max(1) as f64;
        let predicted: f64 = group.iter().map(|(p, _)| p).sum();
        let observed = group.iter().filter(|(_, is)| *is).count() as f64;
        [predicted / len, observed / len]
    };
    (0..GROUPS).map(group).collect()
}

/// Returns the share of the variance that predictions explain.
fn explained(sums: &[[f64; 2]], mean: f64) -> f64 {
    let left: f64 = sums.iter().map(|[p, o]| (p - o).powi(2)).sum();
    let all: f64 = sums.iter().map(|[_, o]| (o - mean).powi(2)).sum();
    1.0 - left / all
}

/// Returns the interval of the rank correlation over resamples of persons.
fn correlation_interval(compactions: &[(u32, [f64; 2])]) -> Option<Interval> {
    let mut by_person = BTreeMap::<u32, Vec<[f64; 2]>>::new();
    for (person, sums) in compactions {
        by_person.entry(*person).or_default().push(*sums);
    }
    let persons: Vec<Vec<[f64; 2]>> = by_person.into_values().collect();
    if persons.len() < MIN_CLUSTERS {
        return None;
    }
    let mut generator = Generator::new(SEED);
    let mut found: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let drawn = (0..persons.len()).map(|_| &persons[generator.index(persons.len())]);
        let drawn: Vec<[f64; 2]> = drawn.flatten().copied().collect();
        found.push(spearman(&drawn));
    }
    found.sort_by(f64::total_cmp);
    let at = |share: f64| found[((found.len() - 1) as f64 * share) as usize];
    Some(Interval { low: at(0.025), high: at(0.975) })
}

/// Returns the rank correlation of pairs (Spearman); 0 if one side does not vary. Ranks are used because a few
/// compactions with many re-reads would decide about an ordinary correlation.
fn spearman(pairs: &[[f64; 2]]) -> f64 {
    let side = |which: usize| ranks(&pairs.iter().map(|pair| pair[which]).collect::<Vec<_>>());
    let (a, b) = (side(0), side(1));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        let products = a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean));
        products.sum()
    };
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    if spread > 0.0 { sum(&a, &b) / spread } else { 0.0 }
}

/// Returns the rank of each value from 0; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = start as f64 + (group.len() as f64 - 1.0) / 2.0;
        for idx in group {
            ranks[*idx] = rank;
        }
        start += group.len();
    }
    ranks
}

/// Returns the chance that of two items, one of them read again, that one has the larger score.
///
/// The ranks of the items that were read again count the items below each of them. What remains after the pairs among
/// themselves are subtracted are the pairs that are in the right order (Mann and Whitney).
fn area(pairs: &[(f64, bool)]) -> f64 {
    let ranks = ranks(&pairs.iter().map(|(score, _)| *score).collect::<Vec<_>>());
    let read_again = ranks.iter().zip(pairs).filter(|(_, (_, is))| *is);
    let n = read_again.clone().count() as f64;
    let others = pairs.len() as f64 - n;
    let sum: f64 = read_again.map(|(rank, _)| rank).sum();
    (sum - n * (n - 1.0) / 2.0) / (n * others)
}
