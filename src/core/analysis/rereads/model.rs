//! The model: how likely an agent reads a file again within 20 calls, if its content left the context and if it stayed.

use crate::analysis::statistics::Interval;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Calls after a compaction within which a re-read counts. Nearly all that a compaction causes happen within ten.
///
/// Measured (`docs/validity.md`): 6.5 points more files are read again after a compaction than at
/// a control point within 10 calls, 6.0 points within 20, and 5.8 points within 40. A window of 40 would add re-reads
/// that happen anyway, and leave out the compactions that are observed for fewer calls.
pub const WINDOW_CALLS: u32 = 20;

/// Number of features of a file: constant, age, uses, edited.
pub(super) const N_FEATURES: usize = 4;

/// Number of coefficients whose joint error is known: those of removed and of held content.
const N_JOINT: usize = 2 * N_FEATURES;

/// Standard errors on each side of a 95 % interval (normal distribution).
const SIDES_95: f64 = 1.96;

/// The coefficients that come with the program; `docs/validity.md` describes their fit.
static BUNDLED: LazyLock<RereadModel> = LazyLock::new(|| {
    let text = include_str!("../../assets/reread_model.toml");
    RereadModel::parse(text).expect("the tests read this file")
});

/// Age, uses and edits of a file at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileUse {
    /// Calls since the one that touched it last; 0 for the call before.
    pub age: u32,
    /// Calls that touched it since the last recorded compaction or the beginning.
    pub uses: u32,
    /// Whether one of these calls edited it.
    pub is_edited: bool,
}

impl FileUse {
    /// Returns the features of the logistic regressions.
    pub(super) fn features(self, most_uses: u32) -> [f64; N_FEATURES] {
        [
            1.0,
            f64::from(self.age).ln_1p(),
            f64::from(self.uses.min(most_uses)).ln_1p(),
            f64::from(u8::from(self.is_edited)),
        ]
    }
}

/// Coefficients of two logistic regressions, and their joint error.
///
/// The probability of a re-read is `1 / (1 + exp(-(b0 + b1 ln(1 + age) + b2 ln(1 + uses) + b3 edited)))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RereadModel {
    /// The sessions that the coefficients are fitted to.
    pub source: String,
    /// Content that left the context. Its replacement does not count.
    pub removed: [f64; N_FEATURES],
    /// Content that left the context, and whether the next context names the file (the last one).
    pub removed_known: [f64; N_FEATURES + 1],
    /// Content that stayed: the baseline.
    pub held: [f64; N_FEATURES],
    /// Covariance of `removed` and `held` together, over resamples of whole persons.
    pub covariance: [[f64; N_JOINT]; N_JOINT],
    /// The uses of 99 % of the files behind the coefficients: more uses of a file count as this number.
    pub most_uses: u32,
    /// Tokens that the re-reads of a file fetch, as a multiple of its last read. Not fitted to the items, which do not hold them.
    pub tokens: TokensFetched,
}

/// Tokens that the re-reads of a file fetch, as a multiple of its last read, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokensFetched {
    /// The multiple.
    pub factor: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl TokensFetched {
    /// Returns the variance of its logarithm.
    fn log_variance(self) -> f64 {
        let side = (self.high / self.low).ln() / (2.0 * SIDES_95);
        side * side
    }
}

impl RereadModel {
    /// Returns the coefficients that come with the program.
    pub fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// Parses coefficients as [`Self::to_toml`] writes them.
    ///
    /// # Errors
    /// The reason why the text is no such file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let model: Self = toml::from_str(text).map_err(|err| err.to_string())?;
        let coefficients = [&model.removed[..], &model.removed_known, &model.held];
        let all = coefficients.into_iter().flatten();
        let all = all.chain(model.covariance.iter().flatten());
        let tokens = model.tokens;
        if !all.copied().all(f64::is_finite) {
            return Err("a coefficient is not a finite number".to_owned());
        }
        if !(0.0 < tokens.low && tokens.low <= tokens.factor && tokens.factor <= tokens.high) {
            return Err("`tokens` needs 0 < low <= factor <= high".to_owned());
        }
        Ok(model)
    }

    /// Writes the coefficients, to be read by [`Self::parse`].
    pub fn to_toml(&self) -> String {
        // Numbers and texts can always be written.
        toml::to_string(self).unwrap_or_default()
    }

    /// Returns the probability of a re-read of removed content.
    pub fn if_removed(&self, file: FileUse) -> f64 {
        probability(&self.removed, &file.features(self.most_uses))
    }

    /// Returns the probability of a re-read of content that stays in the context.
    pub fn if_held(&self, file: FileUse) -> f64 {
        probability(&self.held, &file.features(self.most_uses))
    }

    /// Returns what the removal of this share of a file's last read adds to the expected re-reads. Never negative, so that
    /// keeping more never counts as worse: for old, edited files the two regressions cross within their error.
    pub(super) fn extra(&self, file: FileUse, share_removed: f64) -> Extra {
        let features = file.features(self.most_uses);
        let removed = probability(&self.removed, &features);
        let held = probability(&self.held, &features);
        let mut extra = Extra { value: share_removed * (removed - held), gradient: [0.0; N_JOINT] };
        if extra.value <= 0.0 {
            extra.value = 0.0;
            return extra;
        }
        for (idx, feature) in features.into_iter().enumerate() {
            extra.gradient[idx] = share_removed * removed * (1.0 - removed) * feature;
            extra.gradient[N_FEATURES + idx] = -share_removed * held * (1.0 - held) * feature;
        }
        extra
    }

    /// Returns the sum of weighted re-reads with its interval.
    pub(super) fn expected(&self, sum: &WeightedSum) -> Expected {
        Expected::new(sum.value, self.variance(sum))
    }

    /// Returns the tokens of re-reads weighted by the size of the last reads (or their price), with the interval.
    pub(super) fn expected_tokens(&self, sum: &WeightedSum) -> Expected {
        if sum.value <= 0.0 {
            return Expected::default();
        }
        let relative = self.variance(sum) / (sum.value * sum.value) + self.tokens.log_variance();
        let value = self.tokens.factor * sum.value;
        Expected::new(value, relative * value * value)
    }

    /// Returns the variance of a sum by the errors of the coefficients (delta method).
    fn variance(&self, sum: &WeightedSum) -> f64 {
        let rows = self.covariance.iter().zip(&sum.gradient);
        let product = |(row, own): (&[f64; N_JOINT], &f64)| {
            let terms = row.iter().zip(&sum.gradient);
            own * terms.map(|(c, other)| c * other).sum::<f64>()
        };
        rows.map(product).sum::<f64>().max(0.0)
    }
}

/// Returns the probability of a logistic regression.
pub(super) fn probability(coefficients: &[f64], features: &[f64]) -> f64 {
    let terms = coefficients.iter().zip(features);
    let sum: f64 = terms.map(|(a, b)| a * b).sum();
    1.0 / (1.0 + (-sum).exp())
}

/// The re-reads that a removal adds, and their change with each coefficient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra {
    pub(super) value: f64,
    gradient: [f64; N_JOINT],
}

/// A weighted sum of re-reads, and its change with each coefficient.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WeightedSum {
    value: f64,
    gradient: [f64; N_JOINT],
}

impl WeightedSum {
    pub(super) fn add(&mut self, extra: &Extra, weight: f64) {
        self.value += weight * extra.value;
        for (sum, own) in self.gradient.iter_mut().zip(extra.gradient) {
            *sum += weight * own;
        }
    }
}

/// An expected number with its 95 % interval, from the errors of the coefficients. What happens in one session varies more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expected {
    /// The expected number.
    pub value: f64,
    /// Lower end, at least 0.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Expected {
    fn new(value: f64, variance: f64) -> Self {
        let side = SIDES_95 * variance.sqrt();
        Self { value, low: (value - side).max(0.0), high: value + side }
    }

    /// Returns the interval.
    pub fn interval(&self) -> Interval {
        Interval { low: self.low, high: self.high }
    }
}
