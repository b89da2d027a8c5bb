//! The contents of a conversation independent of its format: texts in order, calls with results, media, reasoning and
//! tools.

use crate::json::{Value, json};
use crate::session::{Body, Role, Session};
use std::collections::HashMap;

/// The contents of a conversation.
#[derive(Debug, Default)]
pub(super) struct Contents<'a> {
    /// Texts that are not blank.
    pub(super) texts: Vec<TextItem<'a>>,
    /// Number of blank texts.
    pub(super) n_blank: usize,
    /// Tool calls with their results.
    pub(super) calls: Vec<CallItem<'a>>,
    /// Indices of the parts that are images, audio and documents.
    pub(super) media: Vec<Located<usize>>,
    pub(super) reasoning: Vec<Located<ReasoningItem<'a>>>,
    /// Tool definitions.
    pub(super) tools: Vec<Located<Value>>,
    /// Calls without a result so far.
    open: HashMap<&'a str, usize>,
    /// Text of the latest result of each call.
    answered: HashMap<&'a str, &'a str>,
}

/// An item of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located<T> {
    /// Index of the message.
    pub(super) message: usize,
    pub(super) item: T,
}

/// Reasoning of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ReasoningItem<'a> {
    pub(super) text: &'a str,
    /// Size of the signature or ciphertext.
    pub(super) sealed_bytes: u32,
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

impl ResultItem<'_> {
    /// Returns true if the texts are equal or both blank.
    pub(super) fn is_same_text(&self, other: &ResultItem<'_>) -> bool {
        let is_blank = |text: &str| text.trim().is_empty();
        self.text == other.text || is_blank(self.text) && is_blank(other.text)
    }
}

impl<'a> Contents<'a> {
    /// Collects the contents of messages.
    pub(super) fn of_messages(
        session: &'a Session,
        messages: impl IntoIterator<Item = usize>,
    ) -> Self {
        let mut contents = Self::default();
        for message in messages {
            contents.add_message(session, message);
        }
        contents
    }

    /// Adds the contents of a message.
    pub(super) fn add_message(&mut self, session: &'a Session, message: usize) {
        for part in session.messages[message].parts.clone() {
            self.add_part(session, message, part, None);
        }
    }

    /// Adds a part of a message, whose text may be replaced.
    pub(super) fn add_part(
        &mut self,
        session: &'a Session,
        message: usize,
        part: usize,
        replaced: Option<&'a str>,
    ) {
        let role = session.messages[message].role;
        match &session.parts[part].body {
            Body::ToolCall { call, tool, arguments } => {
                self.open.insert(call, self.calls.len());
                self.calls.push(CallItem {
                    message,
                    tool,
                    arguments: arguments_object(replaced.unwrap_or(arguments)),
                    result: None,
                });
            }
            Body::ToolResult { call, text, is_error, .. } => {
                let text = replaced.unwrap_or(text);
                match self.open.remove(&**call) {
                    Some(index) => {
                        self.answered.insert(call, text);
                        self.calls[index].result =
                            Some(ResultItem { message, text, is_error: *is_error });
                    }
                    // A program may send a result twice, such as Gemini CLI after a resume.
                    None if self.answered.get(&**call) == Some(&text) => {}
                    // A result without a call can only be written as a text.
                    None => self.add_text(message, role, text),
                }
            }
            Body::ToolDefinition { json, .. } => {
                self.tools.push(Located { message, item: definition(json) });
            }
            Body::Media { .. } if replaced.is_none() => {
                self.media.push(Located { message, item: part });
            }
            Body::Thinking { text, sealed_bytes, .. } if replaced.is_none() => {
                self.reasoning.push(Located {
                    message,
                    item: ReasoningItem { text, sealed_bytes: *sealed_bytes },
                });
            }
            body => self.add_text(message, role, replaced.unwrap_or(body.text())),
        }
    }

    /// Adds a text.
    pub(super) fn add_text(&mut self, message: usize, role: Role, text: &'a str) {
        if text.trim().is_empty() {
            self.n_blank += 1;
        } else {
            self.texts.push(TextItem { message, role, text });
        }
    }
}

/// Returns the arguments of a call as an object, which some formats require.
fn arguments_object(arguments: &str) -> Value {
    match crate::json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => value,
        _ if arguments.is_empty() => json!({}),
        _ => json!({"_raw": arguments}),
    }
}

/// Returns name, description and schema of a tool in any API's shape.
fn definition(json: &str) -> Value {
    let tool = crate::json::from_str(json).unwrap_or_default();
    let inner = ["function", "custom"]
        .iter()
        .find_map(|key| tool.get(key).filter(|v| v.is_object()))
        .unwrap_or(&tool);
    let schema = ["input_schema", "parameters", "inputSchema"]
        .iter()
        .find_map(|key| inner.get(key))
        .filter(|schema| schema.is_object());
    let name = inner.get("name").or_else(|| tool.get("type"));
    json!([name, inner.get("description"), schema.unwrap_or(&json!({"type": "object"}))])
}
