//! The part of a preset that says what it does: its stages.

use super::at;
use crate::engine::expr::{Expr, Type, Vocabulary};
use crate::engine::policy::PolicyError;
use crate::engine::rewrite::Registry;
use crate::engine::stages::{
    Action, Boundary, Clear, Drop, Guard, Hook, Keep, Log, Mutates, Named, Repair, Stage,
    Summarize, Take, What,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageToml {
    pub(super) id: String,
    at: Hook,
    when: String,
    take: Option<TakeToml>,
    #[serde(rename = "do")]
    action: toml::Table,
    #[serde(default)]
    guard: GuardToml,
    #[serde(default)]
    mutates: Mutates,
    #[serde(default)]
    repair: Repair,
    delay: Option<String>,
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
    Clear {
        marker: String,
    },
    Drop(Drop),
    Log(String),
    Summarize {
        max_tokens: String,
        prefix: String,
        #[serde(default = "default_prompt")]
        prompt: String,
    },
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GuardToml {
    min_saved: Option<String>,
    must_shrink: bool,
    cooldown: Option<String>,
}

pub(super) fn stage(
    stage: StageToml,
    vocabulary: &Vocabulary,
    registry: &Registry,
) -> Result<Stage, PolicyError> {
    let place = format!("stage '{}'", stage.id);
    let number = |text: &str| Expr::parse(text, Type::Number, vocabulary).map_err(at(&place));
    let action = action(stage.action, vocabulary, registry, &place)?;
    let take = match (stage.take, &action) {
        (None, Action::Named(_) | Action::Log(_)) => Take::EVERYTHING,
        (Some(take), Action::Clear(_) | Action::Drop(_) | Action::Summarize(_)) => {
            self::take(&take, &action, vocabulary, &place)?
        }
        (None, _) => return Err(invalid(&place, "`take` is missing")),
        (Some(_), _) => {
            return Err(invalid(
                &place,
                "this action takes nothing, or what it wants itself",
            ));
        }
    };
    Ok(Stage {
        at: stage.at,
        when: Expr::parse(&stage.when, Type::Truth, vocabulary).map_err(at(&place))?,
        take,
        action,
        guard: Guard {
            min_saved: stage.guard.min_saved.as_deref().map(number).transpose()?,
            must_shrink: stage.guard.must_shrink,
            cooldown: number(stage.guard.cooldown.as_deref().unwrap_or("0"))?,
        },
        mutates: stage.mutates,
        repair: stage.repair,
        delay: stage.delay.as_deref().map(number).transpose()?,
        id: stage.id,
    })
}

fn take(
    take: &TakeToml,
    action: &Action,
    vocabulary: &Vocabulary,
    place: &str,
) -> Result<Take, PolicyError> {
    let keep: Vec<Keep> = take
        .keep
        .iter()
        .map(|k| keep(k, vocabulary, place))
        .collect::<Result<_, _>>()?;
    let wanted = if matches!(action, Action::Clear(_)) {
        What::ToolResults
    } else {
        What::Messages
    };
    if take.what != wanted {
        let what = format!("`{}` cannot take that", action.name());
        return Err(invalid(place, &what));
    }
    refuse_idle_rules(&keep, wanted, place)?;
    Ok(Take {
        what: take.what,
        keep,
        boundary: take.boundary,
    })
}

fn action(
    table: toml::Table,
    vocabulary: &Vocabulary,
    registry: &Registry,
    place: &str,
) -> Result<Action, PolicyError> {
    if table.contains_key("named") {
        return named(table, vocabulary, registry, place).map(Action::Named);
    }
    let action: ActionToml = table
        .try_into()
        .map_err(|e| PolicyError::Toml(format!("{place}: {e}")))?;
    Ok(match action {
        ActionToml::Clear { marker } => Action::Clear(Clear {
            marker: marker.into(),
        }),
        ActionToml::Drop(drop) => Action::Drop(drop),
        ActionToml::Log(line) => Action::Log(Log::parse(&line, |text| {
            Expr::parse(text, Type::Number, vocabulary).map_err(at(place))
        })?),
        ActionToml::Summarize {
            max_tokens,
            prefix,
            prompt,
        } => Action::Summarize(Summarize {
            max_tokens: Expr::parse(&max_tokens, Type::Number, vocabulary).map_err(at(place))?,
            prefix,
            prompt,
        }),
    })
}

/// The prompt of a summary unless a preset names another.
fn default_prompt() -> String {
    "summarize".to_owned()
}

/// `named` and its numbers, each an expression; what else the table holds is for the action itself to read.
fn named(
    mut table: toml::Table,
    vocabulary: &Vocabulary,
    registry: &Registry,
    place: &str,
) -> Result<Named, PolicyError> {
    let name = table.remove("named");
    let name = name.as_ref().and_then(toml::Value::as_str).unwrap_or("");
    let spec = registry
        .actions
        .iter()
        .copied()
        .flatten()
        .find(|a| a.name == name);
    let spec = spec.ok_or_else(|| invalid(place, &format!("no action is named `{name}`")))?;
    let mut number = |key: &str, default: Option<&str>| {
        let given = table.remove(key);
        let text = match (&given, default) {
            (Some(toml::Value::String(text)), _) => text.clone(),
            (Some(toml::Value::Integer(n)), _) => n.to_string(),
            (Some(toml::Value::Float(n)), _) => n.to_string(),
            (None, Some(default)) => default.to_owned(),
            _ => {
                return Err(invalid(
                    place,
                    &format!("`{name}` needs the number `{key}`"),
                ));
            }
        };
        Expr::parse(&text, Type::Number, vocabulary).map_err(at(place))
    };
    let answer_tokens = number("answer_tokens", Some(USUAL_SUMMARY))?;
    let numbers = spec
        .numbers
        .iter()
        .map(|key| Ok((*key, number(key, None)?)))
        .collect::<Result<_, PolicyError>>()?;
    let rewrite = (spec.make)(&table).map_err(|why| invalid(place, &why))?;
    Ok(Named {
        spec,
        rewrite,
        numbers,
        answer_tokens,
    })
}

fn invalid(place: &str, what: &str) -> PolicyError {
    PolicyError::Invalid(format!("{place}: {what}"))
}

/// Tokens that a summary is taken to weigh in a simulation where neither the system nor the preset limits it.
const USUAL_SUMMARY: &str = "1024";

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
