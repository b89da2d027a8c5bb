//! Serialized `LangChain` messages: `{type, data}`, `{lc, kwargs}`, or plain fields with a `type`. The file holds a
//! list, one message per line, or a list under `messages`.
//!
//! The input count of `usage_metadata` includes cached tokens.

use crate::formats::content::{self, CallMatcher};
use crate::formats::message_list::{self, Dialect, Shape};
use crate::formats::{Format, Probe, RecordedData, counts, json};
use crate::json::Value;
use crate::session::{CallDraft, Draft, Usage};
use crate::units::Tokens;

pub(crate) const MESSAGES: Format = Format {
    name: DIALECT.name,
    label: "LangChain messages",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    recorded: &[RecordedData::Usage, RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// The dialect that reads these messages.
const DIALECT: Dialect = Dialect {
    name: "langchain",
    shape: Shape {
        lists: &["messages", "chat_history", "history"],
        marks: &["type", "lc"],
        ..message_list::CHAT
    },
    title: message_list::title,
    messages: |value, calls| message(value, calls).map(|draft| vec![draft]),
    call,
    ..Dialect::READ_ONLY
};

/// Names of the message types.
const TYPES: [&str; 7] = ["human", "ai", "system", "tool", "function", "chat", "developer"];

fn detect(probe: &Probe) -> Option<String> {
    let look = message_list::detect_list(probe, &DIALECT.shape)?;
    let is_message = |m: &&Value| {
        let kind = json::str_at(m, &["type"]).unwrap_or_default();
        let kind = kind.strip_suffix("MessageChunk").unwrap_or(kind).to_ascii_lowercase();
        let is_dump = kind == "constructor" && m.get("kwargs").is_some_and(Value::is_object);
        let has_content = m.get("content").is_some() || json::at(m, &["data", "content"]).is_some();
        is_dump || (TYPES.contains(&&*kind) && has_content)
    };
    look.messages.iter().all(is_message).then(|| format!("{}: messages of LangChain", look.how))
}

fn message(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let draft = content::any_message::read(value, &(0..0));
    let mut draft = draft.ok_or_else(|| "a record without content for the model".to_owned())?;
    calls.join(&mut draft.parts);
    Ok(draft)
}

/// Returns the call that an answer reports, from any of the places that `LangChain` stores it.
pub(crate) fn call(value: &Value) -> Option<CallDraft> {
    let inner = ["kwargs", "data"].iter().find_map(|key| value.get(key)).unwrap_or(value);
    let usage = metadata(inner).or_else(|| {
        let paths: [&[&str]; 2] =
            [&["response_metadata", "token_usage"], &["response_metadata", "usage"]];
        paths.iter().find_map(|path| message_list::of_usage(json::at(inner, path)?))
    })?;
    let model = ["model_name", "model", "model_id"];
    let model = model.iter().find_map(|key| json::str_at(inner, &["response_metadata", key]));
    Some(CallDraft {
        model: model.map(str::to_owned),
        usage: Some(usage),
        time: None,
        ..CallDraft::default()
    })
}

fn metadata(message: &Value) -> Option<Usage> {
    let usage = message.get("usage_metadata")?;
    let count = |path: &[&str]| counts::tokens_at(usage, path);
    let input = count(&["input_tokens"])?;
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: count(&["input_token_details", "cache_read"]),
        cache_write: count(&["input_token_details", "cache_creation"]),
        output: count(&["output_tokens"]),
        reasoning: count(&["output_token_details", "reasoning"]),
        ..Usage::default()
    })
}
