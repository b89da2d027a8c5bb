//! The section of a stage that defines which content it takes and keeps.

use super::at;
use super::stage::invalid;
use crate::engine::expr::{Expr, Type, Vocabulary};
use crate::engine::policy::PolicyError;
use crate::engine::policy::stages::{Action, Boundary, Keep, Results, Take, TakeKind};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TakeToml {
    what: TakeKind,
    #[serde(default)]
    keep: Vec<String>,
    boundary: Option<Boundary>,
    oldest: Option<String>,
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    repeated: bool,
}

pub(super) fn take(
    take: TakeToml,
    action: &Action,
    vocabulary: &Vocabulary,
    place: &str,
) -> Result<Take, PolicyError> {
    let number = |text: &str| Expr::parse(text, Type::Number, vocabulary).map_err(at(place));
    let keep: Vec<Keep> = take
        .keep
        .iter()
        .map(|k| keep(k, vocabulary, place))
        .collect::<Result<_, _>>()?;
    let Some(kind) = action.takes() else {
        return Err(invalid(place, "this action does not support `take`"));
    };
    if take.what != kind {
        let what = format!("`{}` cannot take that", action.kind());
        return Err(invalid(place, &what));
    }
    let results = Results {
        only: take.only,
        except: take.except,
        repeated: take.repeated,
    };
    let is_idle = match kind {
        TakeKind::Messages => results != Results::ALL,
        TakeKind::ToolResults => take.oldest.is_some(),
    };
    if is_idle {
        let what =
            "`only`, `except` and `repeated` are about tool results, `oldest` about messages";
        return Err(invalid(place, what));
    }
    refuse_idle_rules(&keep, kind, place)?;
    Ok(Take {
        what: take.what,
        keep,
        boundary: take.boundary.unwrap_or_default(),
        oldest: take.oldest.as_deref().map(number).transpose()?,
        results,
    })
}

/// Parses the results that a stage at `tool_result` applies to.
pub(super) fn results(take: TakeToml, place: &str) -> Result<Take, PolicyError> {
    let is_plain = take.keep.is_empty() && take.oldest.is_none() && take.boundary.is_none();
    if take.what != TakeKind::ToolResults || !is_plain || take.repeated {
        let what = "at `tool_result` only `only` and `except` are supported";
        return Err(invalid(place, what));
    }
    Ok(Take {
        what: TakeKind::ToolResults,
        results: Results {
            only: take.only,
            except: take.except,
            repeated: false,
        },
        ..Take::EVERYTHING
    })
}

/// Rejects a rule that would have no effect: it is a mistake in the preset.
fn refuse_idle_rules(keep: &[Keep], what: TakeKind, place: &str) -> Result<(), PolicyError> {
    let is_idle = |keep: &Keep| match what {
        TakeKind::Messages => matches!(keep, Keep::LastToolTokens(_) | Keep::LastResults(_)),
        TakeKind::ToolResults => matches!(
            keep,
            Keep::System
                | Keep::FirstUser
                | Keep::FirstMessages(_)
                | Keep::LastAnswers(_)
                | Keep::LastUser
                | Keep::UserTokens(_)
        ),
    };
    if keep.iter().any(is_idle) {
        let what = "a rule of `keep` has no effect on what this stage takes";
        return Err(PolicyError::Invalid(format!("{place}: {what}")));
    }
    Ok(())
}

/// Parses `system`, or a rule with an expression in parentheses: `last_messages(keep_recent)`.
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
        ("last_user", None) => Ok(Keep::LastUser),
        ("first_messages", Some(n)) => Ok(Keep::FirstMessages(number(n)?)),
        ("last_messages", Some(n)) => Ok(Keep::LastMessages(number(n)?)),
        ("last_turns", Some(n)) => Ok(Keep::LastTurns(number(n)?)),
        ("last_answers", Some(n)) => Ok(Keep::LastAnswers(number(n)?)),
        ("last_tokens", Some(n)) => Ok(Keep::LastTokens(number(n)?)),
        ("last_results", Some(n)) => Ok(Keep::LastResults(number(n)?)),
        ("last_tool_tokens", Some(n)) => Ok(Keep::LastToolTokens(number(n)?)),
        ("user_tokens", Some(n)) => Ok(Keep::UserTokens(number(n)?)),
        _ => Err(PolicyError::Invalid(format!(
            "{place}: unknown `keep` rule `{text}`"
        ))),
    }
}
