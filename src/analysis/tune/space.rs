//! What may vary, and which settings of it are tried: all of them where they are few, else points that cover the room
//! evenly. No chance is involved: the same space gives the same settings.

use crate::engine::{Knob, KnobRole, KnobValues, Policy, PolicyError};
use std::collections::HashSet;

/// From so many steps on, whole numbers are spread by ratio: 5 and 10 differ as 50 and 100 do.
const RATIO_FROM: f64 = 50.0;

/// Points tried in vain, one after another, before the room counts as full.
const MOST_VAIN: usize = 2_000;

/// A policy with its present settings and what may vary.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name of its lane.
    pub lane: String,
    /// What is played.
    pub policy: Policy,
    /// Its present settings: always among those that are tried.
    pub now: KnobValues,
    /// What varies.
    pub axes: Vec<Axis>,
}

/// A knob that varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name.
    pub knob: String,
    /// What it may be.
    pub values: Values,
}

/// What a knob may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// These.
    Listed(Vec<f64>),
    /// Anything between two values, in the knob's own steps.
    Between {
        /// Smallest.
        low: f64,
        /// Largest.
        high: f64,
        /// Distance between neighbors.
        step: f64,
        /// How they are spread.
        scale: Scale,
    },
}

/// How values are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By ratio: as many small ones as large ones.
    Log,
}

impl Axis {
    /// All that a knob may be.
    pub fn of(knob: &Knob) -> Self {
        let [low, high] = knob.range;
        let is_choice = !knob.choices.is_empty() || (knob.step >= 1.0 && high - low <= 1.0);
        let values = if is_choice {
            let n = ((high - low) / knob.step.max(1.0)).round() as u32;
            Values::Listed((0..=n).map(|nth| low + f64::from(nth)).collect())
        } else {
            between(knob, (low, high), None)
        };
        Self {
            knob: knob.name.clone(),
            values,
        }
    }

    /// What lies between two values of a knob.
    ///
    /// # Errors
    /// [`PolicyError`] where an end is no value of the knob.
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

    /// Some values of a knob.
    ///
    /// # Errors
    /// [`PolicyError`] where one is no value of the knob.
    pub fn listed(policy: &Policy, name: &str, values: &[f64]) -> Result<Self, PolicyError> {
        let knob = checked(policy, name, values)?;
        Ok(Self {
            knob: knob.name.clone(),
            values: Values::Listed(values.to_vec()),
        })
    }

    /// The knobs of a policy that are worth varying: when it acts and what it keeps. Where it has none of these, all but
    /// the room for the answer.
    pub fn usual(policy: &Policy) -> Vec<Self> {
        const ROLES: [KnobRole; 6] = [
            KnobRole::CompressionTrigger,
            KnobRole::KeepRecent,
            KnobRole::PruneProtect,
            KnobRole::PruneMinimum,
            KnobRole::SpareTurns,
            KnobRole::SummaryMaxTokens,
        ];
        let works = |knob: &&Knob| knob.ignored.is_none() && knob.range[0] < knob.range[1];
        let knobs: Vec<&Knob> = policy.knobs.iter().filter(works).collect();
        let is_usual = |knob: &&&Knob| knob.role.is_some_and(|role| ROLES.contains(&role));
        let usual: Vec<Self> = knobs.iter().filter(is_usual).map(|k| Self::of(k)).collect();
        if !usual.is_empty() {
            return usual;
        }
        let is_other = |knob: &&&Knob| knob.role != Some(KnobRole::OutputReserve);
        knobs.iter().filter(is_other).map(|k| Self::of(k)).collect()
    }

    /// How many values it has.
    fn len(&self) -> u64 {
        match &self.values {
            Values::Listed(values) => values.len() as u64,
            Values::Between {
                low, high, step, ..
            } => ((high - low) / step + 1e-9).floor() as u64 + 1,
        }
    }

    /// Its value of this number.
    fn nth(&self, nth: u64) -> f64 {
        match &self.values {
            Values::Listed(values) => values.get(nth as usize).copied().unwrap_or(0.0),
            Values::Between { low, step, .. } => on_grid(low + nth as f64 * step, *step),
        }
    }

    /// Its value at a place from 0 to 1.
    fn at(&self, place: f64) -> f64 {
        match &self.values {
            Values::Listed(values) => {
                let nth = (place * values.len() as f64) as usize;
                values[nth.min(values.len().saturating_sub(1))]
            }
            Values::Between {
                low,
                high,
                step,
                scale,
            } => {
                let n = ((high - low) / step + 1e-9).floor();
                let nth = match scale {
                    // Each value has a room of the same size.
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
        step: if knob.step > 0.0 {
            knob.step
        } else {
            (high - low).max(1e-9) / 100.0
        },
        scale: scale.unwrap_or(usual),
    }
}

/// The knob, if these are values of it.
fn checked<'a>(policy: &'a Policy, name: &str, values: &[f64]) -> Result<&'a Knob, PolicyError> {
    let mut trial = policy.defaults();
    for value in values {
        policy.set(&mut trial, name, *value)?;
    }
    policy.knob(name).ok_or_else(|| PolicyError::NoSuchKnob {
        policy: policy.name.clone(),
        knob: name.to_owned(),
        known: String::new(),
    })
}

/// Without the dust of adding steps such as 0.01: what is set is what is shown.
fn on_grid(value: f64, step: f64) -> f64 {
    if step >= 1.0 {
        return value.round();
    }
    (value * 1e6).round() / 1e6
}

impl Subject {
    /// How many settings there are in all; as many as fit into a number at most.
    pub fn n_settings(&self) -> u64 {
        let lens = self.axes.iter().map(Axis::len);
        lens.fold(1, u64::saturating_mul)
    }

    /// No more than `most` settings, each once, the present ones first.
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
        let (mut nth, mut vain) = (0_u32, 0);
        while chosen.settings.len() < most && vain < MOST_VAIN {
            nth += 1;
            let steps = generators(self.axes.len());
            let place = |(axis, step): (&Axis, f64)| axis.at((0.5 + f64::from(nth) * step).fract());
            let values = self.axes.iter().zip(steps).map(place).collect();
            vain = if chosen.take(values) { 0 } else { vain + 1 };
        }
        chosen.settings
    }
}

/// The steps of an additive sequence that covers a room of so many dimensions evenly: powers of the inverse of the
/// number x for which x to the power of n + 1 is x + 1. (M. Roberts, "The unreasonable effectiveness of quasirandom
/// sequences".)
fn generators(dimensions: usize) -> impl Iterator<Item = f64> {
    let power = 1.0 / (dimensions as f64 + 1.0);
    let root = (0..64).fold(2.0_f64, |x, _| (1.0 + x).powf(power));
    (1..=dimensions).map(move |nth| root.recip().powf(nth as f64))
}

/// Settings that are to be tried.
struct Chosen<'a> {
    subject: &'a Subject,
    settings: Vec<KnobValues>,
    known: HashSet<Vec<u64>>,
}

impl<'a> Chosen<'a> {
    fn new(subject: &'a Subject) -> Self {
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

    /// Takes a setting that was not taken before.
    fn take(&mut self, values: Vec<f64>) -> bool {
        if !self
            .known
            .insert(values.iter().map(|v| v.to_bits()).collect())
        {
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
