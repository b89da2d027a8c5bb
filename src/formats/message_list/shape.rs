//! Where programs keep their list of messages and what tells one of these from anything else.

use super::places::at_path;
use crate::formats::json;
use crate::session::Span;
use serde_json::Value;

/// How a list of messages is found.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Shape {
    /// Members that may hold the list; the first that does counts.
    pub(in crate::formats) lists: &'static [&'static str],
    /// Members of which a message has at least one. What it says there is its kind.
    pub(in crate::formats) marks: &'static [&'static str],
    /// Members that may hold the model's answer to the messages.
    pub(in crate::formats) answers: &'static [&'static str],
    /// Members of the document that may list conversations.
    pub(in crate::formats) many: &'static [&'static str],
}

/// As chats are sent: `messages` that have a `role`.
pub(in crate::formats) const CHAT: Shape = Shape {
    lists: &["messages"],
    marks: &["role"],
    answers: &["response", "choices", "preferred_output"],
    many: &[],
};

/// One in so many messages may be damaged.
pub(super) const MOST_BROKEN: usize = 4;

/// Whether a value in a list of messages is a damaged one rather than something else: it has no role, or no content that
/// could be any.
pub(in crate::formats) fn is_broken(value: &Value) -> bool {
    let Value::Object(members) = value else {
        return !value.is_array();
    };
    let is_typed = members.contains_key("type");
    let is_said = members
        .keys()
        .any(|key| !["role", "content"].contains(&key.as_str()));
    let content = members.get("content");
    let is_content = matches!(
        content,
        Some(Value::String(_) | Value::Array(_) | Value::Null)
    );
    match members.get("role") {
        Some(Value::String(_)) => !is_content && !is_said,
        _ => !is_typed,
    }
}

/// What to say of a message with a role and nothing in it that could be read.
pub(in crate::formats) fn refuse_empty(value: &Value) -> Result<(), String> {
    if json::str_at(value, &["role"]).is_some() && is_broken(value) {
        return Err(
            "a message without content that can be read is kept, but not sent to the model"
                .to_owned(),
        );
    }
    Ok(())
}

impl Shape {
    /// The list that a body has.
    pub(super) fn list<'a>(&self, body: &'a Value) -> Option<&'a Vec<Value>> {
        self.lists.iter().find_map(|key| body.get(key)?.as_array())
    }

    /// Whether a value may be a message.
    pub(super) fn is_marked(&self, value: &Value) -> bool {
        let is_mark = |mark: &Value| mark.is_string() || mark.is_object();
        self.marks
            .iter()
            .any(|key| value.get(key).is_some_and(is_mark))
    }

    /// Whether a list is one of messages: nearly all may be some. One that is damaged does not make the others none.
    pub(super) fn is_list<'a>(&self, list: impl Iterator<Item = &'a Value> + Clone) -> bool {
        let (n, n_marked) = (
            list.clone().count(),
            list.clone().filter(|v| self.is_marked(v)).count(),
        );
        let mut others = list.filter(|value| !self.is_marked(value));
        n_marked > 0 && (n - n_marked) * MOST_BROKEN <= n && others.all(is_broken)
    }

    /// Whether the value at a place of the file may be a message.
    pub(super) fn is_marked_at(&self, bytes: &[u8], span: &Span) -> bool {
        self.marks
            .iter()
            .any(|key| at_path(bytes, span, &[key]).is_some())
    }

    /// What kind of message a value is: what its mark says, or the role within it.
    pub(super) fn kind<'a>(&self, value: &'a Value) -> &'a str {
        let says = |key: &&str| {
            json::str_at(value, &[key]).or_else(|| json::str_at(value, &[key, "role"]))
        };
        self.marks.iter().find_map(says).unwrap_or("other")
    }
}
