//! Stages of a single function: counts, flattening, splitting, limits.

use super::super::{Answer, Case, messages_from_json, messages_to_json};
use super::{llm, overrides, tools};
use plimsoll::chat::{ChatMessage, message_from_json};
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::holmesgpt::{
    Limits, Reserve, Usage, flatten_tool_messages, forget_counts, split_message,
};

/// Returns messages without their stored counts.
pub(super) fn uncounted_json(messages: &[ChatMessage]) -> Value {
    let mut messages = messages.to_vec();
    forget_counts(&mut messages);
    messages_to_json(&messages)
}

pub(super) fn usage_to_json(usage: Usage) -> Value {
    json!({
        "total_tokens": usage.total,
        "tools_tokens": usage.tools,
        "system_tokens": usage.system,
        "user_tokens": usage.user,
        "tools_to_call_tokens": usage.tools_to_call,
        "assistant_tokens": usage.assistant,
        "other_tokens": usage.other,
    })
}

pub(super) fn count(case: &Case) -> Answer {
    let llm = llm(case)?;
    let mut answer = Map::new();
    for (name, set) in case.input["message_sets"].as_object().into_iter().flatten() {
        let without = usage_to_json(llm.count(&mut messages_from_json(set), &[]));
        if tools(case).is_empty() {
            answer.insert(name.clone(), without);
            continue;
        }
        let with = usage_to_json(llm.count(&mut messages_from_json(set), tools(case)));
        let mut counted = json!({"without_tools": without, "with_tools": with});
        if case.config["tokenizer"] == "litellm+real" {
            let single = messages_from_json(set).iter_mut().map(|m| llm.count_message(m)).collect();
            counted["per_message_token_count"] = single;
        }
        answer.insert(name.clone(), counted);
    }
    Ok(answer)
}

pub(super) fn flatten(case: &Case) -> Map<String, Value> {
    let flat = flatten_tool_messages(&messages_from_json(&case.input["messages"]));
    Map::from_iter([("messages".to_owned(), uncounted_json(&flat))])
}

pub(super) fn split(case: &Case) -> Answer {
    let llm = llm(case)?;
    let mut message = message_from_json(&case.input["message"]);
    let most = case.config["max_tokens"].as_i64().unwrap_or(0);
    let parts = split_message(&llm, &mut message, most);
    Ok(Map::from_iter([("parts".to_owned(), uncounted_json(&parts))]))
}

pub(super) fn limits(case: &Case) -> Map<String, Value> {
    let rows = case.input["rows"].as_array().into_iter().flatten().map(|row| {
        let model = row["model"].as_str().unwrap_or_default();
        let limits = Limits::of(model, &overrides(row), Reserve::Larger);
        let pct = row["context_window_compaction_threshold_pct"].as_i64().unwrap_or(95);
        let mut row = row.clone();
        row["resolved"] = json!({
            "context_window": limits.window,
            "max_output_token": limits.max_output,
            "max_token_count_for_single_tool": limits.tool_cap,
        });
        row["compaction_triggers_above_total_tokens"] =
            json!(limits.threshold(pct) - limits.max_output as f64);
        row["hard_input_limit_total_tokens"] = json!(limits.window - limits.max_output);
        row
    });
    Map::from_iter([("rows".to_owned(), rows.collect())])
}
