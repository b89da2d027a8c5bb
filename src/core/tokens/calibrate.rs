//! Calibrates token counts with the usage that the provider reported.
//!
//! Models reported tokens U as overhead + factor x counted + known. The overhead covers content that is not recorded
//! (system prompt, tool schemas). The factor is the ratio of the model's own vocabulary to the counter's. Known tokens
//! (media, reported reasoning) are already in the provider's tokens. The fit uses medians so that single calls with
//! missing content do not distort it. The slope is a weighted median of slopes between pairs of calls (Theil and Sen),
//! and the overhead is the median of the remainders.
//!
//! After a compaction, or an unexplained drop, agents add content that is not recorded (files read again, reminders).
//! Calls are therefore compared only within a *stretch* between such events, and each stretch has its own overhead.
//! Every replay starts with the overhead of the first stretch.

use crate::session::Calibration;
use crate::units::Share;

/// A fit of reported tokens U to counted tokens E of the same contexts: U = overhead + factor x E.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Tokens of content that is not recorded (system prompt, tool schemas), in the first stretch.
    pub overhead: f64,
    /// Actual tokens per counted token.
    pub factor: f64,
    /// Mean absolute error of the fit, as a share of the reported tokens. Any line fits fewer than three calls; the
    /// error is then that of an uncalibrated count.
    pub error: Share,
    /// Error of predicting each call from earlier calls only; `unfitted_error` if no call has an earlier one in its
    /// stretch.
    pub prequential_error: Share,
    /// Mean absolute error of the counts without the fit.
    pub unfitted_error: Share,
    /// Number of calls used for the fit.
    pub calls: usize,
    /// Number of stretches between compactions and unexplained drops.
    pub stretches: usize,
}

/// Maximum error of a usable fit.
// Chosen: at half of it, programs that add unrecorded text lose a useful fit. At double, a count that misses by half is
// called calibrated.
const MAX_ERROR: f64 = 0.25;
/// Maximum error of a usable fit to fewer calls than a slope needs: their error is assumed.
// Chosen above `MAX_ERROR`, because the assumed error is an upper bound. It only rejects calls whose usage belongs to
// another content: `UNFITTED_ERROR` exceeds it when the counter finds 1.7 times the tokens that were reported.
const MAX_ASSUMED_ERROR: f64 = 0.5;

impl Fit {
    /// Creates the fit stored in a managed conversation, unless its error is too large. Clamps values outside of the valid
    /// ranges.
    pub(super) fn from_calibration(calibration: &Calibration) -> Option<Self> {
        let error = Share(calibration.error.clamp(0.0, 1.0));
        let is_trusted = error.0 <= MAX_ASSUMED_ERROR;
        is_trusted.then(|| Self {
            overhead: calibration.overhead.clamp(0.0, 1e8),
            factor: clamp_factor(calibration.factor),
            error,
            prequential_error: error,
            unfitted_error: error,
            calls: 0,
            stretches: 0,
        })
    }

    /// Returns whether the error is assumed, because fewer calls report usage than a slope needs.
    pub fn is_assumed(&self) -> bool {
        (1..MIN_CALLS).contains(&self.calls)
    }
}

/// Reported and counted tokens of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CountedCall {
    /// Input tokens that the provider reported; above 0.
    pub(super) reported: f64,
    /// Tokens by the counter.
    pub(super) counted: f64,
    /// Tokens by the provider's own rule or report.
    pub(super) known: f64,
    /// Index of its stretch, from 0, ascending.
    pub(super) stretch: usize,
    /// Index of the call in the session.
    pub(super) index: usize,
}

/// Range of valid factors. No vocabulary differs more, so that a fit outside of it fits something else.
// The upper end admits `chars/4` for Chinese, Japanese and Korean, where a character is about a token. The lower end is
// chosen: no counter of the table finds three times the tokens of any model.
const FACTOR_RANGE: (f64, f64) = (0.3, 4.0);
/// Minimum number of calls for a slope.
// A line fits any two calls without an error.
const MIN_CALLS: usize = 3;
/// Assumed error of a count with another model's vocabulary.
// Chosen, and described in `docs/numbers.md`: half or double changes the error that is displayed for one or two calls.
const UNFITTED_ERROR: f64 = 0.3;
/// Minimum spread of the counts for a slope, as a share of the largest.
// Chosen: with a smaller spread, the slope divides by a small difference and amplifies content that is not recorded.
// With a larger one, short sessions keep the factor 1.
const MIN_SPREAD: f64 = 0.1;
/// Maximum number of calls used for a slope, evenly chosen. Their pairs are sorted.
// Chosen: 256 calls have 32,640 pairs. Twice as many calls take four times as long, and the median hardly moves.
const MAX_CALLS: usize = 256;

/// Parallel lines, one per stretch, with overheads of at least 0.
#[derive(Clone, Debug)]
struct Lines {
    overheads: Vec<f64>,
    factor: f64,
}

/// A range of calls with its own overhead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// Index of its first call with usage.
    pub(super) call: usize,
    /// Overhead in tokens.
    pub(super) overhead: f64,
    /// Whether its calls report fewer tokens than their messages alone have, so that they determine no overhead.
    pub(super) is_short: bool,
}

/// Fits calls. `largest` is the largest counted context of the session, whether its usage is reported or not. Returns
/// `None` without calls, and the fit with `false` if the recorded content does not explain the reported usage.
pub(super) fn fit(calls: &[CountedCall], largest: f64) -> Option<(Fit, Vec<Stretch>, bool)> {
    let stretches = calls.last()?.stretch + 1;
    let has_slope =
        if calls.len() < MIN_CALLS { is_pair(calls) } else { stretches_of(calls).any(has_spread) };
    let lines = lines(calls, if has_slope { slope(calls) } else { 1.0 });
    let unfitted_error = mean_error(calls.iter().map(|c| (c, c.counted + c.known)));
    let (error, is_trusted) = if calls.len() < MIN_CALLS {
        let assumed =
            mean_error(calls.iter().map(|c| (c, c.reported + UNFITTED_ERROR * c.counted)));
        // Figures between and after these calls are those of contexts that no call confirms.
        let tokens = lines.factor * largest;
        let unconfirmed = UNFITTED_ERROR * tokens / (lines.overheads[0] + tokens).max(1.0);
        (Share(assumed.0.max(unconfirmed)), assumed.0 <= MAX_ASSUMED_ERROR)
    } else {
        let error = mean_error(calls.iter().map(|c| (c, lines.predict(c))));
        (error, error.0 <= MAX_ERROR)
    };
    let starts = stretches_of(calls).map(|stretch| Stretch {
        call: stretch[0].index,
        overhead: lines.overheads[stretch[0].stretch],
        is_short: overhead(stretch, lines.factor) < 0.0,
    });
    let starts = starts.collect();
    let fit = Fit {
        overhead: lines.overheads[0],
        factor: lines.factor,
        error,
        prequential_error: prequential_error(calls).unwrap_or(unfitted_error),
        unfitted_error,
        calls: calls.len(),
        stretches,
    };
    Some((fit, starts, is_trusted))
}

fn stretches_of(calls: &[CountedCall]) -> impl Iterator<Item = &[CountedCall]> {
    calls.chunk_by(|a, b| a.stretch == b.stretch)
}

impl CountedCall {
    /// Returns the tokens that the counted part must explain.
    fn target(&self) -> f64 {
        self.reported - self.known
    }
}

impl Lines {
    fn predict(&self, call: &CountedCall) -> f64 {
        self.overheads.get(call.stretch).copied().unwrap_or(0.0)
            + self.factor * call.counted
            + call.known
    }
}

/// Returns whether two calls determine a slope, because almost all of the larger context was added after the smaller one.
fn is_pair(calls: &[CountedCall]) -> bool {
    matches!(calls, [a, b] if a.stretch == b.stretch && a.counted < MIN_SPREAD * b.counted)
}

fn has_spread(calls: &[CountedCall]) -> bool {
    let (min, max) = calls
        .iter()
        .fold((f64::MAX, 0.0_f64), |(min, max), c| (min.min(c.counted), max.max(c.counted)));
    max - min > MIN_SPREAD * max
}

/// Returns the Theil-Sen slope. Compares only calls of one stretch and weights each slope by the distance of its calls.
fn slope(calls: &[CountedCall]) -> f64 {
    let mut slopes = Vec::new();
    // Each stretch contributes calls in proportion to its size, and at least one pair if possible.
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

/// Returns the lines with this slope. If the first line has a negative overhead, the factor is that of a line through
/// zero instead, because the counts exceed the reported tokens.
fn lines(calls: &[CountedCall], factor: f64) -> Lines {
    let first = stretches_of(calls).next().unwrap_or_default();
    let factor = if overhead(first, factor) >= 0.0 { factor } else { factor_through_zero(first) };
    // A stretch may have no call with usage. It keeps its entry so that stretches remain indices.
    let mut overheads = vec![0.0; calls.last().map_or(1, |c| c.stretch + 1)];
    for stretch in stretches_of(calls) {
        overheads[stretch[0].stretch] = overhead(stretch, factor).max(0.0);
    }
    overheads[0] = overhead(first, factor).max(0.0);
    Lines { overheads, factor }
}

/// Returns the median remainder of the reported tokens. It is negative if the messages alone have more tokens.
fn overhead(calls: &[CountedCall], factor: f64) -> f64 {
    let left = calls.iter().map(|c| c.target() - factor * c.counted);
    weighted_median(left.map(|left| (left, 1.0)).collect())
}

fn factor_through_zero(calls: &[CountedCall]) -> f64 {
    let ratios =
        calls.iter().filter(|c| c.counted > 0.0).map(|c| (c.target() / c.counted, c.counted));
    clamp_factor(weighted_median(ratios.collect()))
}

fn clamp_factor(factor: f64) -> f64 {
    factor.clamp(FACTOR_RANGE.0, FACTOR_RANGE.1)
}

fn evenly(calls: &[CountedCall], most: usize) -> Vec<CountedCall> {
    if calls.len() <= most {
        return calls.to_vec();
    }
    (0..most).map(|i| calls[i * (calls.len() - 1) / (most - 1)]).collect()
}

/// Returns the value with half of the weight on either side. Returns the neutral factor 1 without values.
fn weighted_median(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|v| v.1).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (idx, (value, weight)) in values.iter().enumerate() {
        below += weight;
        if below > half {
            return *value;
        }
        // Exactly half: the mean of this value and the next.
        if (below - half).abs() < f64::EPSILON * half {
            return values.get(idx + 1).map_or(*value, |next| f64::midpoint(*value, next.0));
        }
    }
    values.last().map_or(1.0, |v| v.0)
}

fn mean_error<'a>(predicted: impl Iterator<Item = (&'a CountedCall, f64)>) -> Share {
    let (sum, n) = predicted.fold((0.0, 0.0), |(sum, n), (call, tokens)| {
        (sum + (tokens - call.reported).abs() / call.reported, n + 1.0)
    });
    Share(if n > 0.0 { sum / n } else { 0.0 })
}

/// Returns the error of predicting each call with least squares from the calls before it in its stretch. Uses the slope
/// of the previous stretch until the stretch has its own. Does not predict the first call of a stretch; `None` if there
/// are no others.
fn prequential_error(calls: &[CountedCall]) -> Option<Share> {
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
    (!predictions.is_empty()).then(|| mean_error(predictions.into_iter()))
}

/// Incremental least squares with running means and moments.
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
    fn add(&mut self, call: &CountedCall) {
        let (x, y) = (call.counted, call.target());
        self.calls += 1.0;
        let (from_x, from_y) = (x - self.mean_x, y - self.mean_y);
        self.mean_x += from_x / self.calls;
        self.mean_y += from_y / self.calls;
        self.moment_xx += from_x * (x - self.mean_x);
        self.moment_xy += from_x * (y - self.mean_y);
    }

    /// Returns the slope if the calls spread enough.
    fn factor(&self) -> Option<f64> {
        let deviation = (self.moment_xx / self.calls.max(1.0)).sqrt();
        let has_slope =
            self.calls >= MIN_CALLS as f64 && deviation > MIN_SPREAD / 2.0 * self.mean_x;
        has_slope.then(|| clamp_factor(self.moment_xy / self.moment_xx))
    }

    fn predict(&self, call: &CountedCall, usual_factor: f64) -> f64 {
        let factor = self.factor().unwrap_or(usual_factor);
        self.mean_y + factor * (call.counted - self.mean_x) + call.known
    }
}
