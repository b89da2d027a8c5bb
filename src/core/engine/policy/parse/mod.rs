//! Parses a policy from TOML and checks every name, type and number in it, so that a run cannot fail.

mod meter;
mod stage;
mod take;

use super::stages::Stage;
use super::{Knob, KnobRole, Policy, PolicyError, PolicyKind, Proof, SensibleRange};
use crate::engine::expr::{Definition, Expr, ExprError, Type, Vocabulary};
use crate::engine::meter::{Count, Meter};
use crate::engine::named::window::NamedWindow;
use crate::engine::named::{NamedMeter, Registry};
use meter::MeterToml;
use serde::Deserialize;
use stage::StageToml;

/// The TOML file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    label: String,
    help: String,
    kind: Option<PolicyKind>,
    proof: Option<Proof>,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    unknowns: Vec<String>,
    #[serde(default)]
    documentation_differences: Vec<String>,
    #[serde(default)]
    differences: Vec<String>,
    meter: Option<MeterToml>,
    window: Option<WindowToml>,
    output_reserve: Option<String>,
    /// `knobs` in older files.
    #[serde(default, alias = "knobs")]
    settings: toml::Table,
    #[serde(default, rename = "let")]
    lets: toml::Table,
    #[serde(default, rename = "stage")]
    stages: Vec<StageToml>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowToml {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnobToml {
    role: Option<KnobRole>,
    value: f64,
    range: [f64; 2],
    step: f64,
    unit: String,
    help: String,
    key: Option<String>,
    scale: Option<f64>,
    #[serde(default)]
    assumed: bool,
    offered: Option<bool>,
    sensible: Option<SensibleRange>,
    ignored: Option<String>,
    unset: Option<f64>,
    #[serde(default)]
    choices: Vec<String>,
}

impl Policy {
    /// Parses and checks a preset, which may use names of the registry.
    ///
    /// # Errors
    /// [`PolicyError`] with the location.
    pub fn parse(text: &str, registry: &Registry) -> Result<Self, PolicyError> {
        let file: File = toml::from_str(text).map_err(|e| PolicyError::Toml(e.to_string()))?;
        let knobs = file
            .settings
            .into_iter()
            .map(|(name, value)| knob(name, value))
            .collect::<Result<Vec<_>, _>>()?;
        let mut vocabulary = Vocabulary {
            names: knobs.iter().map(|k| (k.name.clone(), Definition::SETTING)).collect(),
            stages: file.stages.iter().map(|s| s.id.clone()).collect(),
        };
        let lets = lets(file.lets, &mut vocabulary)?;
        let stages = file
            .stages
            .into_iter()
            .map(|s| stage::stage(s, &vocabulary, registry))
            .collect::<Result<Vec<_>, _>>()?;
        distinct(&vocabulary.stages)?;
        let meter = file.meter.as_ref();
        let meter = meter.map_or(Ok(Meter::TRUE), |m| meter::meter(m, registry))?;
        if let Count::Named(named) = meter.count {
            check_units(named, &stages)?;
        }
        let reserve = file.output_reserve.as_deref();
        let reserve = reserve
            .map(|text| Expr::parse(text, Type::Number, &vocabulary).map_err(at("output_reserve")))
            .transpose()?;
        let believed_fill = file.meter.as_ref().and_then(|m| m.believed_fill.as_deref());
        let believed_fill = believed_fill
            .map(|text| Expr::parse(text, Type::Number, &vocabulary).map_err(at("[meter]")))
            .transpose()?;
        Ok(Self {
            name: file.name,
            label: file.label,
            help: file.help,
            kind: file.kind,
            proof: file.proof,
            meter,
            believed_fill,
            reserve,
            window: file.window.map(|w| window(&w, registry)).transpose()?,
            knobs,
            lets,
            stages,
            sources: file.sources,
            unknowns: file.unknowns,
            documentation_differences: file.documentation_differences,
            differences: file.differences,
        })
    }
}

fn window(window: &WindowToml, registry: &Registry) -> Result<&'static NamedWindow, PolicyError> {
    let found = registry.windows.iter().find(|w| w.name == window.name);
    found
        .copied()
        .ok_or_else(|| PolicyError::Invalid(format!("[window]: unknown name `{}`", window.name)))
}

fn knob(name: String, value: toml::Value) -> Result<Knob, PolicyError> {
    let knob: KnobToml =
        value.try_into().map_err(|e| PolicyError::Toml(format!("[settings.{name}]: {e}")))?;
    let [low, high] = knob.range;
    let numbers = [knob.value, low, high, knob.step];
    if numbers.iter().any(|n| !n.is_finite())
        || !(low..=high).contains(&knob.value)
        || knob.step <= 0.0
    {
        return Err(PolicyError::Invalid(format!(
            "[settings.{name}]: `value` must be within `range`, and `step` above 0"
        )));
    }
    let is_within = |sensible: &SensibleRange| {
        let [least, most] = sensible.range;
        low <= least && least <= most && most <= high
    };
    if !knob.sensible.as_ref().is_none_or(is_within) {
        return Err(PolicyError::Invalid(format!(
            "[settings.{name}]: `sensible` must be within `range`"
        )));
    }
    let last_choice = knob.choices.len() as f64 - 1.0;
    let is_choice = knob.range == [0.0, last_choice] && knob.step == 1.0;
    if !knob.choices.is_empty() && !is_choice {
        return Err(PolicyError::Invalid(format!(
            "[settings.{name}]: with these choices, `range` must be [0, {last_choice}] and `step` 1"
        )));
    }
    Ok(Knob {
        name,
        role: knob.role,
        value: knob.value,
        range: knob.range,
        step: knob.step,
        unit: knob.unit,
        help: knob.help,
        key: knob.key,
        scale: knob.scale.unwrap_or(1.0),
        is_assumed: knob.assumed,
        is_offered: knob.offered.unwrap_or(true),
        sensible: knob.sensible,
        ignored: knob.ignored,
        unset: knob.unset,
        choices: knob.choices,
    })
}

fn lets(
    table: toml::Table,
    vocabulary: &mut Vocabulary,
) -> Result<Vec<(String, Expr)>, PolicyError> {
    let mut lets = Vec::new();
    for (name, value) in table {
        let place = format!("[let] {name}");
        let text = value.as_str().ok_or_else(|| {
            PolicyError::Invalid(format!("{place}: expected an expression in quotes"))
        })?;
        let (expr, definition) = Expr::parse_any(text, vocabulary).map_err(at(&place))?;
        vocabulary.names.insert(name.clone(), definition);
        lets.push((name, expr));
    }
    Ok(lets)
}

fn at(place: &str) -> impl Fn(ExprError) -> PolicyError {
    move |error| PolicyError::Expr { place: place.to_owned(), error }
}

fn invalid(place: &str, what: &str) -> PolicyError {
    PolicyError::Invalid(format!("{place}: {what}"))
}

/// Rejects stages that count tokens if the meter counts whole messages in units of its own.
fn check_units(meter: &NamedMeter, stages: &[Stage]) -> Result<(), PolicyError> {
    let rule = |stage: &Stage| Some((stage.id.clone(), stage.token_rule()?));
    stages.iter().find_map(rule).map_or(Ok(()), |(id, rule)| {
        let what = format!(
            "`{rule}` counts tokens, but the meter `{}` counts whole messages in its own unit; use `count` in [meter]",
            meter.name
        );
        Err(invalid(&format!("stage '{id}'"), &what))
    })
}

fn distinct(ids: &[String]) -> Result<(), PolicyError> {
    let doubled = ids.iter().enumerate().find(|(i, id)| ids[..*i].contains(id));
    doubled.map_or(Ok(()), |(_, id)| {
        Err(PolicyError::Invalid(format!("two stages have the id '{id}'")))
    })
}
