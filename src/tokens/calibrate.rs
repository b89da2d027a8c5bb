//! Fits our counts to what the provider reported.
//!
//! Reported tokens U are taken as overhead + factor x counted + known: the overhead is what the file does not hold
//! (system prompt, tool schemas), the factor what the model's own vocabulary makes of text, and known weights (media,
//! reported reasoning) are in the provider's tokens already. The fit must not be led astray by the odd call that the
//! file misses something of, so it is made of medians: the slope is a weighted median of slopes between pairs of
//! calls (Theil and Sen), the overhead the median of what is left.
//!
//! After a compaction, or a drop that the file does not explain, agents carry on with things that the file does not
//! hold (files read again, reminders). Calls are therefore compared within a *stretch* between such events, and each
//! stretch has an overhead of its own; that of the first is the one every replay starts with.

use crate::session::Calibration;
use crate::units::Share;

/// A fit of reported tokens U over our estimate E of the same contexts: U = overhead + factor x E.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Tokens of what the file does not hold (system prompt, tool schemas), in the first stretch.
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
    /// Stretches between compactions and unexplained drops.
    pub stretches: usize,
}

/// A fit that errs more than this explains nothing.
const TRUSTED: f64 = 0.25;

impl Fit {
    /// The fit that a managed copy carries; absurd figures are brought back into what a fit can give.
    pub(super) fn carried(calibration: &Calibration) -> Self {
        let error = Share(calibration.error.clamp(0.0, 1.0));
        Self {
            overhead: calibration.overhead.clamp(0.0, 1e8),
            factor: clamp_factor(calibration.factor),
            error,
            prequential_error: error,
            unfitted_error: error,
            calls: 0,
            stretches: 0,
        }
    }

    /// Whether the reported usage can be explained by what the file holds.
    pub fn is_trusted(&self) -> bool {
        self.calls < MIN_CALLS || self.error.0 <= TRUSTED
    }
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
    /// The stretch it lies in, from 0, ascending.
    pub(super) stretch: usize,
    /// Index of its step.
    pub(super) step: usize,
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

/// Parallel lines, one a stretch, and nothing below an overhead of 0.
#[derive(Clone, Debug)]
struct Lines {
    overheads: Vec<f64>,
    factor: f64,
}

/// A stretch of calls with an overhead of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// Index of its first step with usage.
    pub(super) step: usize,
    /// Its overhead.
    pub(super) overhead: f64,
    /// Its calls report less than the messages alone weigh, so that they tell nothing of an overhead.
    pub(super) is_short: bool,
}

/// Fits calls; none without calls.
pub(super) fn fit(calls: &[Call]) -> Option<(Fit, Vec<Stretch>)> {
    let stretches = calls.last()?.stretch + 1;
    let has_slope = calls.len() >= MIN_CALLS && stretches_of(calls).any(has_spread);
    let lines = lines(calls, if has_slope { slope(calls) } else { 1.0 });
    let unfitted_error = mean_error(calls.iter().map(|c| (c, c.counted + c.known)));
    let error = if calls.len() < MIN_CALLS {
        mean_error(calls.iter().map(|c| (c, c.reported + UNFITTED * c.counted)))
    } else {
        mean_error(calls.iter().map(|c| (c, lines.predict(c))))
    };
    let starts = stretches_of(calls).map(|stretch| Stretch {
        step: stretch[0].step,
        overhead: lines.overheads[stretch[0].stretch],
        is_short: overhead(stretch, lines.factor) < 0.0,
    });
    let starts = starts.collect();
    let fit = Fit {
        overhead: lines.overheads[0],
        factor: lines.factor,
        error,
        prequential_error: if calls.len() < 2 {
            unfitted_error
        } else {
            prequential_error(calls)
        },
        unfitted_error,
        calls: calls.len(),
        stretches,
    };
    Some((fit, starts))
}

fn stretches_of(calls: &[Call]) -> impl Iterator<Item = &[Call]> {
    calls.chunk_by(|a, b| a.stretch == b.stretch)
}

impl Call {
    /// What the counted part has to explain.
    fn target(&self) -> f64 {
        self.reported - self.known
    }
}

impl Lines {
    fn predict(&self, call: &Call) -> f64 {
        self.overheads.get(call.stretch).copied().unwrap_or(0.0)
            + self.factor * call.counted
            + call.known
    }
}

fn has_spread(calls: &[Call]) -> bool {
    let (min, max) = calls.iter().fold((f64::MAX, 0.0_f64), |(min, max), c| {
        (min.min(c.counted), max.max(c.counted))
    });
    max - min > MIN_SPREAD * max
}

/// Theil and Sen, each slope weighing as much as its calls are apart; only calls of one stretch are compared.
fn slope(calls: &[Call]) -> f64 {
    let mut slopes = Vec::new();
    // Each stretch gives calls in proportion to its own, at least a pair where it has one.
    let share = MAX_CALLS as f64 / calls.len() as f64;
    for stretch in stretches_of(calls) {
        let most = (stretch.len() as f64 * share).ceil().max(2.0) as usize;
        let sample = evenly(stretch, most);
        for (i, a) in sample.iter().enumerate() {
            for b in &sample[..i] {
                let run = a.counted - b.counted;
                if run != 0.0 {
                    slopes.push(((a.target() - b.target()) / run, run.abs()));
                }
            }
        }
    }
    clamp_factor(weighted_median(slopes))
}

/// The lines of this slope; where the first would start below zero we count more than was reported, and the factor
/// is that of a line through zero.
fn lines(calls: &[Call], factor: f64) -> Lines {
    let first = stretches_of(calls).next().unwrap_or_default();
    let factor = if overhead(first, factor) >= 0.0 {
        factor
    } else {
        factor_through_zero(first)
    };
    // A stretch may hold no call with usage; its place is kept so that stretches stay indices.
    let mut overheads = vec![0.0; calls.last().map_or(1, |c| c.stretch + 1)];
    for stretch in stretches_of(calls) {
        overheads[stretch[0].stretch] = overhead(stretch, factor).max(0.0);
    }
    overheads[0] = overhead(first, factor).max(0.0);
    Lines { overheads, factor }
}

/// What is left of the reported tokens of some calls; below zero where the messages alone weigh more.
fn overhead(calls: &[Call], factor: f64) -> f64 {
    let left = calls.iter().map(|c| c.target() - factor * c.counted);
    weighted_median(left.map(|left| (left, 1.0)).collect())
}

fn factor_through_zero(calls: &[Call]) -> f64 {
    let ratios = calls
        .iter()
        .filter(|c| c.counted > 0.0)
        .map(|c| (c.target() / c.counted, c.counted));
    clamp_factor(weighted_median(ratios.collect()))
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

/// Predicts each call from the least squares of those before it in its stretch, with the slope of the stretch before
/// until it has one of its own; the first call of a stretch is not predicted.
fn prequential_error(calls: &[Call]) -> Share {
    let mut predictions = Vec::with_capacity(calls.len());
    let mut usual_factor = 1.0;
    for stretch in stretches_of(calls) {
        let mut sums = RunningLine::default();
        for call in stretch {
            if sums.calls > 0.0 {
                predictions.push((call, sums.predict(call, usual_factor)));
            }
            sums.add(call);
        }
        usual_factor = sums.factor().unwrap_or(usual_factor);
    }
    mean_error(predictions.into_iter())
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

    /// The slope, once the calls spread enough for one.
    fn factor(&self) -> Option<f64> {
        let deviation = (self.moment_xx / self.calls.max(1.0)).sqrt();
        let has_slope =
            self.calls >= MIN_CALLS as f64 && deviation > MIN_SPREAD / 2.0 * self.mean_x;
        has_slope.then(|| clamp_factor(self.moment_xy / self.moment_xx))
    }

    fn predict(&self, call: &Call, usual_factor: f64) -> f64 {
        let factor = self.factor().unwrap_or(usual_factor);
        self.mean_y + factor * (call.counted - self.mean_x) + call.known
    }
}
