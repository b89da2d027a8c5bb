//! Results of tau-bench and tau2-bench: episodes of an agent with a simulated customer. Each is a conversation of
//! OpenAI messages (`traj`, or `messages` of the `simulations`).
//!
//! In tau2-bench the customer has tools too. Its calls and their results are not sent to the agent.

use super::content::CallMatcher;
use super::message_list::{self, Dialect, Shape, Writes};
use super::{Format, Probe, RecordedData, json, openai_chat};
use crate::json::Value;
use crate::session::{Body, CallDraft, Draft};

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "tau-bench results",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// Notation of these messages for reading and writing.
const DIALECT: Dialect = Dialect {
    name: "tau_bench",
    shape: Shape { lists: &["traj", "messages"], many: &["simulations"], ..message_list::CHAT },
    title,
    body: openai_chat::body,
    messages,
    note: |value| {
        is_of_customer(value).then_some(
            "the customer's calls and their results are not sent to the agent, and are left out",
        )
    },
    call,
    writes: Some(Writes {
        edit: openai_chat::edit,
        written: openai_chat::written,
        result: Some(openai_chat::added_result),
    }),
    ..Dialect::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let is_episode = |v: &Value| {
        v.get("task_id").is_some()
            && ["traj", "messages"].iter().any(|key| v.get(key).is_some_and(Value::is_array))
            && ["reward", "reward_info", "info"].iter().any(|key| v.get(key).is_some())
    };
    let listed = |list: &[Value]| !list.is_empty() && list.iter().all(is_episode);
    let is_match = match probe.document() {
        Some(Value::Array(list)) => listed(list),
        Some(one) => {
            let simulations = one.get("simulations").and_then(Value::as_array);
            is_episode(one) || simulations.is_some_and(|list| listed(list))
        }
        None => !probe.records().is_empty() && probe.records().iter().all(|r| is_episode(&r.value)),
    };
    is_match.then(|| "episodes with a `task_id`, messages and a reward".to_owned())
}

/// Returns whether a message is a call of the customer or the result of one.
fn is_of_customer(message: &Value) -> bool {
    match json::str_at(message, &["role"]) {
        Some("user") => message.get("tool_calls").is_some_and(Value::is_array),
        Some("tool") => json::str_at(message, &["requestor"]) == Some("user"),
        _ => false,
    }
}

fn messages(value: &Value, calls: &mut CallMatcher) -> Result<Vec<Draft>, String> {
    if is_of_customer(value) {
        return Ok(Vec::new());
    }
    // Results of tau2-bench have the id of their call.
    let id = value.get("id").filter(|_| value.get("requestor").is_some());
    let Some((id, mut members)) = id.zip(value.as_object().cloned()) else {
        return Ok(vec![openai_chat::message(value, calls)?]);
    };
    members.insert("tool_call_id".to_owned(), id.clone());
    let mut draft = openai_chat::message(&Value::Object(members), calls)?;
    for part in &mut draft.parts {
        if let Body::ToolResult { is_error, .. } = &mut part.body {
            *is_error = json::is_true(value, &["error"]);
        }
    }
    Ok(vec![draft])
}

/// Returns the call that an answer of the agent reports.
fn call(message: &Value) -> Option<CallDraft> {
    if json::str_at(message, &["role"]) == Some("user") {
        return None;
    }
    let call = message_list::call_of(message)?;
    let model = json::str_at(message, &["raw_data", "model"]).map(str::to_owned);
    Some(CallDraft { model: call.model.clone().or(model), ..call })
}

fn title(episode: &Value) -> Option<String> {
    let text = |key| {
        let value = episode.get(key)?;
        value.as_str().map(str::to_owned).or_else(|| Some(json::u64_at(value, &[])?.to_string()))
    };
    let trial = text("trial").map_or_else(String::new, |trial| format!(", trial {trial}"));
    Some(format!("task {}{trial}", text("task_id")?))
}
