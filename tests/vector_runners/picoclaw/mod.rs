//! Cases of `PicoClaw`.

mod counting;
mod rebuilding;
mod shrinking;

use super::{Answer, Case, messages_to_json, no_stage};
use plimsoll::chat::{ChatMessage, Content, message_from_json};
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::picoclaw::{Edition, Settings, Stored};

/// Runs one case.
pub(super) fn run(case: &Case) -> Answer {
    let answer = match &*case.stage {
        "estimate" => counting::estimate(case),
        "estimate_special" => counting::single_messages(case)?,
        "estimate_tooldefs" => counting::tool_definitions(case),
        "boundaries" => counting::boundaries(case),
        "sanitize" => counting::sanitized(case),
        "before_force_compression" => shrinking::force_compression(case, Edition::Before),
        "after_force_compression" => shrinking::force_compression(case, Edition::After),
        "before_summarize" => shrinking::summarize(case, Edition::Before),
        "after_summarize" => shrinking::summarize(case, Edition::After),
        "after_maybe_summarize" => shrinking::maybe_summarize(case),
        "after_proactive_pipeline" => rebuilding::proactive_pipeline(case),
        "after_trim_to_fit" => rebuilding::trim_to_fit(case),
        "after_split_active_turn" => rebuilding::split_active_turn(case),
        _ => return Err(no_stage(case)),
    };
    match answer {
        Value::Object(fields) => Ok(fields),
        other => Ok(Map::from_iter([("answer".to_owned(), other)])),
    }
}

/// Parses messages as Go does: a content that is missing or `null` is an empty text.
fn messages(value: &Value) -> Vec<ChatMessage> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(message).collect()
}

fn message(value: &Value) -> ChatMessage {
    let mut message = message_from_json(value);
    if matches!(message.content, Content::Missing | Content::Null) {
        message.content = Content::text("");
    }
    message
}

fn stored(case: &Case) -> Stored {
    let summary = case.input["summary"].as_str().unwrap_or("");
    Stored::new(messages(&case.input["messages"]), summary)
}

fn settings(case: &Case, edition: Edition) -> Settings {
    let number = |key: &str| case.config[key].as_i64().unwrap_or(0);
    Settings::new(edition, number("context_window"), number("max_tokens"))
        .with_thresholds(number("summarize_message_threshold"), number("summarize_token_percent"))
}

/// Returns a list, or `null` if it is empty, as Go writes it.
fn or_null(list: &[Value]) -> Value {
    if list.is_empty() { Value::Null } else { json!(list) }
}
