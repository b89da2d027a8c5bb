//! Lists the messages of a file, so that formats can decide whether the file is theirs.

use super::layout::BODIES;
use super::shape::{MESSAGES_PER_BROKEN, Shape, is_broken};
use crate::formats::{Probe, json};
use crate::json::Value;

/// The messages of a file.
#[derive(Debug)]
pub(crate) struct DetectedList<'a> {
    /// Description of how the file stores them.
    pub(crate) how: &'static str,
    /// The objects that contain a list of messages.
    pub(crate) bodies: Vec<&'a Value>,
    /// The messages of all inspected conversations.
    pub(crate) messages: Vec<&'a Value>,
}

/// Lists the messages of a file. Returns `None` for other files and for sessions of other agents.
pub(crate) fn detect_list<'a>(probe: &'a Probe, shape: &Shape) -> Option<DetectedList<'a>> {
    if probe.unsupported().is_some() {
        return None;
    }
    let look = match probe.document() {
        Some(value) => of_value(value, shape)?,
        None => of_records(probe.records().iter().map(|r| &r.value).collect(), shape)?,
    };
    (!look.messages.is_empty()).then_some(look)
}

fn of_value<'a>(value: &'a Value, shape: &Shape) -> Option<DetectedList<'a>> {
    if shape.is_marked(value) {
        return Some(DetectedList {
            how: "a single message",
            bodies: Vec::new(),
            messages: vec![value],
        });
    }
    if let Some((body, listed)) = body(value, shape) {
        return Some(DetectedList {
            how: "an object with `messages`",
            bodies: vec![body],
            messages: sound(listed.iter()),
        });
    }
    let list = value.as_array()?;
    if shape.is_list(list.iter()) {
        return Some(DetectedList {
            how: "a list of messages",
            bodies: Vec::new(),
            messages: sound(list.iter()),
        });
    }
    let mut look = conversations(list.iter(), shape)?;
    look.how = "a list of conversations";
    Some(look)
}

fn of_records<'a>(records: Vec<&'a Value>, shape: &Shape) -> Option<DetectedList<'a>> {
    if shape.is_list(records.iter().copied()) {
        return Some(DetectedList {
            how: "JSON Lines of messages",
            bodies: Vec::new(),
            messages: sound(records.into_iter()),
        });
    }
    conversations(records.into_iter(), shape)
}

/// Returns the messages that identify the format: without damaged ones, if those are few.
fn sound<'a>(list: impl Iterator<Item = &'a Value>) -> Vec<&'a Value> {
    let all: Vec<&Value> = list.collect();
    let sound: Vec<&Value> = all.iter().copied().filter(|m| !is_broken(m)).collect();
    let n_broken = all.len() - sound.len();
    if n_broken * MESSAGES_PER_BROKEN <= all.len() { sound } else { all }
}

/// Lists the messages of values that are all conversations.
fn conversations<'a>(
    values: impl Iterator<Item = &'a Value>,
    shape: &Shape,
) -> Option<DetectedList<'a>> {
    let how = "JSON Lines of conversations";
    let mut look = DetectedList { how, bodies: Vec::new(), messages: Vec::new() };
    for value in values {
        match (body(value, shape), value.as_array()) {
            (Some((body, listed)), _) => {
                look.bodies.push(body);
                look.messages.extend(listed);
            }
            (None, Some(list)) if list.iter().all(|m| shape.is_marked(m)) => {
                look.messages.extend(list);
            }
            _ => return None,
        }
    }
    Some(look)
}

/// Returns the object that contains the list, and the list.
fn body<'a>(value: &'a Value, shape: &Shape) -> Option<(&'a Value, &'a Vec<Value>)> {
    BODIES.iter().find_map(|path| {
        let body = json::at(value, path)?;
        Some((body, shape.list(body)?))
    })
}
