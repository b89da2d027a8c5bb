//! Fits the coefficients to items: logistic regressions by Newton's method, their joint error by resampling whole
//! persons.

use super::items::RereadItem;
use super::model::{N_FEATURES, RereadModel, TokensFetched, probability};
use crate::analysis::statistics::Generator;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Resamples of persons for the covariance. With four times as many, its roots change by less than 2 %.
const RESAMPLES: usize = 1_000;
/// Seed of the resampling, so that the same items give the same coefficients.
const SEED: u64 = 0x7265_7265_6164_7321;
/// Steps of Newton's method. It converges in six to eight unless classes are separable, which the ridge prevents.
const STEPS: usize = 30;
/// Weight that pulls coefficients other than the constant to zero: like a thousandth of an item. It keeps a resample
/// solvable.
const RIDGE: f64 = 1e-3;
/// Change of a coefficient below which a fit is done: a thousandth of the last of the six decimals that are written.
const CONVERGED: f64 = 1e-9;
/// Share of the items whose number of uses bounds the uses that count. For the bundled items it is 25 uses. Beyond, the
/// logarithm would be extrapolated from a few files with hundreds of uses.
const USES_QUANTILE: f64 = 0.99;
/// Fewest items that were read again on each side: five for each of the four coefficients. With fewer, they say
/// nothing.
const MIN_READ_AGAIN: usize = 20;
/// Fewest persons on each side. Whole persons are resampled, and of three the same one is drawn three times in one
/// resample of nine.
const MIN_PERSONS: usize = 4;

/// The multiple of the last read that re-reads fetch, measured on totals of the sessions behind the bundled items. It
/// is above 1 because a file is read again in pieces or more than once.
const TOKENS: TokensFetched = TokensFetched { factor: 1.5, low: 1.2, high: 1.9 };

/// A row of a regression: features, whether the file was read again, and the weight.
struct RegressionRow<const N: usize> {
    features: [f64; N],
    is_read_again: bool,
    person: u32,
}

/// Fits the coefficients to items.
///
/// # Errors
/// A sentence that says what is missing.
pub fn fit(items: &[RereadItem], source: String) -> Result<RereadModel, String> {
    let fitted: Vec<&RereadItem> = items.iter().filter(|item| item.is_fitted()).collect();
    let most_uses = most_uses(&fitted);
    let (removed, held): (Vec<&RereadItem>, Vec<&RereadItem>) =
        fitted.into_iter().partition(|item| !item.is_control);
    for (name, side) in [("compactions", &removed), ("control points", &held)] {
        check(name, side)?;
    }
    let removed_rows = rows(&removed, |item| item.known.features(u32::MAX));
    let held_rows = rows(&held, |item| item.known.features(u32::MAX));
    let known: Vec<&RereadItem> =
        removed.iter().copied().filter(|item| item.is_named.is_some()).collect();
    let known_rows = rows(&known, |item| {
        let [a, b, c, d] = item.known.features(u32::MAX);
        let named = item.is_named.unwrap_or_default();
        [a, b, c, d, f64::from(u8::from(named))]
    });
    Ok(RereadModel {
        source,
        removed: regression(&removed_rows, |_| 1.0).map(rounded),
        removed_known: regression(&known_rows, |_| 1.0).map(rounded),
        held: regression(&held_rows, |_| 1.0).map(rounded),
        covariance: covariance(&removed_rows, &held_rows).map(|row| row.map(rounded)),
        most_uses,
        tokens: TOKENS,
    })
}

/// Returns the coefficients of removed content without one person's items.
pub(super) fn removed_without(items: &[&RereadItem], person: u32) -> [f64; N_FEATURES] {
    let rows = rows(items, |item| item.known.features(u32::MAX));
    regression(&rows, |row| f64::from(u8::from(row != person)))
}

/// Returns the intercept and slope of a regression of re-reads on predicted log odds: 0 and 1 if predictions are
/// calibrated.
pub(super) fn calibration(predicted: &[(f64, bool)]) -> [f64; 2] {
    let rows = predicted.iter().map(|(p, is_read_again)| RegressionRow {
        features: [1.0, (p / (1.0 - p)).ln()],
        is_read_again: *is_read_again,
        person: 0,
    });
    regression(&rows.collect::<Vec<_>>(), |_| 1.0)
}

/// Rounds to six decimals, far below the errors, so that a file of coefficients can be read.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Returns the number of uses that 99 % of the items do not exceed.
fn most_uses(items: &[&RereadItem]) -> u32 {
    let mut uses: Vec<u32> = items.iter().map(|item| item.known.uses).collect();
    uses.sort_unstable();
    let at = (uses.len() as f64 * USES_QUANTILE) as usize;
    uses.get(at).or(uses.last()).copied().unwrap_or(1)
}

fn check(name: &str, items: &[&RereadItem]) -> Result<(), String> {
    let read_again = items.iter().filter(|item| item.is_read_again_within(super::WINDOW_CALLS));
    let read_again = read_again.count();
    let mut persons: Vec<u32> = items.iter().map(|item| item.person).collect();
    persons.sort_unstable();
    persons.dedup();
    if read_again < MIN_READ_AGAIN || persons.len() < MIN_PERSONS {
        return Err(format!(
            "{name}: {read_again} files read again by the agents of {} persons; a fit needs {MIN_READ_AGAIN} files and {MIN_PERSONS} persons",
            persons.len()
        ));
    }
    Ok(())
}

fn rows<const N: usize>(
    items: &[&RereadItem],
    features: impl Fn(&RereadItem) -> [f64; N],
) -> Vec<RegressionRow<N>> {
    let rows = items.iter().map(|item| RegressionRow {
        features: features(item),
        is_read_again: item.is_read_again_within(super::WINDOW_CALLS),
        person: item.person,
    });
    rows.collect()
}

/// Returns the coefficients that make the rows most likely, each row with the weight of its person.
///
/// Newton's method moves to the top of a parabola that has the slope and curvature of the log-likelihood at the
/// coefficients so far. The log-likelihood has a single maximum, so no start can lead elsewhere.
fn regression<const N: usize>(rows: &[RegressionRow<N>], weight: impl Fn(u32) -> f64) -> [f64; N] {
    let mut coefficients = [0.0; N];
    for _ in 0..STEPS {
        let (mut hessian, mut slope) = ([[0.0; N]; N], [0.0; N]);
        for row in rows {
            let weight = weight(row.person);
            if weight == 0.0 {
                continue;
            }
            let p = probability(&coefficients, &row.features);
            let error = f64::from(u8::from(row.is_read_again)) - p;
            for i in 0..N {
                slope[i] += weight * error * row.features[i];
                for (own, other) in hessian[i].iter_mut().zip(row.features) {
                    *own += weight * p * (1.0 - p) * row.features[i] * other;
                }
            }
        }
        for i in 1..N {
            hessian[i][i] += RIDGE;
            slope[i] -= RIDGE * coefficients[i];
        }
        let Some(step) = solve(hessian, slope) else {
            break;
        };
        for (own, step) in coefficients.iter_mut().zip(step) {
            *own += step;
        }
        if step.iter().all(|step| step.abs() < CONVERGED) {
            break;
        }
    }
    coefficients
}

/// Solves a system of linear equations by elimination with pivots; `None` if it has no single solution.
fn solve<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> Option<[f64; N]> {
    for i in 0..N {
        let pivot = (i..N).max_by(|a, b| matrix[*a][i].abs().total_cmp(&matrix[*b][i].abs()))?;
        matrix.swap(i, pivot);
        right.swap(i, pivot);
        if matrix[i][i].abs() < f64::EPSILON {
            return None;
        }
        for row in i + 1..N {
            let factor = matrix[row][i] / matrix[i][i];
            let pivot = matrix[i];
            for (own, above) in matrix[row].iter_mut().zip(pivot).skip(i) {
                *own -= factor * above;
            }
            right[row] -= factor * right[i];
        }
    }
    let mut solution = [0.0; N];
    for i in (0..N).rev() {
        let known: f64 = (i + 1..N).map(|j| matrix[i][j] * solution[j]).sum();
        solution[i] = (right[i] - known) / matrix[i][i];
    }
    Some(solution)
}

/// Returns the covariance of both regressions over resamples of whole persons.
///
/// The sessions of a person resemble each other, so resampling single files would make the errors far too small. Both
/// regressions use the same resample, since removed and held content of one person vary together.
fn covariance(
    removed: &[RegressionRow<N_FEATURES>],
    held: &[RegressionRow<N_FEATURES>],
) -> [[f64; 2 * N_FEATURES]; 2 * N_FEATURES] {
    let persons: Vec<u32> = {
        let all = removed.iter().chain(held).map(|row| row.person);
        all.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let mut generator = Generator::new(SEED);
    let resamples: Vec<BTreeMap<u32, f64>> = (0..RESAMPLES)
        .map(|_| {
            let mut weights = BTreeMap::new();
            for _ in &persons {
                *weights.entry(persons[generator.index(persons.len())]).or_default() += 1.0;
            }
            weights
        })
        .collect();
    let fitted = resamples.par_iter().map(|weights| {
        let weight = |person: u32| weights.get(&person).copied().unwrap_or_default();
        let (first, second) = (regression(removed, weight), regression(held, weight));
        let mut both = [0.0; 2 * N_FEATURES];
        both[..N_FEATURES].copy_from_slice(&first);
        both[N_FEATURES..].copy_from_slice(&second);
        both
    });
    let is_finite = |both: &[f64; 2 * N_FEATURES]| both.iter().all(|value| value.is_finite());
    let drawn: Vec<[f64; 2 * N_FEATURES]> = fitted.filter(is_finite).collect();
    let n = drawn.len() as f64;
    let mean = |i: usize| drawn.iter().map(|row| row[i]).sum::<f64>() / n;
    let means: [f64; 2 * N_FEATURES] = std::array::from_fn(mean);
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let products = drawn.iter().map(|row| (row[i] - means[i]) * (row[j] - means[j]));
            products.sum::<f64>() / (n - 1.0)
        })
    })
}
