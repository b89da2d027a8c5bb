//! Fits our counts to what the provider reported.
//!
//! Reported tokens U are taken as overhead + factor x counted + known: the overhead is what the file does not hold
//! (system prompt, tool schemas), the factor what the model's own vocabulary makes of text, and known weights (media,
//! reported reasoning) are in the provider's tokens already. The fit must not be led astray by the odd call that the
//! file misses something of, so it is made of medians: the slope is a weighted median of slopes between pairs of
//! calls (Theil and Sen), the overhead the median of what is left.

use crate::units::Share;

/// A fit of reported tokens U over our estimate E of the same contexts: U = overhead + factor x E.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Tokens of what the file does not hold (system prompt, tool schemas).
    pub overhead: f64,
    /// True tokens per counted token.
    pub factor: f64,
    /// Mean absolute error of the fit, as a share of what was reported. Fewer than three calls fit any line; then
    /// our count is taken to be as wrong as an unfitted one can be.
    pub error: Share,
    /// Error of predicting each call from the calls before it only; `unfitted_error` where there is but one.
    pub prequential_error: Share,
    /// Mean absolute error of our count without the fit.
    pub unfitted_error: Share,
    /// Calls it was fitted to.
    pub calls: usize,
}

/// One call: what was reported, and what we count for its context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Call {
    /// Input tokens as the provider reported them; above 0.
    pub(super) reported: f64,
    /// Tokens by our counter.
    pub(super) counted: f64,
    /// Tokens by the provider's own rule or report.
    pub(super) known: f64,
}

/// No model's vocabulary differs more from ours than this; a fit beyond it fits something else.
const FACTOR: (f64, f64) = (0.3, 4.0);
/// Calls needed for a slope.
const MIN_CALLS: usize = 3;
/// What a count by another model's vocabulary may be off by.
const UNFITTED: f64 = 0.3;
/// How far the counts must spread for a slope, as a share of the largest.
const MIN_SPREAD: f64 = 0.1;
/// Calls used for a slope at most, evenly chosen: their pairs are sorted.
const MAX_CALLS: usize = 256;

/// A straight line, and nothing below an overhead of 0.
#[derive(Clone, Copy, Debug)]
struct Line {
    overhead: f64,
    factor: f64,
}

/// Fits calls; none without calls.
pub(super) fn fit(calls: &[Call]) -> Option<Fit> {
    if calls.is_empty() {
        return None;
    }
    let line = if calls.len() >= MIN_CALLS && has_spread(calls) {
        robust_line(calls)
    } else {
        anchored_line(calls)
    };
    let unfitted_error = mean_error(calls.iter().map(|c| (c, c.counted + c.known)));
    let error = if calls.len() < MIN_CALLS {
        mean_error(calls.iter().map(|c| (c, c.reported + UNFITTED * c.counted)))
    } else {
        mean_error(calls.iter().map(|c| (c, line.predict(c))))
    };
    Some(Fit {
        overhead: line.overhead,
        factor: line.factor,
        error,
        prequential_error: if calls.len() < 2 {
            unfitted_error
        } else {
            prequential_error(calls)
        },
        unfitted_error,
        calls: calls.len(),
    })
}

impl Call {
    /// What the counted part has to explain.
    fn target(&self) -> f64 {
        self.reported - self.known
    }
}

impl Line {
    fn predict(self, call: &Call) -> f64 {
        self.overhead + self.factor * call.counted + call.known
    }
}

fn has_spread(calls: &[Call]) -> bool {
    let (min, max) = calls.iter().fold((f64::MAX, 0.0_f64), |(min, max), c| {
        (min.min(c.counted), max.max(c.counted))
    });
    max - min > MIN_SPREAD * max
}

/// Theil and Sen, each slope weighing as much as its calls are apart.
fn robust_line(calls: &[Call]) -> Line {
    let sample = evenly(calls, MAX_CALLS);
    let mut slopes = Vec::with_capacity(sample.len() * sample.len() / 2);
    for (i, a) in sample.iter().enumerate() {
        for b in &sample[..i] {
            let run = a.counted - b.counted;
            if run != 0.0 {
                slopes.push(((a.target() - b.target()) / run, run.abs()));
            }
        }
    }
    let factor = clamp_factor(weighted_median(slopes));
    let overhead = weighted_median(
        calls
            .iter()
            .map(|c| (c.target() - factor * c.counted, 1.0))
            .collect(),
    );
    if overhead >= 0.0 {
        return Line { overhead, factor };
    }
    line_through_zero(calls)
}

/// Too few or too similar calls for a slope: our count is right but for the overhead.
fn anchored_line(calls: &[Call]) -> Line {
    let overhead = weighted_median(
        calls
            .iter()
            .map(|c| (c.target() - c.counted, 1.0))
            .collect(),
    );
    if overhead >= 0.0 {
        Line {
            overhead,
            factor: 1.0,
        }
    } else {
        line_through_zero(calls)
    }
}

/// We count more than was reported: no overhead, a smaller factor.
fn line_through_zero(calls: &[Call]) -> Line {
    let ratios = calls
        .iter()
        .filter(|c| c.counted > 0.0)
        .map(|c| (c.target() / c.counted, c.counted));
    Line {
        overhead: 0.0,
        factor: clamp_factor(weighted_median(ratios.collect())),
    }
}

fn clamp_factor(factor: f64) -> f64 {
    factor.clamp(FACTOR.0, FACTOR.1)
}

fn evenly(calls: &[Call], most: usize) -> Vec<Call> {
    if calls.len() <= most {
        return calls.to_vec();
    }
    (0..most)
        .map(|i| calls[i * (calls.len() - 1) / (most - 1)])
        .collect()
}

/// The value with half the weight on either side; 1, the neutral factor, of none.
fn weighted_median(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|v| v.1).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (idx, (value, weight)) in values.iter().enumerate() {
        below += weight;
        if below > half {
            return *value;
        }
        // Exactly half: between this and the next.
        if (below - half).abs() < f64::EPSILON * half {
            return values
                .get(idx + 1)
                .map_or(*value, |next| f64::midpoint(*value, next.0));
        }
    }
    values.last().map_or(1.0, |v| v.0)
}

fn mean_error<'a>(predicted: impl Iterator<Item = (&'a Call, f64)>) -> Share {
    let (sum, n) = predicted.fold((0.0, 0.0), |(sum, n), (call, tokens)| {
        (
            sum + (tokens - call.reported).abs() / call.reported,
            n + 1.0,
        )
    });
    Share(if n > 0.0 { sum / n } else { 0.0 })
}

/// Predicts each call from the least squares of those before it.
fn prequential_error(calls: &[Call]) -> Share {
    let mut sums = RunningLine::default();
    let predictions: Vec<_> = calls
        .iter()
        .map(|call| {
            let line = sums.line();
            sums.add(call);
            line.map(|line| (call, line.predict(call)))
        })
        .collect();
    mean_error(predictions.into_iter().flatten())
}

/// Least squares of the calls so far, by running means and moments.
#[derive(Default)]
struct RunningLine {
    calls: f64,
    mean_x: f64,
    mean_y: f64,
    /// Sum of squared deviations of x.
    moment_xx: f64,
    /// Sum of products of deviations.
    moment_xy: f64,
}

impl RunningLine {
    fn add(&mut self, call: &Call) {
        let (x, y) = (call.counted, call.target());
        self.calls += 1.0;
        let (from_x, from_y) = (x - self.mean_x, y - self.mean_y);
        self.mean_x += from_x / self.calls;
        self.mean_y += from_y / self.calls;
        self.moment_xx += from_x * (x - self.mean_x);
        self.moment_xy += from_x * (y - self.mean_y);
    }

    fn line(&self) -> Option<Line> {
        if self.calls == 0.0 {
            return None;
        }
        let deviation = (self.moment_xx / self.calls).sqrt();
        let has_slope =
            self.calls >= MIN_CALLS as f64 && deviation > MIN_SPREAD / 2.0 * self.mean_x;
        let factor = if has_slope {
            clamp_factor(self.moment_xy / self.moment_xx)
        } else {
            1.0
        };
        let overhead = self.mean_y - factor * self.mean_x;
        Some(if overhead >= 0.0 || self.mean_x <= 0.0 {
            Line {
                overhead: overhead.max(0.0),
                factor,
            }
        } else {
            Line {
                overhead: 0.0,
                factor: clamp_factor(self.mean_y / self.mean_x),
            }
        })
    }
}
