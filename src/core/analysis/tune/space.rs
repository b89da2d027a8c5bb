//! The settings to vary, and the combinations to try: all if they are few, otherwise points that cover the space
//! evenly. The choice is deterministic.

use crate::engine::{Knob, KnobRole, KnobValues, Policy, PolicyError};
use std::collections::HashSet;

/// Number of steps from which whole numbers are spread by ratio: 5 and 10 differ as 50 and 100 do.
///
/// Chosen: counts of messages and tokens have more steps than this. A percentage by steps of two, or a number of turns
/// up to 20, has fewer and is spread evenly.
const RATIO_FROM: f64 = 50.0;

/// Maximum number of consecutive repeated points, after which the space counts as exhausted.
///
/// The sequence covers the space evenly, so repeats mean that nearly all combinations are taken. Chosen: a repeated
/// point costs a look-up in a hash set and a point a whole replay, so searching longer for the last combinations is
/// cheap, and searching shorter may miss some.
const MAX_REPEATED: usize = 2_000;

/// A policy with its current settings and the settings to vary.
#[derive(Clone, Debug)]
pub struct SweepSubject {
    /// Name of its lane.
    pub lane: String,
    /// The policy.
    pub policy: Policy,
    /// Its current settings, which are always tried.
    pub now: KnobValues,
    /// The settings to vary.
    pub axes: Vec<Axis>,
}

/// A setting to vary.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name.
    pub knob: String,
    /// Its values.
    pub values: Values,
}

/// Values of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// A list.
    Listed(Vec<f64>),
    /// All between two values, by the setting's step.
    Between {
        /// Smallest.
        low: f64,
        /// Largest.
        high: f64,
        /// Distance between neighbors.
        step: f64,
        /// Spread.
        scale: Scale,
    },
}

/// Spread of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By ratio: as many small ones as large ones.
    Log,
}

impl Axis {
    /// Returns all values of a setting that its documentation does not advise against.
    pub fn of(knob: &Knob) -> Self {
        let [low, high] = knob.range_to_try();
        let is_choice = !knob.choices.is_empty() || (knob.step >= 1.0 && high - low <= 1.0);
        let values = if is_choice {
            let n = ((high - low) / knob.step.max(1.0)).round() as u32;
            Values::Listed((0..=n).map(|nth| low + f64::from(nth)).collect())
        } else {
            between(knob, (low, high), None)
        };
        Self { knob: knob.name.clone(), values }
    }

    /// Returns all values of a setting between two.
    ///
    /// # Errors
    /// [`PolicyError`] if an end is not a value of the setting.
    pub fn between(
        policy: &Policy,
        name: &str,
        (low, high): (f64, f64),
        scale: Option<Scale>,
    ) -> Result<Self, PolicyError> {
        let knob = checked(policy, name, &[low, high])?;
        Ok(Self {
            knob: knob.name.clone(),
            values: between(knob, (low.min(high), low.max(high)), scale),
        })
    }

    /// Returns some values of a setting.
    ///
    /// # Errors
    /// [`PolicyError`] if one is not a value of the setting.
    pub fn listed(policy: &Policy, name: &str, values: &[f64]) -> Result<Self, PolicyError> {
        let knob = checked(policy, name, values)?;
        Ok(Self { knob: knob.name.clone(), values: Values::Listed(values.to_vec()) })
    }

    /// Returns the settings of a policy that are varied by default: its triggers and the content it keeps; if it has
    /// none of these, all except the output reserve and the size of summaries. Assumptions of the replay and what the
    /// system offers no setting for are not varied.
    pub fn usual(policy: &Policy) -> Vec<Self> {
        const ROLES: [KnobRole; 5] = [
            KnobRole::CompressionTrigger,
            KnobRole::KeepRecent,
            KnobRole::PruneProtect,
            KnobRole::PruneMinimum,
            KnobRole::SpareTurns,
        ];
        // A predicted summary counts as empty at any size, so a smaller one would only look cheaper.
        const LOOKS_CHEAPER: [KnobRole; 2] = [KnobRole::SummaryMaxTokens, KnobRole::OutputReserve];
        let works = |knob: &&Knob| {
            let is_setting = knob.is_offered && knob.ignored.is_none() && !knob.is_assumed;
            is_setting && knob.range[0] < knob.range[1]
        };
        let knobs: Vec<&Knob> = policy.knobs.iter().filter(works).collect();
        let is_usual = |knob: &&&Knob| knob.role.is_some_and(|role| ROLES.contains(&role));
        let usual: Vec<Self> = knobs.iter().filter(is_usual).map(|k| Self::of(k)).collect();
        if !usual.is_empty() {
            return usual;
        }
        let is_other = |knob: &&&Knob| !knob.role.is_some_and(|role| LOOKS_CHEAPER.contains(&role));
        knobs.iter().filter(is_other).map(|k| Self::of(k)).collect()
    }

    /// Returns the number of values.
    fn len(&self) -> u64 {
        match &self.values {
            Values::Listed(values) => values.len() as u64,
            Values::Between { low, high, step, .. } => {
                ((high - low) / step + 1e-9).floor() as u64 + 1
            }
        }
    }

    /// Returns the value with this number.
    fn nth(&self, nth: u64) -> f64 {
        match &self.values {
            Values::Listed(values) => values.get(nth as usize).copied().unwrap_or(0.0),
            Values::Between { low, step, .. } => on_grid(low + nth as f64 * step, *step),
        }
    }

    /// Returns the value at a position from 0 to 1.
    fn at(&self, place: f64) -> f64 {
        match &self.values {
            Values::Listed(values) => {
                let nth = (place * values.len() as f64) as usize;
                values[nth.min(values.len().saturating_sub(1))]
            }
            Values::Between { low, high, step, scale } => {
                let n = ((high - low) / step + 1e-9).floor();
                let nth = match scale {
                    // Each value has an interval of the same size. Rounding would give the first and last only half of
                    // one.
                    Scale::Linear => (place * (n + 1.0)).floor().min(n),
                    Scale::Log => ((n + 1.0).powf(place) - 1.0).round(),
                };
                on_grid(low + nth * step, *step)
            }
        }
    }
}

fn between(knob: &Knob, (low, high): (f64, f64), scale: Option<Scale>) -> Values {
    let is_wide = knob.step >= 1.0 && (high - low) / knob.step >= RATIO_FROM;
    let usual = if is_wide { Scale::Log } else { Scale::Linear };
    Values::Between {
        low,
        high,
        step: if knob.step > 0.0 { knob.step } else { (high - low).max(1e-9) / 100.0 },
        scale: scale.unwrap_or(usual),
    }
}

/// Returns the setting, if these are valid values.
fn checked<'a>(policy: &'a Policy, name: &str, values: &[f64]) -> Result<&'a Knob, PolicyError> {
    let mut trial = policy.defaults();
    for value in values {
        policy.set(&mut trial, name, *value)?;
    }
    policy.knob(name).ok_or_else(|| PolicyError::NoSuchKnob {
        policy: policy.name.clone(),
        knob: name.to_owned(),
        known: policy.knobs.iter().map(|k| k.name.clone()).collect(),
    })
}

/// Rounds away the error of adding steps such as 0.01, so that the value set equals the value shown.
fn on_grid(value: f64, step: f64) -> f64 {
    if step >= 1.0 {
        return value.round();
    }
    (value * 1e6).round() / 1e6
}

impl SweepSubject {
    /// Returns the number of combinations; saturates.
    pub fn n_settings(&self) -> u64 {
        let lens = self.axes.iter().map(Axis::len);
        lens.fold(1, u64::saturating_mul)
    }

    /// Returns at most `most` combinations, each once, the current one first.
    ///
    /// If all fit, they are counted like the digits of a number, a digit for each setting. Otherwise the points of an
    /// additive sequence are rounded to values: they cover every setting and every pair of settings evenly, also if a
    /// sweep is cancelled, while a grid of few points would try only two or three values of each setting.
    pub fn settings(&self, most: usize) -> Vec<KnobValues> {
        let mut chosen = Chosen::new(self);
        let all = self.n_settings();
        if all <= most as u64 {
            for nth in 0..all {
                let mut rest = nth;
                let mut next = |axis: &Axis| {
                    let value = axis.nth(rest % axis.len());
                    rest /= axis.len();
                    value
                };
                let values = self.axes.iter().map(&mut next).collect();
                chosen.take(values);
            }
            return chosen.settings;
        }
        let (mut nth, mut repeats) = (0_u32, 0);
        while chosen.settings.len() < most && repeats < MAX_REPEATED {
            nth += 1;
            let steps = generators(self.axes.len());
            let place = |(axis, step): (&Axis, f64)| axis.at((0.5 + f64::from(nth) * step).fract());
            let values = self.axes.iter().zip(steps).map(place).collect();
            repeats = if chosen.take(values) { 0 } else { repeats + 1 };
        }
        chosen.settings
    }
}

/// Returns the steps of an additive sequence that covers a space of n dimensions evenly: powers of 1/x, where
/// x^(n+1) = x + 1 (M. Roberts, "The unreasonable effectiveness of quasirandom sequences").
fn generators(dimensions: usize) -> impl Iterator<Item = f64> {
    let power = 1.0 / (dimensions as f64 + 1.0);
    let root = (0..64).fold(2.0_f64, |x, _| (1.0 + x).powf(power));
    (1..=dimensions).map(move |nth| root.recip().powf(nth as f64))
}

/// Combinations to try.
struct Chosen<'a> {
    subject: &'a SweepSubject,
    settings: Vec<KnobValues>,
    known: HashSet<Vec<u64>>,
}

impl<'a> Chosen<'a> {
    fn new(subject: &'a SweepSubject) -> Self {
        let now = subject.axes.iter().map(|axis| {
            let value = subject.now.get(&axis.knob);
            value.unwrap_or_default()
        });
        Self {
            known: HashSet::from([now.map(f64::to_bits).collect()]),
            settings: vec![subject.now.clone()],
            subject,
        }
    }

    /// Adds a combination if it is new; returns whether it was added.
    fn take(&mut self, values: Vec<f64>) -> bool {
        if !self.known.insert(values.iter().map(|v| v.to_bits()).collect()) {
            return false;
        }
        let mut knobs = self.subject.now.clone();
        let is_set = |(axis, value): (&Axis, f64)| {
            let policy = &self.subject.policy;
            policy.set(&mut knobs, &axis.knob, value).is_ok()
        };
        if !self.subject.axes.iter().zip(values).all(is_set) {
            return false;
        }
        self.settings.push(knobs);
        true
    }
}
