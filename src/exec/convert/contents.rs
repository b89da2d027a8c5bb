//! What a session says, taken apart so that two sessions can be compared that frame it differently.

use crate::exec::check::{arguments, definition};
use crate::exec::export::sha256;
use crate::formats;
use crate::session::{Body, Role, Session};
use serde_json::Value;
use std::collections::HashMap;

/// All that the history says, in order, each with its message.
#[derive(Debug, Default)]
pub(super) struct Contents<'a> {
    /// Texts that are more than white space.
    pub(super) texts: Vec<Said<'a>>,
    /// Texts that are not.
    pub(super) n_blank: usize,
    /// Calls of tools with what came of them.
    pub(super) calls: Vec<Asked<'a>>,
    /// Traces of pictures, sounds and documents.
    pub(super) media: Vec<(usize, String)>,
    /// Thoughts: their text, and the bytes of what seals them.
    pub(super) thoughts: Vec<(usize, (&'a str, u32))>,
    /// Definitions of tools.
    pub(super) tools: Vec<(usize, Value)>,
    /// Calls without a result so far.
    open: HashMap<&'a str, usize>,
}

/// A text.
#[derive(Debug)]
pub(super) struct Said<'a> {
    pub(super) message: usize,
    pub(super) role: Role,
    pub(super) text: &'a str,
}

/// A call with its result.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) message: usize,
    pub(super) tool: &'a str,
    pub(super) arguments: Value,
    pub(super) result: Option<Answer<'a>>,
}

/// What came of a call.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) message: usize,
    pub(super) text: &'a str,
    pub(super) is_error: bool,
}

impl<'a> Contents<'a> {
    /// Of the history of a session.
    pub(super) fn of(session: &'a Session) -> Self {
        let mut contents = Self::default();
        for (idx, message) in session.messages.iter().enumerate() {
            if message.in_history {
                for part in message.parts.clone() {
                    contents.add(session, idx, part);
                }
            }
        }
        contents
    }

    fn add(&mut self, session: &'a Session, message: usize, part: usize) {
        let role = session.messages[message].role;
        match &session.parts[part].body {
            Body::ToolCall {
                call,
                tool,
                arguments: given,
            } => {
                self.open.insert(call, self.calls.len());
                self.calls.push(Asked {
                    message,
                    tool,
                    arguments: arguments(given),
                    result: None,
                });
            }
            Body::ToolResult {
                call,
                text,
                is_error,
                ..
            } => match self.open.remove(&**call) {
                Some(asked) => {
                    self.calls[asked].result = Some(Answer {
                        message,
                        text,
                        is_error: *is_error,
                    });
                }
                // A result that answers nothing can only be written as a text.
                None => self.say(message, role, text),
            },
            Body::Media { .. } => self.media.push((message, trace(session, part))),
            Body::Thinking {
                text, sealed_bytes, ..
            } => self.thoughts.push((message, (text, *sealed_bytes))),
            Body::ToolDefinition { json, .. } => self.tools.push((message, definition(json))),
            body @ (Body::Text(_) | Body::Opaque { .. }) => self.say(message, role, body.text()),
        }
    }

    fn say(&mut self, message: usize, role: Role, text: &'a str) {
        if text.trim().is_empty() {
            self.n_blank += 1;
        } else {
            self.texts.push(Said {
                message,
                role,
                text,
            });
        }
    }
}

/// What tells a picture from others: its hash, or what is known of one that the file does not hold.
fn trace(session: &Session, part: usize) -> String {
    match formats::media_bytes(session, part) {
        Some(bytes) => sha256(&bytes),
        None => match &session.parts[part].body {
            Body::Media { media, bytes, .. } => format!("{media:?} {bytes}"),
            _ => String::new(),
        },
    }
}
