//! A look at what a file lists, for the formats to tell whether it is theirs.

use super::layout::BODIES;
use super::shape::{MOST_BROKEN, Shape, is_broken};
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
pub(in crate::formats) fn look<'a>(probe: &'a Probe, shape: &Shape) -> Option<Look<'a>> {
    if probe.unsupported().is_some() {
        return None;
    }
    let look = match probe.document() {
        Some(value) => of_value(value, shape)?,
        None => of_records(probe.records().iter().map(|r| &r.value).collect(), shape)?,
    };
    (!look.messages.is_empty()).then_some(look)
}

fn of_value<'a>(value: &'a Value, shape: &Shape) -> Option<Look<'a>> {
    if shape.is_marked(value) {
        return Some(Look {
            how: "a single message",
            bodies: Vec::new(),
            messages: vec![value],
        });
    }
    if let Some((body, listed)) = body(value, shape) {
        return Some(Look {
            how: "an object with `messages`",
            bodies: vec![body],
            messages: sound(listed.iter()),
        });
    }
    let list = value.as_array()?;
    if shape.is_list(list.iter()) {
        return Some(Look {
            how: "a list of messages",
            bodies: Vec::new(),
            messages: sound(list.iter()),
        });
    }
    let mut look = conversations(list.iter(), shape)?;
    look.how = "a list of conversations";
    Some(look)
}

fn of_records<'a>(records: Vec<&'a Value>, shape: &Shape) -> Option<Look<'a>> {
    if shape.is_list(records.iter().copied()) {
        return Some(Look {
            how: "JSON Lines with a message on each",
            bodies: Vec::new(),
            messages: sound(records.into_iter()),
        });
    }
    conversations(records.into_iter(), shape)
}

/// The messages by which a list is judged: without damaged ones, if they are few.
fn sound<'a>(list: impl Iterator<Item = &'a Value>) -> Vec<&'a Value> {
    let all: Vec<&Value> = list.collect();
    let sound: Vec<&Value> = all.iter().copied().filter(|m| !is_broken(m)).collect();
    let n_broken = all.len() - sound.len();
    if n_broken * MOST_BROKEN <= all.len() {
        sound
    } else {
        all
    }
}

/// Every value is a conversation.
fn conversations<'a>(values: impl Iterator<Item = &'a Value>, shape: &Shape) -> Option<Look<'a>> {
    let how = "JSON Lines with a conversation on each";
    let mut look = Look {
        how,
        bodies: Vec::new(),
        messages: Vec::new(),
    };
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

/// The object that has the list, and the list.
fn body<'a>(value: &'a Value, shape: &Shape) -> Option<(&'a Value, &'a Vec<Value>)> {
    BODIES.iter().find_map(|path| {
        let body = json::at(value, path)?;
        Some((body, shape.list(body)?))
    })
}
