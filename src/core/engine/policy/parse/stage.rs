//! The section of a preset that defines its stages.

use super::take::{TakeToml, results, take};
use super::{at, invalid};
use crate::engine::expr::{Expr, Type, Vocabulary};
use crate::engine::named::Registry;
use crate::engine::policy::PolicyError;
use crate::engine::policy::stages::{
    Action, Clear, Cut, Dedupe, Drop, Guard, Log, LogPiece, Mutates, Named, Repair, Stage,
    Summarize, Take, Unit,
};
use crate::engine::vocabulary::{Hook, SummaryPosition};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageToml {
    pub(super) id: String,
    at: Hook,
    when: String,
    compares: Option<String>,
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
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ActionToml {
    Clear {
        marker: String,
    },
    Cut(CutToml),
    Dedupe {
        pointer: String,
    },
    Drop(Drop),
    Log(String),
    Summarize {
        max_tokens: String,
        prefix: String,
        #[serde(default = "default_prompt")]
        prompt: String,
        #[serde(default)]
        place: SummaryPosition,
        #[serde(default)]
        opaque: bool,
        #[serde(default = "zero")]
        added: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CutToml {
    unit: Unit,
    over: String,
    keep: String,
    lines: Option<String>,
    head: f64,
    marker: String,
    #[serde(default)]
    spill: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GuardToml {
    min_saved: Option<String>,
    must_shrink: bool,
    cooldown: Option<String>,
    cold: Option<String>,
}

pub(super) fn stage(
    stage: StageToml,
    vocabulary: &Vocabulary,
    registry: &Registry,
) -> Result<Stage, PolicyError> {
    let place = format!("stage '{}'", stage.id);
    let number = |text: &str| Expr::parse(text, Type::Number, vocabulary).map_err(at(&place));
    let action = action(stage.action, vocabulary, registry, &place)?;
    let is_for_results = stage.at == Hook::ToolResult;
    if is_for_results && !action.acts_on_new_results() {
        return Err(invalid(
            &place,
            "`at = \"tool_result\"` supports only `cut` and named actions",
        ));
    }
    let take = match stage.take {
        None if is_for_results || action.takes().is_none() => Take::EVERYTHING,
        None => return Err(invalid(&place, "`take` is missing")),
        Some(given) if is_for_results && action.takes().is_some() => results(given, &place)?,
        Some(given) => take(given, &action, vocabulary, &place)?,
    };
    Ok(Stage {
        at: stage.at,
        when: Expr::parse(&stage.when, Type::Truth, vocabulary).map_err(at(&place))?,
        compares: stage.compares.as_deref().map(number).transpose()?,
        take,
        action,
        guard: Guard {
            min_saved: stage.guard.min_saved.as_deref().map(number).transpose()?,
            must_shrink: stage.guard.must_shrink,
            cooldown: number(stage.guard.cooldown.as_deref().unwrap_or("0"))?,
            cold: stage.guard.cold.as_deref().map(number).transpose()?,
        },
        mutates: stage.mutates,
        repair: stage.repair,
        delay: stage.delay.as_deref().map(number).transpose()?,
        id: stage.id,
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
    let action: ActionToml =
        table.try_into().map_err(|e| PolicyError::Toml(format!("{place}: {e}")))?;
    Ok(match action {
        ActionToml::Clear { marker } => Action::Clear(Clear { marker: marker.into() }),
        ActionToml::Cut(settings) => Action::Cut(cut(settings, vocabulary, place)?),
        ActionToml::Dedupe { pointer } => Action::Dedupe(Dedupe { pointer: pointer.into() }),
        ActionToml::Drop(drop) => Action::Drop(drop),
        ActionToml::Log(line) => Action::Log(log(&line, vocabulary, place)?),
        ActionToml::Summarize { max_tokens, prefix, prompt, place: position, opaque, added } => {
            Action::Summarize(Summarize {
                max_tokens: Expr::parse(&max_tokens, Type::Number, vocabulary)
                    .map_err(at(place))?,
                prefix,
                prompt,
                place: position,
                is_opaque: opaque,
                added: Expr::parse(&added, Type::Number, vocabulary).map_err(at(place))?,
            })
        }
    })
}

fn cut(cut: CutToml, vocabulary: &Vocabulary, place: &str) -> Result<Cut, PolicyError> {
    let number = |text: &str| Expr::parse(text, Type::Number, vocabulary).map_err(at(place));
    if !(0.0..=1.0).contains(&cut.head) || (cut.lines.is_some() && cut.head != 1.0) {
        let what = "`head` must be a share from 0 to 1, and 1 if `lines` is set";
        return Err(invalid(place, what));
    }
    Ok(Cut {
        unit: cut.unit,
        over: number(&cut.over)?,
        keep: number(&cut.keep)?,
        lines: cut.lines.as_deref().map(number).transpose()?,
        head: cut.head,
        marker: cut.marker.into(),
        spills: cut.spill,
    })
}

/// Maximum number of decimals of a value in a log line: as many digits as an `f64` always holds.
const MAX_DECIMALS: usize = 15;

/// Parses a log line with expressions in braces, each with its number of decimals: `{used / usable:.1}` (default: 0).
fn log(line: &str, vocabulary: &Vocabulary, place: &str) -> Result<Log, PolicyError> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((text, more)) = rest.split_once('{') {
        let Some((inside, behind)) = more.split_once('}') else {
            return Err(invalid(place, &format!("`{{{more}` has no closing brace")));
        };
        let (value, decimals) = inside.rsplit_once(":.").unwrap_or((inside, "0"));
        let decimals = decimals.parse().ok().filter(|n| *n <= MAX_DECIMALS);
        let decimals = decimals.ok_or_else(|| {
            let what = format!("`{{{inside}}}`: decimals are a number from 0 to {MAX_DECIMALS}");
            invalid(place, &what)
        })?;
        let value = Expr::parse(value, Type::Number, vocabulary).map_err(at(place))?;
        pieces.push(LogPiece::Text(text.to_owned()));
        pieces.push(LogPiece::Value(value, decimals));
        rest = behind;
    }
    pieces.push(LogPiece::Text(rest.to_owned()));
    Ok(Log { pieces })
}

/// Returns the default prompt of a summary.
fn default_prompt() -> String {
    "summarize".to_owned()
}

fn zero() -> String {
    "0".to_owned()
}

/// Parses `named` and its numbers, each an expression. The action itself parses the other keys of the table.
fn named(
    mut table: toml::Table,
    vocabulary: &Vocabulary,
    registry: &Registry,
    place: &str,
) -> Result<Named, PolicyError> {
    let name = table.remove("named");
    let name = name.as_ref().and_then(toml::Value::as_str).unwrap_or("");
    let spec = registry.actions.iter().copied().flatten().find(|a| a.name == name);
    let spec = spec.ok_or_else(|| invalid(place, &format!("unknown action `{name}`")))?;
    let has_answer_tokens = table.contains_key("answer_tokens");
    let mut number = |key: &str| {
        let text = match table.remove(key) {
            Some(toml::Value::String(text)) => text,
            Some(toml::Value::Integer(n)) => n.to_string(),
            Some(toml::Value::Float(n)) => n.to_string(),
            _ => {
                return Err(invalid(place, &format!("`{name}` needs the number `{key}`")));
            }
        };
        Expr::parse(&text, Type::Number, vocabulary).map_err(at(place))
    };
    let answer_tokens = has_answer_tokens.then(|| number("answer_tokens")).transpose()?;
    let numbers = spec
        .numbers
        .iter()
        .map(|key| Ok((*key, number(key)?)))
        .collect::<Result<_, PolicyError>>()?;
    let rewrite = (spec.make)(&table).map_err(|why| invalid(place, &why))?;
    Ok(Named { spec, rewrite, numbers, answer_tokens })
}
