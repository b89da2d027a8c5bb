//! The contents of a session, for comparing sessions in different formats.

use crate::exec::check::{arguments, definition};
use crate::exec::files::sha256;
use crate::formats;
use crate::session::{Body, Role, Session};
use serde_json::Value;
use std::collections::HashMap;

/// The contents of the history in order, each with its message.
#[derive(Debug, Default)]
pub(super) struct Contents<'a> {
    /// Texts that are not blank.
    pub(super) texts: Vec<TextItem<'a>>,
    /// Number of blank texts.
    pub(super) n_blank: usize,
    /// Tool calls with their results.
    pub(super) calls: Vec<CallItem<'a>>,
    /// Hashes of images, audio and documents.
    pub(super) media: Vec<(usize, String)>,
    /// Reasoning: text, and size of the signature or ciphertext.
    pub(super) reasoning: Vec<(usize, (&'a str, u32))>,
    /// Tool definitions.
    pub(super) tools: Vec<(usize, Value)>,
    /// Calls without a result so far.
    open: HashMap<&'a str, usize>,
}

/// A text.
#[derive(Debug)]
pub(super) struct TextItem<'a> {
    pub(super) message: usize,
    pub(super) role: Role,
    pub(super) text: &'a str,
}

/// A call with its result.
#[derive(Debug)]
pub(super) struct CallItem<'a> {
    pub(super) message: usize,
    pub(super) tool: &'a str,
    pub(super) arguments: Value,
    pub(super) result: Option<ResultItem<'a>>,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct ResultItem<'a> {
    pub(super) message: usize,
    pub(super) text: &'a str,
    pub(super) is_error: bool,
}

impl<'a> Contents<'a> {
    /// Collects the contents of a session's history.
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
                self.calls.push(CallItem {
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
                Some(index) => {
                    self.calls[index].result = Some(ResultItem {
                        message,
                        text,
                        is_error: *is_error,
                    });
                }
                // A result without a call can only be written as a text.
                None => self.add_text(message, role, text),
            },
            Body::Media { .. } => self.media.push((message, media_key(session, part))),
            Body::Thinking {
                text, sealed_bytes, ..
            } => self.reasoning.push((message, (text, *sealed_bytes))),
            Body::ToolDefinition { json, .. } => self.tools.push((message, definition(json))),
            body @ (Body::Text(_) | Body::Opaque { .. }) => {
                self.add_text(message, role, body.text());
            }
        }
    }

    fn add_text(&mut self, message: usize, role: Role, text: &'a str) {
        if text.trim().is_empty() {
            self.n_blank += 1;
        } else {
            self.texts.push(TextItem {
                message,
                role,
                text,
            });
        }
    }
}

/// Returns a key of a media part: its hash or, if the file lacks its bytes, its kind and size.
fn media_key(session: &Session, part: usize) -> String {
    match formats::media_bytes(session, part) {
        Some(bytes) => sha256(&bytes),
        None => match &session.parts[part].body {
            Body::Media { media, bytes, .. } => format!("{media:?} {bytes}"),
            _ => String::new(),
        },
    }
}
