//! The section of a stage that defines which content it takes and keeps.

use super::{at, invalid};
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
    let keep: Vec<Keep> =
        take.keep.iter().map(|k| keep(k, vocabulary, place)).collect::<Result<_, _>>()?;
    let Some(kind) = action.takes() else {
        return Err(invalid(place, "this action does not support `take`"));
    };
    if take.what != kind {
        let (action, given) = (action.kind(), take.what.name());
        let what = format!("`{action}` takes {}, not {given}", kind.name());
        return Err(invalid(place, &what));
    }
    let results = Results { only: take.only, except: take.except, repeated: take.repeated };
    let is_idle = match kind {
        TakeKind::Messages => results != Results::ALL,
        TakeKind::ToolResults => take.oldest.is_some(),
    };
    if is_idle {
        let what = "`only`, `except` and `repeated` select tool results, `oldest` selects messages";
        return Err(invalid(place, what));
    }
    refuse_idle_rules(&take.keep, &keep, kind, place)?;
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
        let what = "`take` at `tool_result` supports only `only` and `except`";
        return Err(invalid(place, what));
    }
    Ok(Take {
        what: TakeKind::ToolResults,
        results: Results { only: take.only, except: take.except, repeated: false },
        ..Take::EVERYTHING
    })
}

/// Rejects a rule that would have no effect, which is a mistake in the preset. `texts` are the rules as written.
fn refuse_idle_rules(
    texts: &[String],
    keep: &[Keep],
    kind: TakeKind,
    place: &str,
) -> Result<(), PolicyError> {
    let idle = texts.iter().zip(keep).find(|(_, keep)| !keep.applies_to(kind));
    idle.map_or(Ok(()), |(text, _)| {
        let what = format!("the `keep` rule `{text}` has no effect on {}", kind.name());
        Err(invalid(place, &what))
    })
}

/// Parses `system`, or a rule with an expression in parentheses: `last_messages(keep_recent)`.
fn keep(text: &str, vocabulary: &Vocabulary, place: &str) -> Result<Keep, PolicyError> {
    let (rule, argument) =
        match text.split_once('(').and_then(|(rule, rest)| Some((rule, rest.strip_suffix(')')?))) {
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
        _ => Err(invalid(place, &format!("unknown `keep` rule `{text}`"))),
    }
}
