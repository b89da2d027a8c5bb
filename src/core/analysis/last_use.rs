//! Last use of each message: the last model message that repeats one of its names (paths, symbols, hashes, numbers).
//!
//! A result without a later use is not necessarily useless, since a model may use content without naming it. Therefore
//! every copy of a repeated name counts as used. Names in many messages are ignored.

use crate::session::{Body, Session, identifiers};
use std::collections::HashMap;

/// The names of a session and when the model last used each.
#[derive(Debug)]
pub struct LastUses<'a> {
    /// The last model message with each name, without names in too many messages.
    last: HashMap<&'a str, u32>,
    /// The last model message that uses a name of each message; `None` if no later message does.
    of_messages: Vec<Option<u32>>,
}

/// Names in more messages than this, and in more than one in [`COMMON`], are ignored as too common.
///
/// These are the limits of references at risk (`loss/names.rs`). A name in more messages, such as the name of the
/// project, says nothing about which of them an answer uses. With higher limits, hardly any result would ever count as
/// unused.
const RARE: usize = 12;
const COMMON: usize = 25;

/// A name that the model uses.
#[derive(Clone, Copy, Default)]
struct Name {
    /// Number of messages with it.
    messages: u32,
    /// Number of the latest of them so far, from 1; 0 if none.
    latest: u32,
    /// Index of the last model message with it.
    named: u32,
}

/// Lines of a text that contain a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedLines {
    /// Their number.
    pub all: usize,
    /// Number of those with a name that the model used later.
    pub used_later: usize,
}

impl<'a> LastUses<'a> {
    /// Searches all messages. The first pass collects the names that the model uses, as texts contain many more.
    pub fn new(session: &'a Session) -> Self {
        let mut names: HashMap<&str, Name> = HashMap::new();
        for (number, message) in (1..).zip(&session.messages) {
            for part in session.parts_of(message).iter().filter(|_| message.call.is_some()) {
                each_name(&part.body, |word| {
                    names.entry(word).or_default().named = number - 1;
                });
            }
        }
        let mut names_of_messages = Vec::new();
        for (number, message) in (1..).zip(&session.messages) {
            for part in session.parts_of(message) {
                each_name(&part.body, |word| {
                    if let Some(name) = names.get_mut(word)
                        && name.latest != number
                    {
                        name.messages += 1;
                        name.latest = number;
                        names_of_messages.push((number - 1, word));
                    }
                });
            }
        }
        let most = RARE.max(session.messages.len() / COMMON);
        names.retain(|_, name| name.messages as usize <= most);
        let last = names.into_iter().map(|(word, name)| (word, name.named));
        let last: HashMap<&str, u32> = last.collect();
        let mut of_messages = vec![None; session.messages.len()];
        for (message, word) in names_of_messages {
            let user = last.get(word).filter(|user| **user > message);
            let latest = &mut of_messages[message as usize];
            *latest = user.copied().max(*latest);
        }
        Self { last, of_messages }
    }

    /// Returns the last model message that uses a name of this message; none if no later message does.
    pub fn of_message(&self, message: usize) -> Option<usize> {
        self.of_messages[message].map(|user| user as usize)
    }

    /// Counts the lines of a message's text that contain a name.
    pub fn lines(&self, message: usize, text: &str) -> NamedLines {
        let mut lines = NamedLines::default();
        for line in text.lines() {
            let mut words = identifiers(line).peekable();
            lines.all += usize::from(words.peek().is_some());
            lines.used_later += usize::from(words.any(|word| self.is_used_after(message, word)));
        }
        lines
    }

    /// Returns whether a model message after this message uses a name of the text; `None` if the text has no name.
    pub fn is_named_later(&self, message: usize, text: &str) -> Option<bool> {
        let mut words = identifiers(text).peekable();
        words.peek()?;
        Some(words.any(|word| self.is_used_after(message, word)))
    }

    fn is_used_after(&self, message: usize, name: &str) -> bool {
        self.last.get(name).is_some_and(|user| *user as usize > message)
    }
}

/// Passes each name in a part to `give`.
fn each_name<'a>(body: &'a Body, give: impl FnMut(&'a str)) {
    match body {
        Body::Text(text) | Body::Thinking { text, .. } | Body::ToolResult { text, .. } => {
            identifiers(text).for_each(give);
        }
        Body::ToolCall { arguments, .. } => {
            unescaped(arguments).flat_map(identifiers).for_each(give);
        }
        Body::ToolDefinition { .. } | Body::Media { .. } | Body::Opaque { .. } => {}
    }
}

/// Returns the pieces of a JSON text between its escapes, so that the letter of an escape is not part of a name. No
/// name contains a character that JSON escapes.
fn unescaped(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(json);
    std::iter::from_fn(move || {
        let (piece, behind) = match rest?.split_once('\\') {
            Some((piece, behind)) => (piece, Some(behind)),
            None => (rest?, None),
        };
        rest = behind.map(|behind| {
            let letters = if behind.starts_with('u') { 5 } else { 1 };
            let end = behind.char_indices().nth(letters);
            &behind[end.map_or(behind.len(), |(at, _)| at)..]
        });
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_in_arguments_makes_no_new_name() {
        let names: Vec<_> = unescaped(r#"{"a":"\tthis.agent\u0041fs.read\\\\host.name"}"#)
            .flat_map(identifiers)
            .collect();
        assert_eq!(names, ["this.agent", "fs.read", "host.name"]);
    }
}
