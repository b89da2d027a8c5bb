//! OpenAI Chat Completions: a list of messages, a request with its tools, a request with its answer, or JSON Lines of
//! conversations or messages.
//!
//! Many programs store their conversations in this form with members of their own. These members are kept and count no
//! tokens.

mod read;
mod write;

pub(super) use read::{body, message};
pub(super) use write::{added_result, edit, written};

use super::message_list::{self, Dialect, Writes};
use super::openai_roles::ROLES;
use super::{Format, Probe, RecordedData, ResultPosition, json};
use crate::json::Value;
use crate::session::ModelVendor;

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "OpenAI Chat",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    write_other: Some(write::request),
    extension: Some("json"),
    result_position: ResultPosition::NextToolMessages,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
    ],
    vendor: Some(ModelVendor::OpenAi),
    ..Format::READ_ONLY
};

/// The dialect that reads and writes these messages.
pub(super) const DIALECT: Dialect = Dialect {
    name: "openai_chat",
    is_request: true,
    title: message_list::title,
    body: read::body,
    messages: |value, calls| {
        message_list::refuse_empty(value)?;
        Ok(vec![read::message(value, calls)?])
    },
    call: message_list::call_of,
    writes: Some(Writes {
        edit: write::edit,
        written: write::written,
        result: Some(write::added_result),
    }),
    ..Dialect::READ_ONLY
};

/// Content block types of the Responses API.
const RESPONSES_BLOCKS: [&str; 5] =
    ["input_text", "output_text", "input_image", "input_file", "summary_text"];

fn detect(probe: &Probe) -> Option<String> {
    let list = message_list::detect_list(probe, &message_list::CHAT)?;
    let is_chat =
        list.messages.iter().all(|m| is_message(m)) && list.messages.iter().any(|m| !is_exit(m));
    is_chat.then(|| {
        let calls = list
            .messages
            .iter()
            .any(|m| m.get("tool_calls").is_some() || m.get("tool_call_id").is_some());
        let suffix = if calls { " and tool_calls" } else { "" };
        format!("{} with role and content{suffix}, and no Anthropic block", list.how)
    })
}

fn is_exit(message: &Value) -> bool {
    json::str_at(message, &["role"]) == Some("exit")
}

/// Returns whether a message has a known role, and content or calls in the form of Chat Completions.
fn is_message(message: &Value) -> bool {
    let is_known = json::str_at(message, &["role"]).is_some_and(|role| ROLES.contains(&role));
    let has_calls = || {
        ["tool_calls", "function_call", "refusal", "audio"]
            .iter()
            .any(|key| message.get(key).is_some())
    };
    let has_content = match message.get("content") {
        Some(Value::String(_) | Value::Null) => true,
        Some(Value::Array(blocks)) => blocks.iter().all(is_block),
        Some(_) => false,
        None => has_calls(),
    };
    is_known && has_content
}

fn is_block(block: &Value) -> bool {
    match json::str_at(block, &["type"]) {
        Some("text") => json::str_at(block, &["text"]).is_some(),
        Some(kind) => {
            !RESPONSES_BLOCKS.contains(&kind) && !super::anthropic_messages::is_own_block(block)
        }
        None => block.is_string(),
    }
}
