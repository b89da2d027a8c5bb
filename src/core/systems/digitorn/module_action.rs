//! `module_action`: the application calls one of its own tools, with placeholders for the tool of an event.
//!
//! A replay calls nothing: it reports the call.

use super::turn_state::{ToolContext, TurnState};
use crate::json::{Map, Value};
use crate::languages::python::is_true;
use crate::languages::python::{Layout, python_dumps, python_str};

/// Makes the call, if there is a tool and a caller.
pub fn module_action(
    state: &TurnState,
    params: &Map<String, Value>,
    has_tools: bool,
    log: &mut Vec<String>,
) {
    let given = |key: &str| params.get(key).filter(|value| is_true(value));
    let split = || {
        let (module, action) = (given("module")?, given("action")?);
        Some(format!("{}.{}", python_str(module), python_str(action)))
    };
    let Some(name) = given("name").map(python_str).or_else(split) else {
        log.push(
            "hook_module_action: no tool name specified (need either `name: module.action` or `module: + action:`)"
                .to_owned(),
        );
        return;
    };
    if !has_tools {
        log.push("hook_module_action: no context_builder available".to_owned());
        return;
    }
    let arguments = given("action_params").or_else(|| given("params"));
    let arguments = arguments
        .map_or_else(|| Value::Object(Map::new()), |value| render(value, state.tool.as_ref()));
    let arguments = python_dumps(&arguments, Layout::UNICODE);
    log.push(format!("hook_module_action: would call {name}({arguments})"));
}

/// Returns the value with every placeholder resolved; without a tool none is resolved.
pub fn render(value: &Value, tool: Option<&ToolContext>) -> Value {
    match (value, tool) {
        (Value::Array(items), _) => items.iter().map(|item| render(item, tool)).collect(),
        (Value::Object(fields), _) => {
            let fields = fields.iter();
            let fields = fields.map(|(key, field)| (key.clone(), render(field, tool)));
            Value::Object(fields.collect())
        }
        (Value::String(text), Some(tool)) => Value::String(render_text(text, tool)),
        (other, _) => other.clone(),
    }
}

fn render_text(text: &str, tool: &ToolContext) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let inner = from.strip_prefix("{{").unwrap_or_default();
        let end = inner.find(['{', '}']).unwrap_or(inner.len());
        let (reference, after) = inner.split_at(end);
        if let Some(after) = after.strip_prefix("}}") {
            match resolve(reference.trim_matches(crate::languages::python::is_space), tool) {
                Some(value) => out.push_str(&value),
                None => out.push_str(&from[..from.len() - after.len()]),
            }
            rest = after;
        } else {
            out.push('{');
            rest = from.strip_prefix('{').unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

/// Resolves a placeholder; `None` if it is unknown. A path without a value is empty.
fn resolve(reference: &str, tool: &ToolContext) -> Option<String> {
    let at = |root: &Value, path: &str| walk(root, path).map_or_else(String::new, python_str);
    match reference {
        "tool.name" | "tool.fqn" => Some(tool.name.clone()),
        "tool.error" => Some(tool.error.clone().unwrap_or_default()),
        "tool.result" => Some(python_dumps(&tool.result, Layout::UNICODE)),
        _ => match reference.strip_prefix("tool.params.") {
            Some(path) => Some(at(&tool.params, path)),
            None => Some(at(&tool.result, reference.strip_prefix("tool.result.")?)),
        },
    }
}

fn walk<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
    let found = path.split('.').try_fold(root, |value, segment| match value {
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        Value::Object(fields) => fields.get(segment),
        _ => None,
    });
    found.filter(|value| !value.is_null())
}
