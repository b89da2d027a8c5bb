//! A session of metrics, and a model that answers questions about it from its prompt alone.

use crate::server::STREAM_HEAD;
use plimsoll::json::{Value, json};
use std::fmt::Write as _;

/// Returns a session of calls whose results state a metric each.
pub(crate) fn metrics_session(calls: usize) -> Vec<u8> {
    let mut messages = vec![
        json!({"role": "system", "content": "You are a careful agent."}),
        json!({"role": "user", "content": "Measure everything."}),
    ];
    for idx in 0..calls {
        let (id, value) = (format!("call_{idx}"), 1_000 + 83 * idx);
        let text = format!("metric_{idx} = {value}\n{}", "line of output ".repeat(60));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "bash", "arguments": "{\"command\":\"measure\"}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    messages.push(json!({"role": "assistant", "content": "Done."}));
    let tool =
        json!({"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}});
    json!({"tools": [tool], "messages": messages}).to_string().into_bytes()
}

/// Returns the metrics in a text.
fn metrics(text: &str) -> Vec<(&str, &str)> {
    let found = text.match_indices("metric_").filter_map(|(at, _)| {
        let (name, rest) = text[at..].split_once(" = ")?;
        let is_name = name["metric_".len()..].bytes().all(|b| b.is_ascii_digit());
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        (is_name && end > 0).then(|| (name, &rest[..end]))
    });
    found.collect()
}

/// Answers a request from its text alone. A summary keeps the metrics with an even number. A question without its answer in the
/// context is answered with `guess`.
pub(crate) fn read(request: &Value, guess: &str) -> String {
    let messages = request["messages"].as_array();
    let messages = messages.or(request["input"].as_array()).expect("a list");
    let texts: Vec<&str> = messages.iter().flat_map(texts).collect();
    let (last, before) = texts.split_last().expect("a message");
    if !last.starts_with("Answer one question") {
        let all = texts.join("\n");
        let mut summary = String::from("Measured so far:\n");
        let mut known = Vec::new();
        for (name, value) in metrics(&all) {
            let is_even = name.ends_with(['0', '2', '4', '6', '8']);
            if is_even && !known.contains(&name) {
                known.push(name);
                let _ = writeln!(summary, "{name} = {value}");
            }
        }
        return summary;
    }
    let name = last.split('`').nth(1).expect("the question names a metric");
    let option = |letter: &str| {
        let mut lines = last.lines();
        lines.find_map(|line| line.strip_prefix(letter)).expect("an option")
    };
    let context = before.join("\n");
    let known = metrics(&context).into_iter().find(|(other, _)| *other == name);
    match known {
        Some((_, value)) if value == option("A: ") => "A".to_owned(),
        Some((_, value)) if value == option("B: ") => "The answer is **B**.".to_owned(),
        Some(_) => "neither".to_owned(),
        None => guess.to_owned(),
    }
}

/// Returns the texts of a message of any API, including those of tool results.
fn texts(message: &Value) -> Vec<&str> {
    match message {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            let texts_of = |key: &str| fields.get(key).map_or(Vec::new(), texts);
            ["content", "text", "output"].map(texts_of).concat()
        }
        _ => Vec::new(),
    }
}

/// Returns a streamed answer with this text.
pub(crate) fn reply(text: &str) -> Vec<u8> {
    let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 1_000, "completion_tokens": 2, "total_tokens": 1_002,
        "prompt_tokens_details": {"cached_tokens": 900}});
    let chunk = json!({"choices": [choice], "usage": usage});
    format!("{STREAM_HEAD}data: {chunk}\n\ndata: [DONE]\n\n").into_bytes()
}
