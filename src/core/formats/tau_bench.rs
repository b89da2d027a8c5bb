//! Results of tau-bench and tau2-bench: episodes of an agent with a simulated customer. Each is a conversation of
//! OpenAI messages (`traj`, or `messages` of the `simulations`).

use super::message_list::{self, Dialect, Shape, Writes};
use super::{Format, Probe, RecordedData, json, openai_chat};
use crate::json::Value;

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "tau-bench results",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    recorded: &[RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// Notation of these messages for reading and writing.
const DIALECT: Dialect = Dialect {
    name: "tau_bench",
    shape: Shape { lists: &["traj", "messages"], many: &["simulations"], ..message_list::CHAT },
    title,
    body: openai_chat::body,
    messages: |value, calls| Ok(vec![openai_chat::message(value, calls)?]),
    call: message_list::call_of,
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

fn title(episode: &Value) -> Option<String> {
    let text = |key| {
        let value = episode.get(key)?;
        value.as_str().map(str::to_owned).or_else(|| Some(json::u64_at(value, &[])?.to_string()))
    };
    let trial = text("trial").map_or_else(String::new, |trial| format!(", trial {trial}"));
    Some(format!("task {}{trial}", text("task_id")?))
}
