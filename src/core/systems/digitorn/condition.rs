//! Conditions of hooks.

use super::turn_state::TurnState;
use crate::json::{Map, Value};
use crate::languages::python::{PythonError, as_number, class_of};

/// Maximum nesting depth of conditions that are evaluated.
// Chosen far above the depth of a condition that somebody writes. The original has no limit but that of Python, about
// 1,000 calls.
const MAX_DEPTH: usize = 64;

/// Returns whether a condition is true; `None` if its name is unknown. Composite conditions log to `log`.
///
/// # Errors
/// As the original raises, on parameters of another type.
pub fn holds(
    kind: &str,
    params: &Map<String, Value>,
    state: &mut TurnState,
    log: &mut Vec<String>,
) -> Option<Result<bool, PythonError>> {
    evaluate(kind, params, state, log, 0)
}

fn evaluate(
    kind: &str,
    params: &Map<String, Value>,
    state: &mut TurnState,
    log: &mut Vec<String>,
    depth: usize,
) -> Option<Result<bool, PythonError>> {
    let mut nested = |value: &Value| is_nested_true(value, state, log, depth + 1);
    Some(match kind {
        "always" => Ok(true),
        "never" => Ok(false),
        "all_of" => Ok(inner(params).is_some_and(|list| list.iter().all(&mut nested))),
        "any_of" => Ok(inner(params).is_some_and(|list| list.iter().any(&mut nested))),
        "not" => Ok(params
            .get("condition")
            .filter(|c| c.is_object())
            .is_some_and(|condition| !nested(condition))),
        "context_pressure" => reaches(state.token_pressure(), params, 0.75, "float"),
        "turn_count" => turn_count(state, params),
        "tool_calls" => reaches(Ok(state.tool_calls as f64), params, 20.0, "int"),
        "message_count" => reaches(Ok(state.messages.len() as f64), params, 50.0, "int"),
        _ => return None,
    })
}

/// `params.get("conditions") or []`, if it is a list.
fn inner(params: &Map<String, Value>) -> Option<&[Value]> {
    match params.get("conditions") {
        Some(Value::Array(list)) => Some(list),
        Some(other) if crate::languages::python::is_true(other) => None,
        _ => Some(&[]),
    }
}

/// Evaluates a nested condition: unknown ones and those that raise are false.
fn is_nested_true(
    value: &Value,
    state: &mut TurnState,
    log: &mut Vec<String>,
    depth: usize,
) -> bool {
    let Value::Object(condition) = value else {
        return false;
    };
    let kind = condition.get("type").and_then(Value::as_str);
    let Some(kind) = kind.filter(|kind| !kind.is_empty() && depth < MAX_DEPTH) else {
        return false;
    };
    let mut params = condition.clone();
    params.shift_remove("type");
    match evaluate(kind, &params, state, log, depth) {
        Some(Ok(holds)) => holds,
        Some(Err(raised)) => {
            let why = raised.text;
            log.push(format!("composite_condition: '{kind}' error: {why}"));
            false
        }
        None => {
            log.push(format!("composite_condition: unknown inner type '{kind}'"));
            false
        }
    }
}

/// `value >= params.get("threshold", default)`.
fn reaches(
    value: Result<f64, PythonError>,
    params: &Map<String, Value>,
    default: f64,
    class: &str,
) -> Result<bool, PythonError> {
    let least = params.get("threshold").map_or(Ok(default), |threshold| {
        as_number(threshold).ok_or_else(|| cannot_compare(">=", class, threshold))
    })?;
    Ok(value? >= least)
}

fn cannot_compare(operator: &str, class: &str, value: &Value) -> PythonError {
    let other = class_of(value);
    PythonError::of_type(format!(
        "'{operator}' not supported between instances of '{class}' and '{other}'"
    ))
}

/// With `every`: each such turn except the first. Without: every turn from the threshold on.
fn turn_count(state: &TurnState, params: &Map<String, Value>) -> Result<bool, PythonError> {
    let every = params.get("every").map_or(Ok(0.0), |every| {
        let class = class_of(every);
        let mismatch = format!("'>' not supported between instances of '{class}' and 'int'");
        as_number(every).ok_or_else(|| PythonError::of_type(mismatch))
    })?;
    let turn = state.turn as f64;
    if every > 0.0 {
        return Ok(turn > 0.0 && turn % every == 0.0);
    }
    reaches(Ok(turn), params, 10.0, "int")
}
