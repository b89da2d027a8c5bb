//! Cases of `BaseAgent`: counts, truncation, clearing, context management, and the agent loop.

mod agent_loop;
mod agent_loop_case;
mod exception;
mod manage_context;
mod utf16;

use super::{Answer, Case, NotCovered, messages_from_json, messages_to_json, no_stage, object};
use exception::read_exception;
use manage_context::manage_context;
use plimsoll::chat::{
    ChatMessage, SummaryReply, SummaryRequest, message_to_json, run_with_replies,
};
use plimsoll::json::{Map, Value, json};
use plimsoll::languages::python::PythonError;
use plimsoll::systems::baseagent::{
    Limits, MARKER, StopAtMarker, message_tokens, middle_out, prune_old_tool_outputs, total_tokens,
};
use plimsoll::units::Tokens;
use utf16::utf8_of;

/// Runs one case.
pub(super) fn run(case: &Case) -> Answer {
    match &*case.stage {
        "estimate" => Ok(or_error(estimate(case))),
        "threshold" => threshold(case),
        "truncate" => truncate(case),
        "prune" => Ok(or_error(prune(case))),
        "manage" => Ok(manage(case)),
        "loop" => agent_loop_case::run_loop(case),
        _ => Err(no_stage(case)),
    }
}

/// Returns the limits of a case; the default is as shipped.
fn limits(config: &Value) -> Limits {
    let whole = |key: &str, shipped| config[key].as_i64().unwrap_or(shipped);
    let shipped = Limits::SHIPPED;
    Limits {
        context: whole("model_context_limit", shipped.context),
        output: whole("output_token_max", shipped.output),
        threshold: config["auto_compact_threshold"].as_f64().unwrap_or(shipped.threshold),
        protect: whole("prune_protect", shipped.protect),
        minimum: whole("prune_minimum", shipped.minimum),
        protected_turns: whole("protect_last_turns", shipped.protected_turns),
    }
}

fn or_error(answer: Result<Value, PythonError>) -> Map<String, Value> {
    match answer {
        Ok(Value::Object(fields)) => fields,
        Ok(other) => object([("answer", other)]),
        Err(error) => object([("error", json!(error.kind)), ("error_text", json!(error.text))]),
    }
}

fn estimate(case: &Case) -> Result<Value, PythonError> {
    let messages = messages_from_json(&case.input["messages"]);
    let each = messages.iter().map(|message| Ok(message_tokens(message)?.0));
    let each: Vec<u64> = each.collect::<Result<_, PythonError>>()?;
    let total = total_tokens(&messages)?;
    Ok(json!({
        "per_message": each,
        "total": total.0,
        "needs_compaction": limits(&case.config).is_overflow(total),
    }))
}

/// A case of `needs_compaction` counts a message of that many tokens.
fn threshold(case: &Case) -> Answer {
    let limits = limits(&case.config);
    let Some(total) = case.input["total_tokens"].as_u64() else {
        return Err(NotCovered("no total_tokens".to_owned()));
    };
    let mut answer = json!({
        "usable": limits.usable(),
        "is_overflow": limits.is_overflow(Tokens(total)),
    });
    let functions = case.whole["upstream"]["function"].as_str();
    if functions.is_some_and(|f| f.contains("needs_compaction")) {
        let text = "x".repeat(4 * total.saturating_sub(4) as usize);
        let counted = total_tokens(&[ChatMessage::new("user", text)]);
        answer["check_estimate"] = json!(counted == Ok(Tokens(total)));
        answer["needs_compaction"] = json!(counted.is_ok_and(|t| limits.is_overflow(t)));
    } else {
        answer["product"] = json!(limits.trigger());
    }
    Ok(or_error(Ok(answer)))
}

fn truncate(case: &Case) -> Answer {
    let max_tokens = case.config["max_output_tokens"].as_i64().unwrap_or(2500);
    let text = match (&case.input["text"], &case.input["text_escaped"]) {
        (Value::String(text), _) => Ok(text.clone()),
        (_, Value::String(escaped)) => utf8_of(units(escaped)),
        _ => return Err(NotCovered("no text".to_owned())),
    };
    Ok(or_error(Ok(match text {
        Err(error) => json!({"error": error.kind}),
        Ok(text) => {
            let cut = middle_out(&text, max_tokens);
            let after = cut.as_deref().unwrap_or(&text);
            json!({
                "text": after,
                "changed": after != text,
                "chars_before": text.chars().count(),
                "chars_after": after.chars().count(),
                "bytes_before": text.len(),
                "bytes_after": after.len(),
            })
        }
    })))
}

/// Parses a text with escaped UTF-16 units and an optional number of repetitions: `\ud800 x50`.
fn units(escaped: &str) -> Vec<u16> {
    let times = escaped.rsplit_once(" x");
    let times = times.and_then(|(text, n)| Some((text, n.parse::<usize>().ok()?)));
    let (escaped, n) = times.unwrap_or((escaped, 1));
    let mut units = Vec::new();
    let mut rest = escaped;
    while let Some(c) = rest.chars().next() {
        let unit =
            rest.strip_prefix("\\u").and_then(|hex| u16::from_str_radix(hex.get(..4)?, 16).ok());
        if let Some(unit) = unit {
            units.push(unit);
            rest = &rest[6..];
        } else {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            rest = &rest[c.len_utf8()..];
        }
    }
    units.repeat(n)
}

fn prune(case: &Case) -> Result<Value, PythonError> {
    let messages = messages_from_json(&case.input["messages"]);
    let before = total_tokens(&messages)?;
    let pruned = prune_old_tool_outputs(&messages, &limits(&case.config), StopAtMarker::Yes)?;
    let is_same = pruned.messages.is_none();
    let after = pruned.messages.unwrap_or(messages);
    Ok(json!({
        "messages": messages_to_json(&after),
        "tokens_before": before.0,
        "tokens_after": total_tokens(&after)?.0,
        "pruned_indices": pruned.cleared,
        "same_list_returned": is_same,
        "log": pruned.log,
    }))
}

fn manage(case: &Case) -> Map<String, Value> {
    let messages = messages_from_json(&case.input["messages"]);
    let limits = limits(&case.config);
    let is_forced = case.config["force_compaction"].as_bool().unwrap_or(false);
    let prompt = case.input["system_prompt"].as_str().unwrap_or_default();
    let system = ChatMessage::new("system", prompt);
    let mut calls = Vec::new();
    let managed = run_with_replies(
        |replies| manage_context(&messages, &system, &limits, is_forced, replies),
        |request| {
            calls.push(call_of(request));
            scripted_reply(&case.input)
        },
    );
    let answer = managed.messages.and_then(|after| {
        let after = after.as_deref().unwrap_or(&messages);
        Ok(json!({
            "messages": messages_to_json(after),
            "tokens_before": total_tokens(&messages)?.0,
            "tokens_after": total_tokens(after)?.0,
        }))
    });
    let mut answer = or_error(answer);
    answer.insert("log".to_owned(), json!(managed.log));
    answer.insert("llm_calls".to_owned(), json!(calls));
    answer
}

/// Returns a summary request as the case describes it. It names no model, so the client uses its own.
fn call_of(request: &SummaryRequest) -> Value {
    json!({
        "n_messages": request.messages.len(),
        "last_message": request.messages.last().map(message_to_json),
        "tokens_estimate": total_tokens(&request.messages).ok().map(|tokens| tokens.0),
        "kwargs": {"model": null, "max_tokens": request.max_tokens},
        "cleared_tool_outputs": n_cleared(&request.messages),
    })
}

/// Returns the model's answer to a summary request.
fn scripted_reply(input: &Value) -> SummaryReply {
    match input["fake_exception"].as_str() {
        Some(exception) => SummaryReply::Failed(read_exception(exception).text),
        None => SummaryReply::Text(input["fake_summary"].as_str().unwrap_or_default().into()),
    }
}

/// Returns the number of results that contain only the marker.
fn n_cleared(messages: &[ChatMessage]) -> usize {
    let is_cleared = |m: &&ChatMessage| m.is("tool") && m.text() == Some(MARKER);
    messages.iter().filter(is_cleared).count()
}
