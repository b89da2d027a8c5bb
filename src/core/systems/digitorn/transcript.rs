//! The summary request: the old messages as lines of text.

use super::estimate::{calls_of, has_calls, tool_name};
use crate::chat::{BlockBody, ChatMessage, Content, SummaryRequest};
use crate::json::Value;
use crate::languages::python::python_str;
use crate::languages::python::{PythonError, class_of, first_chars, is_true, len};

/// Characters quoted of a tool result.
// As in mbathe/digitorn-bridge @8d8eb4a6, `runtime/hooks.py`.
const MAX_RESULT_CHARS: usize = 500;

/// The default prompt.
const PROMPT: &str = "Summarize the following conversation concisely. Preserve:
- The user's ORIGINAL REQUEST (what they asked for)
- Key facts, decisions, and conclusions discovered so far
- Tool calls made and their results (which tools were used, what they returned)
- Important data discovered (file contents, query results, etc.)
- Any errors encountered and how they were resolved
- Configuration context: file paths, database connections, API endpoints, credentials references, environment \
variables, and workspace settings
- WHAT REMAINS TO DO — list the unfinished work clearly

End the summary with a clear 'NEXT STEPS:' section listing what the agent should do next to complete the task.

Respond with only the summary, no preamble.";

/// Returns the request: a prompt and the conversation as one text, without tools and without a size limit.
///
/// # Errors
/// As the original raises: on a tool message without content, and on texts that are not strings.
pub fn summary_request(
    old: &[ChatMessage],
    prompt: Option<&str>,
    max_tokens: u64,
) -> Result<SummaryRequest, PythonError> {
    let mut lines = Vec::new();
    for message in old {
        lines.extend(line(message)?);
    }
    Ok(SummaryRequest {
        messages: vec![
            ChatMessage::new("system", prompt.unwrap_or(PROMPT)),
            ChatMessage::new("user", lines.join("\n")),
        ],
        with_tools: false,
        max_tokens: Some(max_tokens),
    })
}

/// Returns the line of one message; `None` for a message without text and calls.
fn line(message: &ChatMessage) -> Result<Option<String>, PythonError> {
    let content = content_value(&message.content)?;
    let role = if message.role.is_empty() { "unknown" } else { &message.role };
    let mut text = python_str(&content);
    if role == "tool" && len(&content)? > MAX_RESULT_CHARS {
        text = format!("{}... [truncated tool output]", first_chars(&text, MAX_RESULT_CHARS));
    }
    if has_calls(message) {
        let names = calls_of(message)?.iter().map(|call| tool_name(call).unwrap_or("?"));
        let names: Vec<&str> = names.collect();
        return Ok(Some(format!("[{role}]: {text} [called: {}]", names.join(", "))));
    }
    Ok(is_true(&content).then(|| format!("[{role}]: {text}")))
}

/// Returns the content as a value; the texts of a list joined by spaces.
fn content_value(content: &Content) -> Result<Value, PythonError> {
    Ok(match content {
        Content::Missing => Value::String(String::new()),
        Content::Null => Value::Null,
        Content::Text(text) => Value::String((*text.text).to_owned()),
        Content::Other(value) => (**value).clone(),
        Content::Blocks(blocks) => {
            let mut texts: Vec<&str> = Vec::new();
            for block in blocks {
                match &block.body {
                    BlockBody::Text(text) => texts.push(text),
                    BlockBody::Other(value) if value.get("type") == Some(&"text".into()) => {
                        texts.push(text_of(value, texts.len())?);
                    }
                    _ => {}
                }
            }
            Value::String(texts.join(" "))
        }
    })
}

fn text_of(block: &Value, idx: usize) -> Result<&str, PythonError> {
    match block.get("text") {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(PythonError::of_type(format!(
            "sequence item {idx}: expected str instance, {} found",
            class_of(other)
        ))),
    }
}
