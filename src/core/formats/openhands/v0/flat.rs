//! Events of the first resolvers. The arguments of an action are members of the event itself, without ids and sources.

use crate::formats::json;
use crate::formats::rows::Row;
use crate::json::{Map, Value};

/// Actions that these files contain.
const ACTIONS: [&str; 15] = [
    "message",
    "run",
    "run_ipython",
    "read",
    "write",
    "edit",
    "browse",
    "browse_interactive",
    "delegate",
    "finish",
    "reject",
    "add_task",
    "modify_task",
    "change_agent_state",
    "null",
];
/// Members that hold the program's own notes on an action.
const OWN: [&str; 6] = [
    "action",
    "action_risk",
    "is_confirmed",
    "keep_prompt",
    "kernel_init_code",
    "wait_for_response",
];

/// Returns whether a value is an action in the flat form.
pub(super) fn is_action(value: &Value) -> bool {
    let has = |key| value.get(key).is_some();
    json::str_at(value, &["action"]).is_some_and(|action| ACTIONS.contains(&action))
        && ["thought", "content", "action_risk"].into_iter().any(has)
        && !["args", "role", "observation", "source"].into_iter().any(has)
}

/// Converts flat events to the later form. An observation answers the action before it.
pub(super) fn nest(events: &mut [Row]) {
    let mut latest = None;
    for (at, row) in events.iter_mut().enumerate() {
        let value = &mut row.value;
        if is_action(value) {
            // A message of the model asks for an answer. A message of the user, or of the program on their behalf, does
            // not.
            let is_message = json::str_at(value, &["action"]) == Some("message");
            let is_users = is_message && !json::is_true(value, &["wait_for_response"]);
            nest_action(value, if is_users { "user" } else { "agent" });
            latest = Some(at);
        } else if value.get("observation").is_some()
            && ["id", "cause", "extras"].iter().all(|key| value.get(key).is_none())
            && let (Some(latest), Some(members)) = (latest.take(), value.as_object_mut())
        {
            members.insert("cause".to_owned(), latest.into());
        }
    }
}

fn nest_action(value: &mut Value, source: &str) {
    let Some(members) = value.as_object_mut() else {
        return;
    };
    let (mut nested, args): (Map<String, Value>, Map<String, Value>) =
        std::mem::take(members).into_iter().partition(|(key, _)| OWN.contains(&key.as_str()));
    nested.insert("source".to_owned(), source.into());
    nested.insert("args".to_owned(), args.into());
    *members = nested;
}
