//! Readable names of messages, by their largest part: `read main.ts`, `bash cargo test`, `user message 3`.

use super::heaviest_part;
use crate::engine::Case;
use crate::json::Value;
use crate::session::{Body, COMMAND_KEYS, PATH_KEYS, Role};
use std::fmt;

/// The readable name of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageName<'a> {
    /// A tool call or its result.
    Call {
        /// The tool.
        tool: &'a str,
        /// File or text of the call's arguments, if any.
        subject: Option<MessageSubject>,
        /// Index of the message.
        message: usize,
    },
    /// Any other message.
    Message {
        /// Its author.
        role: Role,
        /// True if its largest part is an image or document.
        is_media: bool,
        /// Index of the message.
        message: usize,
    },
}

/// The argument that characterizes a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSubject {
    /// The start of its first line, or the last component of a path.
    pub text: String,
    /// True for the name of a file.
    pub is_path: bool,
}

impl<'a> MessageName<'a> {
    /// Returns the name of the message with this index.
    pub fn of(case: &'a Case, message: usize) -> Self {
        let session = &case.session;
        let heaviest = heaviest_part(&case.ledger, &session.messages[message]);
        let is_media =
            heaviest.is_some_and(|p| matches!(session.parts[p].body, Body::Media { .. }));
        let calls = &case.index.calls;
        match heaviest.and_then(|part| calls.tool_and_arguments(session, part)) {
            Some((tool, arguments)) => Self::Call { tool, subject: subject(arguments), message },
            None => Self::Message { role: session.messages[message].role, is_media, message },
        }
    }

    /// Returns whether the text contains the number of the message.
    pub fn has_number(&self) -> bool {
        !matches!(self, Self::Call { subject: Some(_), .. })
    }
}

impl fmt::Display for MessageName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { tool, subject: Some(subject), .. } => write!(f, "{tool} {}", subject.text),
            Self::Call { tool, message, .. } => write!(f, "{tool} in message {}", message + 1),
            Self::Message { is_media: true, message, .. } => {
                write!(f, "image or document in message {}", message + 1)
            }
            Self::Message { role, message, .. } => {
                write!(f, "{} message {}", role.name(), message + 1)
            }
        }
    }
}

/// Arguments with other texts that identify a call, most specific first.
const TEXT_KEYS: [&str; 4] = ["pattern", "query", "url", "description"];

fn subject(arguments: &str) -> Option<MessageSubject> {
    let arguments: Value = crate::json::from_str(arguments).ok()?;
    let text = |key: &&str| match arguments.get(*key)? {
        Value::String(text) => Some(text.clone()),
        // Codex splits commands into words; the shell runs the last one.
        Value::Array(words) => words.last()?.as_str().map(str::to_owned),
        _ => None,
    };
    let path = PATH_KEYS.iter().find_map(text);
    let is_path = path.is_some();
    let subject = match path {
        Some(path) => path
            .trim_end_matches(['/', '\\'])
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned(),
        None => COMMAND_KEYS.iter().chain(&TEXT_KEYS).find_map(text)?,
    };
    let line = subject.lines().next().unwrap_or_default().trim();
    let short: String = line.chars().take(40).collect();
    let cut = if short.len() < line.len() || subject.lines().count() > 1 { "…" } else { "" };
    let is_named = !short.is_empty();
    is_named.then(|| MessageSubject { text: format!("{short}{cut}"), is_path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(arguments: &str) -> Option<String> {
        subject(arguments).map(|subject| subject.text)
    }

    #[test]
    fn a_long_command_is_cut_and_a_path_is_shown_by_its_last_component() {
        assert_eq!(named(r#"{"command":"cargo test"}"#).as_deref(), Some("cargo test"));
        assert_eq!(named(r#"{"command":["bash","-lc","ls -la"]}"#).as_deref(), Some("ls -la"));
        assert_eq!(named(r#"{"file_path":"C:\\a\\b.rs","command":"x"}"#).as_deref(), Some("b.rs"));
        assert_eq!(
            named(&format!(r#"{{"query":"{}"}}"#, "é".repeat(50))),
            Some("é".repeat(40) + "…")
        );
        assert_eq!(named(r#"{"n":3}"#), None);
        assert_eq!(named("not json"), None);
    }
}
