//! Messages as text, and their estimates: a quarter token for each UTF-16 unit.

use crate::chat::{ChatMessage, Rule, result_of_call};
use crate::json::{Value, json};
use crate::languages::javascript::{first_units, length};

/// UTF-16 units of a result that the text keeps.
// As in opencode-ai 1.18.33, `SessionCompaction` of `packages/core`.
const RESULT: usize = 2_000;
/// An id of a message, which counts like its text.
const ID: &str = "msg_00000000000000000000000000";

/// UTF-16 units that a result counts in addition to its JSON here, as measured.
const RESULT_UNITS: usize = 52;
/// Start of the last line of a command's result.
const EXIT: &str = "\nCommand exited with code ";

const UNITS: Rule = Rule::new("opencode_v2: units");

/// Returns the estimated tokens of a number of units.
pub(super) fn tokens(units: usize) -> u64 {
    (units as f64 / 4.0).round() as u64
}

/// Returns the units of messages in a request, as JSON.
pub(super) fn units(messages: &[ChatMessage]) -> usize {
    let units = |message: &ChatMessage| {
        message.weigh(UNITS, |message| {
            let own = if message.is("tool") { RESULT_UNITS } else { 1 };
            (length(&json_of(message).to_string()) + own) as u64
        })
    };
    messages.iter().map(units).sum::<u64>() as usize
}

fn json_of(message: &ChatMessage) -> Value {
    let text = message.joined_text("\n");
    if message.is("system") {
        return json!({"type": "text", "text": text});
    }
    if message.is("tool") {
        let id = message.call_id.as_deref();
        let name = message.name.as_deref().unwrap_or_default();
        let result = result_of(&text);
        let part = json!({"type": "tool-result", "id": id, "name": name, "result": result});
        return json!({"role": "tool", "content": [part]});
    }
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let calls = message.calls().iter().map(|call| {
        let (id, input) = (call.id.as_deref(), call.arguments_as_value());
        json!({"type": "tool-call", "id": id, "name": call.tool(), "input": input})
    });
    let content: Vec<Value> = text.into_iter().chain(calls).collect();
    let mut json = json!({"id": ID, "role": &*message.role, "content": content});
    if message.is("user") && message.written.is_none() {
        json["metadata"] = json!({});
    }
    json
}

/// Returns the parts of a result: commands report their exit code as a text of its own.
pub(super) fn parts(result: &str) -> (&str, Option<&str>) {
    let exit = result.rfind(EXIT);
    exit.map_or((result, None), |at| (&result[..at], Some(&result[at + 1..])))
}

fn result_of(text: &str) -> Value {
    let part = |text: &str| json!({"type": "text", "text": text});
    match parts(text) {
        (output, Some(exit)) => json!({"type": "content", "value": [part(output), part(exit)]}),
        (text, None) => json!({"type": "text", "value": text}),
    }
}

/// Returns messages as texts. An answer, its calls and their results are one text.
pub(super) fn texts(messages: &[ChatMessage]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let text = match &*message.role {
            "user" => format!("[User]: {}", message.joined_text("\n")),
            "assistant" => answer(message, &messages[at + 1..]),
            "system" => format!("[System update]: {}", message.joined_text("\n")),
            _ => String::new(),
        };
        texts.extend((!text.is_empty()).then_some(text));
    }
    texts
}

/// Returns an answer as text, with the results that follow it.
fn answer(message: &ChatMessage, following: &[ChatMessage]) -> String {
    let mut lines = Vec::new();
    if let Some(reasoning) = message.reasoning.as_ref().filter(|r| !r.text.is_empty()) {
        lines.push(format!("[Assistant reasoning]: {}", reasoning.text));
    }
    let text = message.joined_text("\n");
    if !text.is_empty() {
        lines.push(format!("[Assistant]: {text}"));
    }
    for call in message.calls() {
        let input = call.arguments_as_value();
        lines.push(format!("[Assistant tool call]: {}({input})", call.tool()));
        if let Some(result) = result_of_call(call, following) {
            let text = result.joined_text("\n");
            lines.push(format!("[Tool result]: {}", cut(&text)));
        }
    }
    lines.join("\n")
}

fn cut(text: &str) -> String {
    if length(text) <= RESULT {
        return text.to_owned();
    }
    format!("{}\n[truncated]", first_units(text, RESULT))
}
