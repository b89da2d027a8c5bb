//! A policy as data: knobs, named expressions, stages, and where it all comes from.
//!
//! Read from TOML once ([`Policy::parse`]); every name and type is checked then, so that a run cannot fail.

use super::Case;
use super::expr::{Expr, ExprError, Moment, Quantity};
use super::meter::Meter;
use super::rewrite::NamedWindow;
use super::stages::{Action, Stage};
use crate::units::Tokens;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One whole rule of context management.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Name on the command line and in JSON.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// One or two sentences: what it does and when it is a good choice.
    pub help: String,
    /// How it counts for its own triggers.
    pub meter: Meter,
    /// How full it believes the context to be: 1 is where it acts or must act.
    pub believes: Option<Expr>,
    /// Room that it keeps for the answer, where that is more than the value of a knob.
    pub reserve: Option<Expr>,
    /// How it tells a model's window, where it does so in its own way.
    pub window: Option<&'static NamedWindow>,
    /// Its settings, in the order to show them.
    pub knobs: Vec<Knob>,
    /// Named expressions, in order; a later one may use an earlier.
    pub lets: Vec<(String, Expr)>,
    /// What it does, in order.
    pub stages: Vec<Stage>,
    /// Where its numbers come from.
    pub sources: Vec<String>,
    /// What could not be found out.
    pub unknowns: Vec<String>,
    /// Where the system's own document says otherwise, each with what it means for the user.
    pub differences: Vec<String>,
}

/// A named setting of a policy: a slider, `--set name=value`, an axis of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Name, as in expressions.
    pub name: String,
    /// What it is in common terms, so that one slider can drive several lanes.
    pub role: Option<KnobRole>,
    /// Default.
    pub value: f64,
    /// Smallest and largest value.
    pub range: [f64; 2],
    /// Distance between neighbouring values: 1 for whole numbers.
    pub step: f64,
    /// Unit, for people: `tokens`, `messages`, `share of usable`, `steps`.
    pub unit: String,
    /// One line of help.
    pub help: String,
    /// Its key in the system's own configuration.
    pub key: Option<String>,
    /// What its value is multiplied by there: 100 where a share is written in percent.
    pub scale: f64,
    /// Why the shipped code ignores it, where it does.
    pub ignored: Option<String>,
    /// Names of its values, from 0, where it is a choice; empty for a number.
    pub choices: Vec<String>,
}

/// What a knob is in common terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnobRole {
    /// Share of usable at which the policy acts.
    CompressionTrigger,
    /// Messages that are kept.
    KeepRecent,
    /// Tokens of recent tool results that are spared.
    PruneProtect,
    /// Tokens that clearing must save.
    PruneMinimum,
    /// Recent turns that are spared.
    SpareTurns,
    /// Room for the answer.
    OutputReserve,
    /// Largest summary.
    SummaryMaxTokens,
    /// Pause between two firings.
    Cooldown,
}

/// Values of a policy's knobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnobValues(BTreeMap<String, f64>);

impl KnobValues {
    /// The value of a knob.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// All names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Sets a value without looking at the policy; see [`Policy::set`].
    pub(super) fn insert(&mut self, name: &str, value: f64) {
        self.0.insert(name.to_owned(), value);
    }
}

/// What is wrong with a policy or a value for it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// The file is no TOML or has wrong fields.
    #[error("{0}")]
    Toml(String),
    /// An expression does not parse or names what is not there.
    #[error("{place}: {error}")]
    Expr {
        /// Where it stands.
        place: String,
        /// What is wrong.
        error: ExprError,
    },
    /// Something is out of place.
    #[error("{0}")]
    Invalid(String),
    /// No such knob.
    #[error("{policy} has no knob named {knob:?}; it has {known}")]
    NoSuchKnob {
        /// The policy.
        policy: String,
        /// What was asked for.
        knob: String,
        /// What there is.
        known: String,
    },
    /// A fraction for a knob that takes whole numbers.
    #[error("{knob} = {value} is not a whole number of {unit}")]
    NotWhole {
        /// The knob.
        knob: String,
        /// What was asked for.
        value: f64,
        /// Unit.
        unit: String,
    },
    /// A value outside its knob's range.
    #[error("{knob} = {value} is out of range: {low} to {high} {unit}")]
    OutOfRange {
        /// The knob.
        knob: String,
        /// What was asked for.
        value: f64,
        /// Smallest value.
        low: f64,
        /// Largest value.
        high: f64,
        /// Unit.
        unit: String,
    },
}

impl Policy {
    /// The knob of this name.
    pub fn knob(&self, name: &str) -> Option<&Knob> {
        self.knobs.iter().find(|k| k.name == name)
    }

    /// The knob of this role.
    pub fn knob_for(&self, role: KnobRole) -> Option<&Knob> {
        self.knobs.iter().find(|k| k.role == Some(role))
    }

    /// Every knob at its default.
    pub fn defaults(&self) -> KnobValues {
        KnobValues(
            self.knobs
                .iter()
                .map(|k| (k.name.clone(), k.value))
                .collect(),
        )
    }

    /// Sets one knob.
    ///
    /// # Errors
    /// [`PolicyError::NoSuchKnob`], [`PolicyError::OutOfRange`], [`PolicyError::NotWhole`].
    pub fn set(&self, values: &mut KnobValues, name: &str, value: f64) -> Result<(), PolicyError> {
        let knob = self.knob(name).ok_or_else(|| PolicyError::NoSuchKnob {
            policy: self.name.clone(),
            knob: name.to_owned(),
            known: self
                .knobs
                .iter()
                .map(|k| k.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        let [low, high] = knob.range;
        if !(low..=high).contains(&value) {
            let (knob, unit) = (knob.name.clone(), knob.unit.clone());
            return Err(PolicyError::OutOfRange {
                knob,
                value,
                low,
                high,
                unit,
            });
        }
        if knob.step >= 1.0 && value.fract() != 0.0 {
            let (knob, unit) = (knob.name.clone(), knob.unit.clone());
            return Err(PolicyError::NotWhole { knob, value, unit });
        }
        values.insert(name, value);
        Ok(())
    }

    /// Whether a trigger, a name or a line of a log mentions this quantity.
    pub(super) fn mentions(&self, quantity: Quantity) -> bool {
        let of_stage = |stage: &Stage| {
            stage.when.mentions(quantity)
                || matches!(&stage.action, Action::Log(log) if log.mentions(quantity))
        };
        self.stages.iter().any(of_stage) || self.lets.iter().any(|(_, e)| e.mentions(quantity))
    }

    /// What the names of its expressions stand for at these values: knobs and `let`s.
    pub(super) fn bindings(&self, values: &KnobValues) -> BTreeMap<String, Expr> {
        let value = |k: &Knob| values.get(&k.name).unwrap_or(k.value);
        let mut names: BTreeMap<_, _> = self
            .knobs
            .iter()
            .map(|k| (k.name.clone(), Expr::constant(value(k))))
            .collect();
        for (name, expr) in &self.lets {
            let bound = expr.bind(&names);
            names.insert(name.clone(), bound);
        }
        names
    }

    /// Room for the answer at a step: what the policy works out, else its knob, else none.
    pub fn output_reserve(&self, values: &KnobValues, case: &Case, step: usize) -> Tokens {
        let reserve = if let Some(expr) = &self.reserve {
            let mut moment = Moment::default();
            moment.set(Quantity::Window, case.windows.at(step).as_f64());
            let model = case.model_at(step);
            moment.set_model(self.window, model);
            expr.bind(&self.bindings(values)).value(&moment)
        } else {
            let knob = self.knob_for(KnobRole::OutputReserve);
            knob.and_then(|k| values.get(&k.name)).unwrap_or(0.0)
        };
        Tokens(reserve.max(0.0).round() as u64)
    }
}
