//! Messages as the program stores them: results of parallel calls are one content.

use crate::chat::{ChatMessage, Rule, stored_ranges};
use crate::json::{Value, json};
use crate::languages::javascript::length;
use std::collections::BTreeMap;
use std::ops::Range;

/// UTF-16 units from which a text counts a quarter token a unit, whatever it contains.
// As in gemini-cli-core 0.61.0, `utils/tokenCalculation.js`, like the weights of the characters below.
const LONG_TEXT: usize = 100_000;

/// Tools by the ids of their calls.
pub(super) fn tools(messages: &[ChatMessage]) -> BTreeMap<&str, &str> {
    let calls = messages.iter().flat_map(ChatMessage::calls);
    calls.filter_map(|call| Some((call.id.as_deref()?, call.tool()))).collect()
}

/// Returns the id that the program gives to a call. Its result keeps the provider's id.
pub(super) fn call_id(tool: &str, id: &str) -> String {
    format!("{tool}__{id}")
}

/// Returns the ranges of messages that are one content: results of parallel calls, and neighbouring user messages.
pub(super) fn contents(messages: &[ChatMessage]) -> Vec<Range<usize>> {
    stored_ranges(messages, 0, |first, message| {
        first.role == message.role && !message.is("assistant")
    })
}

/// Returns the parts of a message, in the program's form.
pub(super) fn parts(message: &ChatMessage, tools: &BTreeMap<&str, &str>) -> Vec<Value> {
    if message.is("tool") {
        let id = message.call_id.as_deref().unwrap_or_default();
        let tool = tools.get(id).copied().unwrap_or_default();
        let response = response(message);
        return vec![json!({"functionResponse": {"id": id, "name": tool, "response": response}})];
    }
    let text = message.joined_text("\n");
    let text = (!text.is_empty()).then(|| json!({"text": text}));
    let calls = message.calls().iter().map(|call| {
        let id = call_id(call.tool(), call.id.as_deref().unwrap_or_default());
        json!({"functionCall": {"name": call.tool(), "args": call.arguments_as_value(), "id": id}})
    });
    text.into_iter().chain(calls).collect()
}

/// Returns the estimated tokens of messages, rounded down.
pub(super) fn estimated_tokens(messages: &[ChatMessage], tools: &BTreeMap<&str, &str>) -> u64 {
    let estimates = messages.iter().map(|message| {
        if message.is("tool") {
            let id = message.call_id.as_deref().unwrap_or_default();
            let tool = tools.get(id).copied().unwrap_or_default();
            return (length(tool) as u64 + response_length(message)) as f64 / 4.0;
        }
        parts(message, tools).iter().map(estimate_part).sum()
    });
    estimates.sum::<f64>().floor() as u64
}

const RESPONSE: Rule = Rule::new("gemini_cli: response");

/// Returns the length of a result as JSON.
fn response_length(message: &ChatMessage) -> u64 {
    message.weigh(RESPONSE, |message| length(&response(message).to_string()) as u64)
}

fn response(message: &ChatMessage) -> Value {
    json!({"output": message.joined_text("\n")})
}

/// Returns the estimated tokens of a text or a call.
fn estimate_part(part: &Value) -> f64 {
    if let Some(text) = part["text"].as_str() {
        if length(text) > LONG_TEXT {
            return length(text) as f64 / 4.0;
        }
        let weights = text.encode_utf16().map(|unit| if unit < 128 { 0.25 } else { 1.5 });
        return weights.sum();
    }
    length(&part.to_string()) as f64 / 4.0
}
