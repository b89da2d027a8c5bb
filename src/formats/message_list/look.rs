//! A look at what a file lists, for the formats to tell whether it is theirs.

use super::layout::BODIES;
use crate::formats::{Probe, json};
use serde_json::Value;

/// What a file lists.
#[derive(Debug)]
pub(in crate::formats) struct Look<'a> {
    /// How the messages stand in the file, for people.
    pub(in crate::formats) how: &'static str,
    /// The objects that have a list of messages.
    pub(in crate::formats) bodies: Vec<&'a Value>,
    /// The messages, of all conversations looked at.
    pub(in crate::formats) messages: Vec<&'a Value>,
}

/// What the file lists, if it lists messages and is no other agent's session.
pub(in crate::formats) fn look(probe: &Probe) -> Option<Look<'_>> {
    let document = probe.document();
    // This agent's files are plain messages with their answers' usage.
    let is_mini_swe = document.is_some_and(|d| d.get("trajectory_format").is_some());
    if probe.unsupported().is_some() && !is_mini_swe {
        return None;
    }
    let look = match document {
        Some(value) => of_value(value)?,
        None => of_records(probe.records().iter().map(|r| &r.value).collect())?,
    };
    (!look.messages.is_empty()).then_some(look)
}

/// Whether a value may be a message: an object with a role.
pub(in crate::formats) fn is_message(value: &Value) -> bool {
    json::str_at(value, &["role"]).is_some()
}

fn of_value(value: &Value) -> Option<Look<'_>> {
    if is_message(value) {
        return Some(Look {
            how: "a single message",
            bodies: Vec::new(),
            messages: vec![value],
        });
    }
    if let Some(body) = body(value) {
        return Some(Look {
            how: "an object with `messages`",
            bodies: vec![body],
            messages: listed(body).collect(),
        });
    }
    let list = value.as_array()?;
    if !list.is_empty() && list.iter().all(is_message) {
        return Some(Look {
            how: "a list of messages",
            bodies: Vec::new(),
            messages: list.iter().collect(),
        });
    }
    let mut look = conversations(list.iter())?;
    look.how = "a list of conversations";
    Some(look)
}

fn of_records(records: Vec<&Value>) -> Option<Look<'_>> {
    if records.iter().all(|r| is_message(r)) {
        return Some(Look {
            how: "JSON Lines with a message on each",
            bodies: Vec::new(),
            messages: records,
        });
    }
    conversations(records.into_iter())
}

/// Every value is a conversation.
fn conversations<'a>(values: impl Iterator<Item = &'a Value>) -> Option<Look<'a>> {
    let how = "JSON Lines with a conversation on each";
    let mut look = Look {
        how,
        bodies: Vec::new(),
        messages: Vec::new(),
    };
    for value in values {
        match (body(value), value.as_array()) {
            (Some(body), _) => {
                look.bodies.push(body);
                look.messages.extend(listed(body));
            }
            (None, Some(list)) if list.iter().all(is_message) => look.messages.extend(list),
            _ => return None,
        }
    }
    Some(look)
}

/// The object that has the list.
fn body(value: &Value) -> Option<&Value> {
    let has_list = |body: &&Value| body.get("messages").is_some_and(Value::is_array);
    BODIES
        .iter()
        .filter_map(|path| json::at(value, path))
        .find(has_list)
}

fn listed(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("messages")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}
