//! The arguments of tool calls: commands, paths, plans. Their names differ between agents.

use crate::json::Value;
use crate::session::{COMMAND_KEYS, PATH_KEYS};

/// Arguments with the items of a plan.
const PLAN: [&str; 5] = ["items", "plan", "steps", "tasks", "todos"];
/// Keys of an item's text.
const ITEM_TEXT: [&str; 6] = ["content", "description", "step", "subject", "text", "title"];
/// States of an item that is done.
const DONE: [&str; 5] = ["cancelled", "complete", "completed", "done", "finished"];

/// An item of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlanItem {
    pub(super) text: String,
    pub(super) is_done: bool,
}

/// Returns the command line of a call. A list of a shell, a flag and a command line is that command line.
pub(crate) fn command(arguments: &Value) -> Option<String> {
    let found = first(arguments, &COMMAND_KEYS)?;
    match found {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [shell, flag, command] if shell.ends_with("sh") && flag.starts_with('-') => {
                    Some((*command).to_owned())
                }
                _ => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

/// Returns the path that a call names.
pub(crate) fn path(arguments: &Value) -> Option<&str> {
    first(arguments, &PATH_KEYS).and_then(Value::as_str)
}

/// Returns the command or the path of a call, or its first text.
pub(crate) fn target(arguments: &Value) -> Option<String> {
    let path = || path(arguments).map(str::to_owned);
    let text = || {
        let fields = arguments.as_object()?.values();
        fields.into_iter().find_map(Value::as_str).map(str::to_owned)
    };
    command(arguments).or_else(path).or_else(text)
}

/// Returns the items of a plan that a call writes.
pub(super) fn plan(arguments: &Value) -> Vec<PlanItem> {
    let items = first(arguments, &PLAN);
    let items = items.and_then(Value::as_array).into_iter().flatten();
    let items = items.filter_map(|item| {
        let text = first(item, &ITEM_TEXT)?.as_str()?.trim().to_owned();
        let status = item.get("status").or_else(|| item.get("state"));
        let status = status.and_then(Value::as_str)?;
        let is_done = DONE.contains(&status.to_lowercase().as_str());
        (!text.is_empty()).then_some(PlanItem { text, is_done })
    });
    items.collect()
}

/// Returns the first value of one of these keys, also within objects.
fn first<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    let fields = value.as_object()?;
    let here = keys.iter().find_map(|key| fields.get(*key));
    here.or_else(|| fields.values().find_map(|field| first(field, keys)))
}

#[cfg(test)]
mod tests {
    use super::{PlanItem, command, plan};
    use crate::json::json;

    #[test]
    fn commands_and_plans_of_different_agents_are_read() {
        assert_eq!(command(&json!({"command": ["bash", "-lc", "ls"]})).as_deref(), Some("ls"));
        assert_eq!(command(&json!({"args": {"cmd": "ls -l"}})).as_deref(), Some("ls -l"));
        let todos = json!({"todos": [{"content": "Write it", "status": "completed"}, {"content": "Test it", "status": "pending"}]});
        let item = |text: &str, is_done| PlanItem { text: text.to_owned(), is_done };
        assert_eq!(plan(&todos), [item("Write it", true), item("Test it", false)]);
        assert_eq!(
            plan(&json!({"plan": [{"step": "Go", "status": "in_progress"}]})),
            [item("Go", false)]
        );
        assert_eq!(plan(&json!({"items": [1, 2]})), []);
    }
}
