//! The stage `limit`: the check before a model call.

use super::super::{Answer, Case, messages_from_json};
use super::scripted_answers::{described, scripted_reply};
use super::small::{uncounted_json, usage_to_json};
use super::{Version, is, llm, tools};
use plimsoll::chat::{
    ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest, run_with_replies,
};
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::holmesgpt::{
    Event, LEGACY_INSTRUCTION, LegacyLimited, Llm, RequestStats, RunError, Summarizer, Threshold,
    Truncation, V038_INSTRUCTION, V045_INSTRUCTION, compact_if_necessary,
    compact_if_necessary_v038, compact_legacy, compaction_start_event, forget_counts,
    truncate_to_window,
};

/// Prompt and answer tokens of every answer.
const PRICE: (u64, u64) = (100, 10);

pub(super) fn threshold(config: &Value) -> Threshold {
    let is_enabled = config["enable_conversation_history_compaction"].as_bool();
    Threshold {
        is_enabled: is_enabled.unwrap_or(true),
        pct: config["context_window_compaction_threshold_pct"].as_i64().unwrap_or(95),
    }
}

fn price(_: &SummaryRequest, _: &SummaryReply) -> RequestStats {
    RequestStats::of_request(PRICE.0, PRICE.1)
}

fn summarizer<'a>(case: &'a Case, llm: &'a Llm) -> Summarizer<'a> {
    let instruction = match super::version(case) {
        Version::V045 => V045_INSTRUCTION,
        Version::V038 => V038_INSTRUCTION,
        Version::Legacy => LEGACY_INSTRUCTION,
    };
    Summarizer { llm, tools: tools(case), instruction, max_tokens: None, price: &price }
}

/// Answers requests with the answers of a case, repeating the last one, and describes the requests.
fn answering<'a>(
    case: &'a Case,
    requests: &'a mut Vec<Value>,
) -> impl FnMut(&SummaryRequest) -> SummaryReply + 'a {
    let answers = case.input["fake_completions"].as_array().cloned().unwrap_or_default();
    move |request| {
        let mut request = request.clone();
        forget_counts(&mut request.messages);
        let answer = answers.get(requests.len()).or(answers.last()).cloned();
        requests.push(described(&request));
        scripted_reply(&answer.unwrap_or_default(), &request)
    }
}

pub(super) fn limit(case: &Case) -> Answer {
    let llm = llm(case)?;
    let summarizer = summarizer(case, &llm);
    let threshold = threshold(&case.config);
    let before = llm.count(&mut messages_from_json(&case.input["messages"]), tools(case));
    let mut input = messages_from_json(&case.input["messages"]);
    let start = compaction_start_event(&llm, threshold, &mut input, tools(case));
    let mut requests = Vec::new();
    let limited = run_with_replies(
        |replies| {
            if is(case, Version::V038) {
                compact_if_necessary_v038(&summarizer, threshold, input.clone(), replies)
            } else {
                compact_if_necessary(&summarizer, threshold, input.clone(), replies)
            }
        },
        answering(case, &mut requests),
    );
    let start = start.map(|event| json!({"content": event.content, "metadata": event.metadata}));
    let mut answer = Map::new();
    let mut put = |key: &str, value: Value| answer.insert(key.to_owned(), value);
    put("tokens_before", json!(before.total));
    put("usage_before", usage_to_json(before));
    put("compaction_start_event", json!(start));
    put("llm_requests", requests.into());
    if let Some(error) = &limited.error {
        put("error", json!(error.kind));
        put("error_text", json!(error.text));
        put("input_list_after", Value::Null);
        if error.kind == "CompactionInsufficientError" {
            put("events", limited.events.iter().map(event_text).collect());
        }
        return Ok(answer);
    }
    put("messages", uncounted_json(&limited.messages));
    put("tokens_after", json!(limited.tokens.total));
    put("compacted", json!(limited.is_compacted));
    put("metadata", json!({}));
    put("events", limited.events.iter().map(event_to_json).collect());
    let mut usage = limited.usage.to_json();
    if is(case, Version::V038) {
        // That release has no such field.
        usage.as_object_mut().map(|usage| usage.shift_remove("cache_creation_tokens"));
    } else {
        put("overflowing_tool_call_ids", texts(&limited.overflowing_call_ids));
    }
    put("compaction_usage", usage);
    Ok(answer)
}

pub(super) fn legacy(case: &Case) -> Answer {
    let llm = llm(case)?;
    let summarizer = summarizer(case, &llm);
    let before = llm.count(&mut messages_from_json(&case.input["messages"]), tools(case));
    let mut requests = Vec::new();
    let limited = run_with_replies(
        |replies| {
            let input = messages_from_json(&case.input["messages"]);
            limit_input_context_window(&summarizer, threshold(&case.config), input, replies)
        },
        answering(case, &mut requests),
    );
    let mut answer = Map::new();
    let mut put = |key: &str, value: Value| answer.insert(key.to_owned(), value);
    put("tokens_before", json!(before.total));
    put("usage_before", usage_to_json(before));
    put("llm_requests", requests.into());
    if let Some(RunError { kind, text }) = &limited.error {
        put("error", json!(kind));
        put("error_text", json!(text));
        put("input_list_after", Value::Null);
        return Ok(answer);
    }
    let cut = limited.fair.iter().flat_map(|fair| &fair.truncations);
    let cut: Value = cut.map(truncation_to_json).collect();
    put("messages", uncounted_json(&limited.messages));
    put("tokens_after", json!(limited.tokens.total));
    put("compacted", json!(limited.is_compacted));
    put("metadata", json!({"truncations": cut}));
    put("events", limited.events.iter().map(event_to_json).collect());
    Ok(answer)
}

/// Runs the check before each model call (`limit_input_context_window`).
fn limit_input_context_window(
    summarizer: &Summarizer<'_>,
    threshold: Threshold,
    messages: Vec<ChatMessage>,
    replies: &mut Replies<'_>,
) -> Result<LegacyLimited, PendingRequest> {
    let (llm, tools) = (summarizer.llm, summarizer.tools);
    let mut limited = compact_legacy(summarizer, threshold, messages, replies)?;
    if limited.error.is_none() {
        match truncate_to_window(llm, &mut limited.messages, tools) {
            Ok(fair) => limited.fair = fair,
            Err(error) => limited.error = Some(error),
        }
        limited.tokens = llm.count(&mut limited.messages, tools);
    }
    Ok(limited)
}

fn texts(ids: &[std::sync::Arc<str>]) -> Value {
    ids.iter().map(|id| json!(&**id)).collect()
}

fn truncation_to_json(truncation: &Truncation) -> Value {
    json!({
        "tool_call_id": truncation.tool_call_id,
        "start_index": 0,
        "end_index": truncation.end_index,
        "tool_name": truncation.tool_name,
        "original_token_count": truncation.original_tokens,
    })
}

/// Returns an event with its values.
pub(super) fn event_to_json(event: &Event) -> Value {
    json!({"event": event.name, "content": event.content, "metadata": event.metadata})
}

/// Returns an event as it is listed in an error.
fn event_text(event: &Event) -> Value {
    json!({"event": event.name, "content": event.content})
}
