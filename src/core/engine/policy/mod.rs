//! A policy as data: knobs, named expressions, stages, and sources.
//!
//! A policy is parsed from TOML once ([`Policy::parse`]). This checks every name and type, so that a run cannot fail.
mod listing;
mod parse;
pub(super) mod stages;
pub(super) mod trigger;

use crate::engine::case::Case;
use crate::engine::expr::{Expr, ExprError, Moment};
use crate::engine::meter::Meter;
use crate::engine::named::window::NamedWindow;
use crate::engine::policy::stages::Stage;
use crate::names::unknown;
use crate::units::Tokens;
pub use listing::{Evidence, PolicyKind, Proof};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A rule set for context management.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Name on the command line and in JSON.
    pub name: String,
    /// Display name.
    pub label: String,
    /// One or two sentences: its effect and when to choose it.
    pub help: String,
    /// Its kind, in lists.
    pub kind: Option<PolicyKind>,
    /// How its behaviour is known.
    pub proof: Option<Proof>,
    /// Its counting rule for its own triggers.
    pub meter: Meter,
    /// Believed fill: at 1 it acts or must act; negative without a limit.
    pub believed_fill: Option<Expr>,
    /// Tokens that it reserves for the answer, if this is not the value of a knob.
    pub reserve: Option<Expr>,
    /// Its own way to determine a model's context window, if it has one.
    pub window: Option<&'static NamedWindow>,
    /// Its settings, in display order.
    pub knobs: Vec<Knob>,
    /// Named expressions, in order; a later one may use an earlier.
    pub lets: Vec<(String, Expr)>,
    /// Its stages, in order.
    pub stages: Vec<Stage>,
    /// Sources of its numbers.
    pub sources: Vec<String>,
    /// Facts about the system that are unknown.
    pub unknowns: Vec<String>,
    /// Differences of the system's documentation from its code, each with its consequence for the user.
    pub documentation_differences: Vec<String>,
    /// Differences of the replay from the system.
    pub differences: Vec<String>,
}

/// A named setting of a policy: a slider, `--set name=value`, an axis of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Name, as in expressions.
    pub name: String,
    /// Its common role, so that one slider can control several lanes.
    pub role: Option<KnobRole>,
    /// Default.
    pub value: f64,
    /// Smallest and largest value.
    pub range: [f64; 2],
    /// Distance between neighbouring values: 1 for whole numbers.
    pub step: f64,
    /// Unit, for display: `tokens`, `messages`, `share of usable`, `calls`.
    pub unit: String,
    /// One line of help.
    pub help: String,
    /// Its key in the system's own configuration.
    pub key: Option<String>,
    /// Factor between its value and that key: 100 if a share is written in percent.
    pub scale: f64,
    /// Whether it is an assumption of the replay and no setting of the system, such as the size of a summary.
    pub is_assumed: bool,
    /// Whether users of the system can set it: false for a constant of its code or a fact about the model or machine.
    pub is_offered: bool,
    /// The values that the system's own documentation advises, if it does.
    pub sensible: Option<SensibleRange>,
    /// Reason why the system's released code ignores it, if it does.
    pub ignored: Option<String>,
    /// Value for which the system's own configuration has no value, such as 0 for a limit that is off.
    pub unset: Option<f64>,
    /// Names of its values, from 0, if it is a choice; empty for a number.
    pub choices: Vec<String>,
}

/// The values of a knob that the system's own documentation advises.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensibleRange {
    /// Smallest and largest value.
    pub range: [f64; 2],
    /// The documentation, and what it advises.
    pub source: String,
}

impl Knob {
    /// Returns whether the system's documentation advises against a value.
    pub fn is_advised_against(&self, value: f64) -> bool {
        let range = self.sensible.as_ref().map(|sensible| sensible.range);
        range.is_some_and(|[low, high]| !(low..=high).contains(&value))
    }

    /// Returns the smallest and largest value to try: those that the documentation advises, if it does.
    pub fn range_to_try(&self) -> [f64; 2] {
        let sensible = self.sensible.as_ref();
        sensible.map_or(self.range, |sensible| sensible.range)
    }
}

/// The common role of a knob.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, serde::Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum KnobRole {
    /// Share of the usable window at which the policy acts.
    CompressionTrigger,
    /// Number of messages that are kept.
    KeepRecent,
    /// Tokens of recent tool results that are kept.
    PruneProtect,
    /// Tokens that clearing must save.
    PruneMinimum,
    /// Number of recent turns that are kept.
    SpareTurns,
    /// Tokens reserved for the answer.
    OutputReserve,
    /// Maximum tokens of a summary.
    SummaryMaxTokens,
    /// Minimum distance between two compactions.
    Cooldown,
}

/// Values of a policy's knobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnobValues(BTreeMap<String, f64>);

impl KnobValues {
    /// Returns the value of a knob.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// Returns all names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Sets a value without checks; see [`Policy::set`].
    pub(super) fn insert(&mut self, name: &str, value: f64) {
        self.0.insert(name.to_owned(), value);
    }
}

/// An error in a policy or in a value for it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// The file is not valid TOML or has wrong fields.
    #[error("{0}")]
    Toml(String),
    /// An expression does not parse or uses an unknown name.
    #[error("{place}: {error}")]
    Expr {
        /// Location of the expression.
        place: String,
        /// The error.
        error: ExprError,
    },
    /// A value or combination is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The knob does not exist.
    #[error("{}", unknown(&format!("{} has no setting named", .policy), .knob, .known))]
    NoSuchKnob {
        /// The policy.
        policy: String,
        /// The requested name.
        knob: String,
        /// The existing knobs.
        known: Vec<String>,
    },
    /// A fraction for a knob that takes whole numbers.
    #[error("{knob} = {value} is not a whole number of {unit}")]
    NotWhole {
        /// The knob.
        knob: String,
        /// The requested value.
        value: f64,
        /// Unit.
        unit: String,
    },
    /// A value outside its knob's range.
    #[error("{knob} = {value} is out of range: {low} to {high} {unit}")]
    OutOfRange {
        /// The knob.
        knob: String,
        /// The requested value.
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
    /// Returns the knob of this name.
    pub fn knob(&self, name: &str) -> Option<&Knob> {
        self.knobs.iter().find(|k| k.name == name)
    }

    /// Returns the knob of this role.
    pub fn knob_for(&self, role: KnobRole) -> Option<&Knob> {
        self.knobs.iter().find(|k| k.role == Some(role))
    }

    /// Returns every knob at its default.
    pub fn defaults(&self) -> KnobValues {
        KnobValues(self.knobs.iter().map(|k| (k.name.clone(), k.value)).collect())
    }

    /// Sets one knob.
    ///
    /// # Errors
    /// [`PolicyError::NoSuchKnob`], [`PolicyError::OutOfRange`], [`PolicyError::NotWhole`].
    pub fn set(&self, values: &mut KnobValues, name: &str, value: f64) -> Result<(), PolicyError> {
        let knob = self.knob(name).ok_or_else(|| PolicyError::NoSuchKnob {
            policy: self.name.clone(),
            knob: name.to_owned(),
            known: self.knobs.iter().map(|k| k.name.clone()).collect(),
        })?;
        let [low, high] = knob.range;
        if !(low..=high).contains(&value) {
            let (knob, unit) = (knob.name.clone(), knob.unit.clone());
            return Err(PolicyError::OutOfRange { knob, value, low, high, unit });
        }
        if knob.step >= 1.0 && value.fract() != 0.0 {
            let (knob, unit) = (knob.name.clone(), knob.unit.clone());
            return Err(PolicyError::NotWhole { knob, value, unit });
        }
        values.insert(name, value);
        Ok(())
    }

    /// Returns the expressions of its names at these values: knobs and `let`s.
    pub(super) fn bindings(&self, values: &KnobValues) -> BTreeMap<String, Expr> {
        let value = |k: &Knob| values.get(&k.name).unwrap_or(k.value);
        let mut names: BTreeMap<_, _> =
            self.knobs.iter().map(|k| (k.name.clone(), Expr::constant(value(k)))).collect();
        for (name, expr) in &self.lets {
            let bound = expr.bind(&names);
            names.insert(name.clone(), bound);
        }
        names
    }

    /// Returns the output reserve at a call: the policy's expression, else its knob, else 0.
    pub fn output_reserve(&self, values: &KnobValues, case: &Case, call: usize) -> Tokens {
        let reserve = if let Some(expr) = &self.reserve {
            let mut moment = Moment::default();
            moment.set_window(case.windows.at(call), case.window_share());
            let model = case.model_at(call);
            moment.set_model(self.window, model);
            expr.bind(&self.bindings(values)).value(&moment)
        } else {
            let knob = self.knob_for(KnobRole::OutputReserve);
            knob.map_or(0.0, |knob| values.get(&knob.name).unwrap_or(knob.value))
        };
        Tokens(reserve.max(0.0).round() as u64)
    }
}
