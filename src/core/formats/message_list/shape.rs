//! Location of a program's list of messages, and the members that identify a message.

use crate::formats::editing::at_path;
use crate::formats::json;
use crate::json::Value;
use crate::session::Span;

/// Location of a list of messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Members that may hold the list; the first match wins.
    pub(crate) lists: &'static [&'static str],
    /// Members of which a message has at least one. Its value is the kind of message.
    pub(crate) marks: &'static [&'static str],
    /// Members that may hold the model's answer to the messages.
    pub(crate) answers: &'static [&'static str],
    /// Members of the document that may list conversations.
    pub(crate) many: &'static [&'static str],
}

/// Chat requests: `messages` with a `role`.
pub(crate) const CHAT: Shape = Shape {
    lists: &["messages"],
    marks: &["role"],
    answers: &["response", "choices", "preferred_output"],
    many: &[],
};

/// Tolerated share of damaged messages: one in this many.
// Chosen: scripts leave empty or cut elements in lists. A list of other data has no marks at all.
pub(super) const MESSAGES_PER_BROKEN: usize = 4;

/// Returns whether a value in a list of messages is a damaged message rather than something else: it has no role or no
/// valid content.
pub(crate) fn is_broken(value: &Value) -> bool {
    let Value::Object(members) = value else {
        return !value.is_array();
    };
    let is_typed = members.contains_key("type");
    let has_other_members = members.keys().any(|key| !["role", "content"].contains(&key.as_str()));
    let content = members.get("content");
    let is_content = matches!(content, Some(Value::String(_) | Value::Array(_) | Value::Null));
    match members.get("role") {
        Some(Value::String(_)) => !is_content && !has_other_members,
        _ => !is_typed,
    }
}

/// Returns an error for a message with a role but without readable content.
pub(crate) fn refuse_empty(value: &Value) -> Result<(), String> {
    if json::str_at(value, &["role"]).is_some() && is_broken(value) {
        return Err(
            "a message without readable content is kept, but not sent to the model".to_owned()
        );
    }
    Ok(())
}

impl Shape {
    /// Returns the list in a body.
    pub(super) fn list<'a>(&self, body: &'a Value) -> Option<&'a Vec<Value>> {
        self.lists.iter().find_map(|key| body.get(key)?.as_array())
    }

    /// Returns whether a value may be a message.
    pub(super) fn is_marked(&self, value: &Value) -> bool {
        let is_mark = |mark: &Value| mark.is_string() || mark.is_object();
        self.marks.iter().any(|key| value.get(key).is_some_and(is_mark))
    }

    /// Returns whether nearly all elements of a list may be messages. Tolerates a few damaged ones.
    pub(super) fn is_list<'a>(&self, list: impl Iterator<Item = &'a Value> + Clone) -> bool {
        let (n, n_marked) =
            (list.clone().count(), list.clone().filter(|v| self.is_marked(v)).count());
        let mut others = list.filter(|value| !self.is_marked(value));
        n_marked > 0 && (n - n_marked) * MESSAGES_PER_BROKEN <= n && others.all(is_broken)
    }

    /// Returns whether the value at a span may be a message.
    pub(super) fn is_marked_at(&self, bytes: &[u8], span: &Span) -> bool {
        self.marks.iter().any(|key| at_path(bytes, span, &[key]).is_some())
    }

    /// Returns the kind of a message: the value of its mark, or the role within it.
    pub(super) fn kind<'a>(&self, value: &'a Value) -> &'a str {
        let read = |key: &&str| {
            json::str_at(value, &[key]).or_else(|| json::str_at(value, &[key, "role"]))
        };
        self.marks.iter().find_map(read).unwrap_or("other")
    }
}
