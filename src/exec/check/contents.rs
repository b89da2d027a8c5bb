//! Compares the contents of a conversation written in another format: texts in their order, calls with results, and tools.
//! Formats may differ in everything else.

use super::promise::{Promise, context_messages};
use crate::session::{Body, ManagedEntry, ManagedPart, Session};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The contents of a conversation.
#[derive(Debug, Default)]
struct Contents<'a> {
    /// Texts that are not blank, each with its message.
    texts: Vec<(usize, &'a str)>,
    calls: Vec<CallWithResult<'a>>,
    tools: Vec<(usize, Value)>,
    /// Number of images and other media, which a text may replace.
    media: usize,
    /// Calls without a result so far.
    open: HashMap<&'a str, usize>,
}

/// A call with its result.
#[derive(Debug)]
struct CallWithResult<'a> {
    message: usize,
    tool: &'a str,
    arguments: Value,
    result: Option<&'a str>,
}

/// Describes the first difference from the intended content.
pub(super) fn difference(promise: &Promise<'_>, read: &Session) -> Option<String> {
    let (promised, found) = (promised(promise), of_session(read));
    differing_text(&promised, &found)
        .or_else(|| differing_call(&promised.calls, &found.calls))
        .or_else(|| differing_tool(&promised.tools, &found.tools))
}

fn promised<'a>(promise: &Promise<'a>) -> Contents<'a> {
    let mut contents = Contents::default();
    let session = &promise.case.session;
    for entry in &promise.managed.entries {
        match entry {
            ManagedEntry::Kept { message } => {
                for part in session.parts_of(&session.messages[*message]) {
                    contents.add(*message, &part.body, None);
                }
            }
            ManagedEntry::Edited { message, parts } => {
                for part in parts {
                    match part {
                        ManagedPart::Kept { part } => {
                            contents.add(*message, &session.parts[*part].body, None);
                        }
                        ManagedPart::Replaced { part, text } => {
                            contents.add(*message, &session.parts[*part].body, Some(text));
                        }
                    }
                }
            }
            ManagedEntry::Written {
                text,
                before_message,
                ..
            } => contents.add_text(*before_message, text),
        }
    }
    contents
}

fn of_session(read: &Session) -> Contents<'_> {
    let mut contents = Contents::default();
    for idx in context_messages(read) {
        for part in read.parts_of(&read.messages[idx]) {
            contents.add(idx, &part.body, None);
        }
    }
    contents
}

impl<'a> Contents<'a> {
    fn add(&mut self, message: usize, body: &'a Body, new: Option<&'a str>) {
        match body {
            Body::ToolCall {
                call,
                tool,
                arguments,
            } => {
                self.open.insert(call, self.calls.len());
                self.calls.push(CallWithResult {
                    message,
                    tool,
                    arguments: self::arguments(new.unwrap_or(arguments)),
                    result: None,
                });
            }
            // A result without a call can only be written as a text.
            Body::ToolResult { call, text, .. } => {
                let text = new.unwrap_or(text);
                match self.open.remove(&**call) {
                    Some(index) => self.calls[index].result = Some(text),
                    None => self.add_text(message, text),
                }
            }
            Body::ToolDefinition { json, .. } => self.tools.push((message, definition(json))),
            Body::Media { .. } if new.is_none() => self.media += 1,
            // Reasoning can only be sent back to the provider that wrote it.
            Body::Thinking { .. } if new.is_none() => {}
            body => self.add_text(message, new.unwrap_or(body.text())),
        }
    }

    fn add_text(&mut self, message: usize, text: &'a str) {
        if !text.trim().is_empty() {
            self.texts.push((message, text));
        }
    }
}

/// Returns the arguments of a call as an object, which some formats require.
pub(in crate::exec) fn arguments(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => value,
        _ if arguments.is_empty() => json!({}),
        _ => json!({"_raw": arguments}),
    }
}

/// Returns name, description and schema of a tool in any API's shape.
pub(in crate::exec) fn definition(json: &str) -> Value {
    let tool: Value = serde_json::from_str(json).unwrap_or_default();
    let inner = ["function", "custom"]
        .iter()
        .find_map(|key| tool.get(key).filter(|v| v.is_object()))
        .unwrap_or(&tool);
    let schema = ["input_schema", "parameters", "inputSchema"]
        .iter()
        .find_map(|key| inner.get(key))
        .filter(|schema| schema.is_object());
    let name = inner.get("name").or_else(|| tool.get("type"));
    json!([
        name,
        inner.get("description"),
        schema.unwrap_or(&json!({"type": "object"}))
    ])
}

/// Finds a missing or misplaced text, or more texts than media that they may replace.
fn differing_text(promised: &Contents<'_>, found: &Contents<'_>) -> Option<String> {
    let mut rest = found.texts.iter();
    for (message, text) in &promised.texts {
        if !rest.any(|(_, there)| there == text) {
            return Some(format!(
                "a text of message {} is missing or misplaced",
                message + 1
            ));
        }
    }
    let more = found.texts.len() - promised.texts.len();
    if found.media + more < promised.media {
        return Some(format!(
            "{} images or other media are missing",
            promised.media - found.media - more
        ));
    }
    (more > promised.media).then(|| format!("{more} unexpected texts"))
}

fn differing_call(promised: &[CallWithResult<'_>], found: &[CallWithResult<'_>]) -> Option<String> {
    for (promised, found) in promised.iter().zip(found) {
        let is_same = promised.tool == found.tool && promised.arguments == found.arguments;
        let is_blank = |text: &str| text.trim().is_empty();
        let is_answered = match (promised.result, found.result) {
            (Some(a), Some(b)) => a == b || is_blank(a) && is_blank(b),
            (Some(_), None) => false,
            // A note may replace a result that was not recorded.
            (None, _) => true,
        };
        if !is_same || !is_answered {
            let part = if is_same { "result" } else { "call" };
            return Some(format!(
                "a {part} of message {} changed",
                promised.message + 1
            ));
        }
    }
    (promised.len() != found.len())
        .then(|| format!("{} calls instead of {}", found.len(), promised.len()))
}

fn differing_tool(promised: &[(usize, Value)], found: &[(usize, Value)]) -> Option<String> {
    let tools = |list: &[(usize, Value)]| {
        list.iter()
            .map(|(_, tool)| tool.clone())
            .collect::<Vec<_>>()
    };
    (tools(promised) != tools(found)).then(|| "the tool definitions differ".to_owned())
}
