//! Cases of counts, boundaries, and the messages that are sent.

use super::{message, messages, messages_to_json, or_null};
use crate::vector_runners::{Case, NotCovered};
use plimsoll::chat::Call;
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::picoclaw::Edition;
use plimsoll::systems::picoclaw::boundary::{find_safe_boundary, is_safe_boundary, turn_starts};
use plimsoll::systems::picoclaw::estimate::{
    message_tokens, tokens_after, tokens_before, tool_tokens,
};
use plimsoll::systems::picoclaw::sanitize::sanitize;

pub(super) fn estimate(case: &Case) -> Value {
    let messages = messages(&case.input["messages"]);
    let each: Vec<u64> = messages.iter().map(message_tokens).collect();
    json!({
        "after_per_message": each,
        "after_total": tokens_after(&messages),
        "before_total": tokens_before(&messages),
    })
}

/// The messages of this case are listed only with their counts, in `expected`.
pub(super) fn single_messages(case: &Case) -> Result<Value, NotCovered> {
    let cases = case.expected["cases"].as_array();
    let counted = cases.into_iter().flatten().map(|case| {
        let given = &case["message"];
        let message = message(given);
        if message.calls().iter().any(lacks_name) {
            let why = "a call is counted by a name that the case file leaves out";
            return Err(NotCovered(why.to_owned()));
        }
        Ok(json!({"message": given, "tokens": message_tokens(&message)}))
    });
    let counted: Vec<Value> = counted.collect::<Result<_, _>>()?;
    Ok(json!({ "cases": counted }))
}

/// Go does not write the name of a call without a function, so the counted name is unknown.
fn lacks_name(call: &Call) -> bool {
    call.function.is_none() && ["function", "name"].iter().all(|key| !call.rest.contains_key(*key))
}

/// The numbers in the case's name are the numbers of definitions to count.
pub(super) fn tool_definitions(case: &Case) -> Value {
    let mut lists = case.input.as_object().into_iter().flatten();
    let definitions = lists.find_map(|(_, list)| list.as_array());
    let definitions = definitions.map_or(&[][..], Vec::as_slice);
    let name = case.whole["case"].as_str().unwrap_or("");
    let counts = name.split('_').filter_map(|word| word.parse::<usize>().ok());
    let counted = counts.map(|n| {
        let first = &definitions[..n.min(definitions.len())];
        (format!("n{n}"), json!(tool_tokens(first)))
    });
    Value::Object(counted.collect())
}

pub(super) fn boundaries(case: &Case) -> Value {
    let history = messages(&case.input["messages"]);
    let targets = -1..=history.len().cast_signed() + 1;
    let found: Map<String, Value> = targets
        .clone()
        .map(|target| {
            let found = find_safe_boundary(&history, target);
            (target.to_string(), json!(found))
        })
        .collect();
    let safe: Vec<isize> = targets.filter(|at| is_safe_boundary(&history, *at)).collect();
    let starts = turn_starts(&history).into_iter().map(|at| json!(at));
    json!({
        "find_safe_boundary": found,
        "is_safe_indices": safe,
        "turn_starts": or_null(&starts.collect::<Vec<_>>()),
    })
}

pub(super) fn sanitized(case: &Case) -> Value {
    let history = messages(&case.input["messages"]);
    let view = |edition| {
        let mut sent = history.clone();
        sanitize(&mut sent, edition);
        json!({"messages": messages_to_json(&sent)})
    };
    json!({"before": view(Edition::Before), "after": view(Edition::After)})
}
