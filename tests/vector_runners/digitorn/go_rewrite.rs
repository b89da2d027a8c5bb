//! Cases of the rewrite in Go.

use super::{Case, number};
use plimsoll::chat::{ChatMessage, SummaryReply, message_from_json, run_with_replies};
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::digitorn::go_rewrite::compact::{
    Compaction, Summary, summarize, truncate, truncate_budget,
};
use plimsoll::systems::digitorn::go_rewrite::micro_compact::{
    KEEP_RESULTS, MIN_BYTES, micro_compact,
};
use plimsoll::systems::digitorn::go_rewrite::split::{safe_split, safe_split_budget};
use plimsoll::systems::digitorn::go_rewrite::{emergency_keep_recent, estimate_tokens};

/// Token budget of the tested splits.
const SPLIT_BUDGET: i64 = 400;

pub(super) fn compact(case: &Case) -> Value {
    let config = &case.config;
    let messages = stored_messages(&case.input["messages"]);
    let keep = number(config, "keep_recent", 3);
    let goal = config["goal"].as_str().unwrap_or_default();
    let budget = number(config, "budget", 0);
    let last = i64::try_from(messages.len() + 1).unwrap_or(0);
    let splits = (0..=last).map(|keep| {
        let split = json!({
            "split": safe_split(&messages, keep),
            "split_budget_400": safe_split_budget(&messages, keep, SPLIT_BUDGET),
        });
        (keep.to_string(), split)
    });
    let summarized = |answer: &str| {
        let summary = Summary { has_model: true, prompt: "", max_tokens: 1_024, prior: "" };
        run_with_replies(
            |replies| summarize(&messages, keep, "", summary, replies),
            |_| SummaryReply::Text(answer.into()),
        )
    };
    json!({
        "safe_split_by_keep_recent": splits.collect::<Map<_, _>>(),
        "tokens_before": estimate_tokens(&messages),
        "truncate": compaction_to_json(&truncate(&messages, keep, goal), case),
        "truncate_budget_500": compaction_to_json(&truncate_budget(&messages, keep, budget, goal), case),
        "summarize_SUMMARY": compaction_to_json(&summarized("SUMMARY"), case),
        "summarize_empty_falls_back": compaction_to_json(&summarized(""), case),
    })
}

fn compaction_to_json(done: &Compaction, case: &Case) -> Value {
    let input = case.input["messages"].as_array();
    let seqs: Vec<Value> = input.into_iter().flatten().map(|m| m["seq"].clone()).collect();
    let kept = seqs[done.dropped..].iter().cloned();
    let recap = (done.dropped > 0).then(|| json!(0));
    let first = done.messages.first();
    json!({
        "cutoff_seq": done.dropped.checked_sub(1).map_or(json!(0), |last| seqs[last].clone()),
        "dropped": done.dropped,
        "first_message": {
            "role": first.map(|m| &*m.role),
            "content": first.and_then(ChatMessage::text).unwrap_or_default(),
        },
        "result_seqs": recap.into_iter().chain(kept).collect::<Value>(),
        "strategy": done.strategy,
        "summary": done.summary,
        "tokens_after": estimate_tokens(&done.messages),
    })
}

pub(super) fn microcompact(case: &Case) -> Value {
    let keep = number(&case.config, "keep_recent_results", KEEP_RESULTS);
    let least = number(&case.config, "min_bytes", MIN_BYTES);
    let (messages, elided) = micro_compact(stored_messages(&case.input["messages"]), keep, least);
    let line = |idx: usize| {
        let seq = case.input["messages"][idx]["seq"].to_string();
        (seq, json!(messages[idx].text()))
    };
    let by_seq: Map<String, Value> = elided.into_iter().map(line).collect();
    json!({"elided_content_by_seq": by_seq})
}

pub(super) fn emergency(case: &Case) -> Value {
    let limits = case.expected["emergency_keep_recent"].as_object();
    let limits = limits.into_iter().flat_map(Map::keys);
    let kept = limits.map(|keep| {
        let kept = emergency_keep_recent(keep.parse().unwrap_or(0));
        (keep.clone(), json!(kept))
    });
    json!({"emergency_keep_recent": kept.collect::<Map<_, _>>()})
}

/// Converts stored messages to chat messages.
fn stored_messages(value: &Value) -> Vec<ChatMessage> {
    value.as_array().into_iter().flatten().map(message).collect()
}

fn message(value: &Value) -> ChatMessage {
    let parts: Vec<&Value> = value["parts"].as_array().into_iter().flatten().collect();
    let mut content = Vec::new();
    let mut calls = Vec::new();
    let mut call_id = value["tool_call_ids"][0].clone();
    for part in parts {
        match part["type"].as_str() {
            Some("tool_call") => calls.push(json!({
                "id": part["tool_call"]["id"],
                "type": "function",
                "function": {
                    "name": part["tool_call"]["name"],
                    "arguments": part["tool_call"]["args"],
                },
            })),
            Some("tool_result") => {
                let result = &part["tool_result"];
                call_id = result["tool_call_id"].clone();
                content.extend(result["parts"].as_array().into_iter().flatten().cloned());
            }
            _ => content.push(part.clone()),
        }
    }
    let mut message = json!({"role": value["role"]});
    match (&content[..], value.get("content")) {
        ([], Some(text)) => message["content"] = text.clone(),
        ([], None) => {}
        ([only], _) if only["type"] == "text" => message["content"] = only["text"].clone(),
        _ => message["content"] = json!(content),
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    if call_id.is_string() {
        message["tool_call_id"] = call_id;
    }
    message_from_json(&message)
}
