//! Reads a policy from TOML and checks every name, type and number in it, so that a run cannot fail.

use super::expr::{Expr, ExprError, Type, Vocabulary};
use super::meter::{Count, Meter};
use super::policy::{Knob, KnobRole, Policy, PolicyError};
use super::stages::{
    Action, Boundary, Clear, Drop, Guard, Hook, Keep, Stage, Summarize, Take, What,
};
use crate::session::Kind;
use crate::tokens;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Longest expression, with the names in it written out.
const MOST_NODES: usize = 4_096;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    label: String,
    help: String,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    unknowns: Vec<String>,
    #[serde(default)]
    differences: Vec<String>,
    meter: Option<MeterToml>,
    #[serde(default)]
    knobs: toml::Table,
    #[serde(default, rename = "let")]
    lets: toml::Table,
    #[serde(default, rename = "stage")]
    stages: Vec<StageToml>,
}

/// `count` names a counter, or `true`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeterToml {
    count: String,
    #[serde(default)]
    per_message: u32,
    per_media: Option<u32>,
    #[serde(default)]
    leaves_out: Vec<String>,
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StageToml {
    id: String,
    at: Hook,
    when: String,
    take: TakeToml,
    #[serde(rename = "do")]
    action: ActionToml,
    #[serde(default)]
    guard: GuardToml,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TakeToml {
    what: What,
    #[serde(default)]
    keep: Vec<String>,
    #[serde(default)]
    boundary: Boundary,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ActionToml {
    Clear { marker: String },
    Drop(Drop),
    Summarize { max_tokens: String, prefix: String },
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GuardToml {
    min_saved: Option<String>,
    must_shrink: bool,
    cooldown: Option<String>,
}

impl Policy {
    /// Reads and checks a preset.
    ///
    /// # Errors
    /// [`PolicyError`], naming the place.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let file: File = toml::from_str(text).map_err(|e| PolicyError::Toml(e.to_string()))?;
        let knobs = file
            .knobs
            .into_iter()
            .map(|(name, value)| knob(name, value))
            .collect::<Result<Vec<_>, _>>()?;
        let mut vocabulary = Vocabulary {
            names: knobs
                .iter()
                .map(|k| (k.name.clone(), Type::Number))
                .collect(),
            stages: file.stages.iter().map(|s| s.id.clone()).collect(),
        };
        let lets = lets(file.lets, &mut vocabulary)?;
        let stages = file
            .stages
            .into_iter()
            .map(|s| stage(s, &vocabulary))
            .collect::<Result<Vec<_>, _>>()?;
        distinct(&vocabulary.stages)?;
        Ok(Self {
            name: file.name,
            label: file.label,
            help: file.help,
            meter: file.meter.as_ref().map_or(Ok(Meter::TRUE), meter)?,
            knobs,
            lets,
            stages,
            sources: file.sources,
            unknowns: file.unknowns,
            differences: file.differences,
        })
    }
}

fn meter(meter: &MeterToml) -> Result<Meter, PolicyError> {
    let invalid = |what: String| PolicyError::Invalid(format!("[meter]: {what}"));
    let kind = |name: &String| {
        let found = Kind::ALL.into_iter().find(|k| k.name() == name);
        found.ok_or_else(|| invalid(format!("no kind is named `{name}`")))
    };
    let leaves_out: Vec<Kind> = meter
        .leaves_out
        .iter()
        .map(kind)
        .collect::<Result<_, _>>()?;
    if meter.count == "true" {
        let is_plain = meter.per_message == 0 && meter.per_media.is_none() && leaves_out.is_empty();
        return if is_plain {
            Ok(Meter::TRUE)
        } else {
            Err(invalid("true tokens take no other settings".to_owned()))
        };
    }
    let counter = tokens::by_name(&meter.count);
    let counter =
        counter.ok_or_else(|| invalid(format!("no counter is named `{}`", meter.count)))?;
    Ok(Meter {
        count: Count::Counter(counter),
        per_message: meter.per_message,
        per_media: meter.per_media,
        leaves_out,
    })
}

fn knob(name: String, value: toml::Value) -> Result<Knob, PolicyError> {
    let knob: KnobToml = value
        .try_into()
        .map_err(|e| PolicyError::Toml(format!("[knobs.{name}]: {e}")))?;
    let [low, high] = knob.range;
    let numbers = [knob.value, low, high, knob.step];
    if numbers.iter().any(|n| !n.is_finite())
        || !(low..=high).contains(&knob.value)
        || knob.step <= 0.0
    {
        return Err(PolicyError::Invalid(format!(
            "[knobs.{name}]: value, range and step do not fit together"
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
    })
}

fn lets(
    table: toml::Table,
    vocabulary: &mut Vocabulary,
) -> Result<Vec<(String, Expr)>, PolicyError> {
    let mut lets = Vec::new();
    let mut sizes = BTreeMap::new();
    for (name, value) in table {
        let place = format!("[let] {name}");
        let text = value.as_str().ok_or_else(|| {
            PolicyError::Invalid(format!("{place}: expected an expression in quotes"))
        })?;
        let (expr, found) = Expr::parse_any(text, vocabulary).map_err(at(&place))?;
        // A run writes each name out: doubling it a few dozen times would fill the memory.
        let written_out = expr.written_out(&sizes);
        if written_out > MOST_NODES {
            return Err(PolicyError::Invalid(format!(
                "{place}: too long once written out"
            )));
        }
        sizes.insert(name.clone(), written_out);
        vocabulary.names.insert(name.clone(), found);
        lets.push((name, expr));
    }
    Ok(lets)
}

fn stage(stage: StageToml, vocabulary: &Vocabulary) -> Result<Stage, PolicyError> {
    let place = format!("stage '{}'", stage.id);
    let number = |text: &str| Expr::parse(text, Type::Number, vocabulary).map_err(at(&place));
    let keep: Vec<Keep> = stage
        .take
        .keep
        .iter()
        .map(|k| keep(k, vocabulary, &place))
        .collect::<Result<_, _>>()?;
    let action = match stage.action {
        ActionToml::Clear { marker } => Action::Clear(Clear {
            marker: marker.into(),
        }),
        ActionToml::Drop(drop) => Action::Drop(drop),
        ActionToml::Summarize { max_tokens, prefix } => Action::Summarize(Summarize {
            max_tokens: number(&max_tokens)?,
            prefix,
        }),
    };
    let wanted = if matches!(action, Action::Clear(_)) {
        What::ToolResults
    } else {
        What::Messages
    };
    if stage.take.what != wanted {
        return Err(PolicyError::Invalid(format!(
            "{place}: `{}` cannot take that",
            action.name()
        )));
    }
    refuse_idle_rules(&keep, wanted, &place)?;
    Ok(Stage {
        at: stage.at,
        when: Expr::parse(&stage.when, Type::Truth, vocabulary).map_err(at(&place))?,
        take: Take {
            what: stage.take.what,
            keep,
            boundary: stage.take.boundary,
        },
        action,
        guard: Guard {
            min_saved: stage.guard.min_saved.as_deref().map(number).transpose()?,
            must_shrink: stage.guard.must_shrink,
            cooldown: number(stage.guard.cooldown.as_deref().unwrap_or("0"))?,
        },
        id: stage.id,
    })
}

/// A rule that would have no effect is a mistake of the preset.
fn refuse_idle_rules(keep: &[Keep], what: What, place: &str) -> Result<(), PolicyError> {
    let is_idle = |keep: &Keep| match what {
        What::Messages => matches!(keep, Keep::LastToolTokens(_)),
        What::ToolResults => matches!(keep, Keep::System | Keep::FirstUser),
    };
    if keep.iter().any(is_idle) {
        let what = "a rule of `keep` has no effect on what this stage takes";
        return Err(PolicyError::Invalid(format!("{place}: {what}")));
    }
    Ok(())
}

/// `system`, or a rule with an expression in parentheses: `last_messages(keep_recent)`.
fn keep(text: &str, vocabulary: &Vocabulary, place: &str) -> Result<Keep, PolicyError> {
    let (rule, argument) = match text
        .split_once('(')
        .and_then(|(rule, rest)| Some((rule, rest.strip_suffix(')')?)))
    {
        Some((rule, argument)) => (rule, Some(argument)),
        None => (text, None),
    };
    let number = |text: &str| Expr::parse(text, Type::Number, vocabulary).map_err(at(place));
    match (rule, argument) {
        ("system", None) => Ok(Keep::System),
        ("first_user", None) => Ok(Keep::FirstUser),
        ("last_messages", Some(n)) => Ok(Keep::LastMessages(number(n)?)),
        ("last_turns", Some(n)) => Ok(Keep::LastTurns(number(n)?)),
        ("last_tokens", Some(n)) => Ok(Keep::LastTokens(number(n)?)),
        ("last_tool_tokens", Some(n)) => Ok(Keep::LastToolTokens(number(n)?)),
        _ => Err(PolicyError::Invalid(format!(
            "{place}: no rule for keeping is written `{text}`"
        ))),
    }
}

fn at(place: &str) -> impl Fn(ExprError) -> PolicyError {
    move |error| PolicyError::Expr {
        place: place.to_owned(),
        error,
    }
}

fn distinct(ids: &[String]) -> Result<(), PolicyError> {
    let doubled = ids
        .iter()
        .enumerate()
        .find(|(i, id)| ids[..*i].contains(id));
    doubled.map_or(Ok(()), |(_, id)| {
        Err(PolicyError::Invalid(format!(
            "two stages have the id '{id}'"
        )))
    })
}
