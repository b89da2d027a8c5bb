//! Reads a `UIMessage`: a role, and typed parts of one or more steps.

use super::model_message::{block_parts, denial, plain_output, role};
use crate::formats::content::{self, CallMatcher, part};
use crate::formats::{counts, json};
use crate::json::Value;
use crate::session::{CallDraft, Draft, EmptyContent, Part, Role, Usage};
use crate::units::Tokens;

/// Types of parts that are shown to the user and never sent.
const SHOWN: [&str; 3] = ["source-url", "source-document", "source"];

/// Returns whether a value may be a `UIMessage`.
pub(super) fn is_one(message: &Value) -> bool {
    let Some(parts) = message.get("parts").and_then(Value::as_array) else {
        return false;
    };
    json::str_at(message, &["role"]).is_some() && parts.iter().all(is_part)
}

fn is_part(part: &Value) -> bool {
    match json::str_at(part, &["type"]) {
        Some("text" | "reasoning") => json::str_at(part, &["text"]).is_some(),
        Some("step-start" | "steering-message" | "custom") => true,
        Some("file" | "reasoning-file") => part.get("url").is_some(),
        Some("dynamic-tool") => part.get("toolName").is_some(),
        Some(kind) if SHOWN.contains(&kind) || kind.starts_with("data-") => true,
        Some(kind) => kind.starts_with("tool-") && part.get("toolCallId").is_some(),
        None => false,
    }
}

/// Returns the messages that are sent for a stored one.
pub(super) fn messages(value: &Value, calls: &mut CallMatcher) -> Result<Vec<Draft>, String> {
    let role = role(value)?;
    let blocks = value.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut drafts = Vec::new();
    match role {
        Role::Assistant => {
            let (mut answer, mut results) = (Vec::new(), Vec::new());
            for (idx, block) in blocks.iter().enumerate() {
                match json::str_at(block, &["type"]) {
                    Some("step-start") => push_step(&mut drafts, &mut answer, &mut results),
                    Some("steering-message") => {
                        push_step(&mut drafts, &mut answer, &mut results);
                        let inner = block.get("parts").and_then(Value::as_array);
                        let inner = inner.into_iter().flatten();
                        let parts = inner.flat_map(|inner| user_parts(idx, inner)).collect();
                        drafts.push(Draft::new(Role::User, parts));
                    }
                    Some(_) => push_block(idx, block, &mut answer, &mut results),
                    None => {}
                }
            }
            push_step(&mut drafts, &mut answer, &mut results);
        }
        Role::System => {
            // All texts are one.
            let texts = blocks.iter().filter_map(|block| json::str_at(block, &["text"]));
            let parts = content::text_part(0, &texts.collect::<String>()).into_iter().collect();
            drafts.push(Draft::new(role, parts));
        }
        _ => {
            let parts = blocks.iter().enumerate();
            let parts = parts.flat_map(|(idx, block)| user_parts(idx, block)).collect();
            drafts.push(Draft::new(role, parts));
        }
    }
    for draft in &mut drafts {
        calls.join(&mut draft.parts);
        draft.time = time_of(value);
        draft.empty = draft.parts.is_empty().then_some(EmptyContent::List);
    }
    if let Some(first) = drafts.first_mut() {
        first.id = json::str_at(value, &["id"]).map(Into::into);
    }
    Ok(drafts)
}

fn time_of(value: &Value) -> Option<crate::units::Millis> {
    let paths: [&[&str]; 3] = [&["metadata", "createdAt"], &["createdAt"], &["created_at"]];
    paths.iter().find_map(|path| json::millis_at(value, path))
}

fn user_parts(idx: usize, block: &Value) -> Vec<Part> {
    match json::str_at(block, &["type"]) {
        Some("text" | "file") => content::block(idx, block),
        _ => Vec::new(),
    }
}

/// Ends a step: adds its answer and the results of its calls.
fn push_step(drafts: &mut Vec<Draft>, answer: &mut Vec<Part>, results: &mut Vec<Part>) {
    for (role, parts) in [(Role::Assistant, answer), (Role::Tool, results)] {
        if !parts.is_empty() {
            drafts.push(Draft::new(role, std::mem::take(parts)));
        }
    }
}

/// Adds a part of an answer. Results of tools that the provider executed are in the answer itself.
fn push_block(idx: usize, block: &Value, answer: &mut Vec<Part>, results: &mut Vec<Part>) {
    let kind = json::str_at(block, &["type"]).unwrap_or_default();
    let field = |key| json::str_at(block, &[key]);
    if SHOWN.contains(&kind) || kind.starts_with("data-") {
        return;
    }
    let tool = match kind {
        "dynamic-tool" => field("toolName").unwrap_or_default(),
        _ => match kind.strip_prefix("tool-") {
            Some(tool) => tool,
            None => return answer.extend(block_parts(idx, block)),
        },
    };
    let state = field("state").unwrap_or_default();
    if state == "input-streaming" {
        return;
    }
    let input = content::first(block, &["input", "rawInput"]);
    answer.push(part(idx, content::call(field("toolCallId"), tool, input)));
    let output = || block.get("output").unwrap_or(&Value::Null);
    let is_denied = block.get("approval").is_some_and(|a| {
        state == "approval-responded" && a.get("approved").and_then(Value::as_bool) == Some(false)
    });
    let (text, is_error) = match state {
        // A tool that the program no longer has.
        "output-available" if kind == "dynamic-tool" && is_static(block) => {
            (Value::from("Tool output omitted because the tool is no longer available."), false)
        }
        "output-available" => (plain_output(output()), false),
        "output-error" => (field("errorText").unwrap_or_default().into(), true),
        "output-denied" => (denial(block.get("approval").unwrap_or(&Value::Null)), true),
        _ if is_denied => (denial(block.get("approval").unwrap_or(&Value::Null)), true),
        _ => return,
    };
    let result = content::result(idx, (field("toolCallId"), Some(tool)), is_error, &text);
    if json::is_true(block, &["providerExecuted"]) { answer } else { results }.extend(result);
}

fn is_static(block: &Value) -> bool {
    block.get("dynamic").and_then(Value::as_bool) == Some(false)
}

/// Returns the number of answers of a message.
fn n_steps(message: &Value) -> usize {
    if role(message) != Ok(Role::Assistant) {
        return 0;
    }
    let blocks = message.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_border = |block: &Value| {
        matches!(json::str_at(block, &["type"]), Some("step-start" | "steering-message"))
    };
    blocks.split(is_border).filter(|step| step.iter().any(is_answer)).count()
}

/// Returns whether a part of an answer becomes one that is sent.
fn is_answer(block: &Value) -> bool {
    let (mut answer, mut results) = (Vec::new(), Vec::new());
    if json::str_at(block, &["type"]).is_some() {
        push_block(0, block, &mut answer, &mut results);
    }
    !answer.is_empty()
}

/// Returns a warning about data that is not sent or cannot be assigned to a call.
pub(super) fn note(message: &Value) -> Option<&'static str> {
    let parts = message.get("parts").and_then(Value::as_array)?;
    let is_data =
        |part: &Value| json::str_at(part, &["type"]).is_some_and(|kind| kind.starts_with("data-"));
    if usage(message).is_some() && n_steps(message) > 1 {
        return Some(
            "the usage of an answer with several steps is their sum and cannot be assigned to its calls",
        );
    }
    parts.iter().any(is_data).then_some(
        "data parts are not sent to the model unless the program converts them; they are left out",
    )
}

/// Returns the call of an answer with one step.
pub(super) fn call(message: &Value) -> Option<CallDraft> {
    let usage = usage(message)?;
    (n_steps(message) == 1).then(|| CallDraft {
        model: json::str_at(message, &["metadata", "model"]).map(str::to_owned),
        usage: Some(usage),
        time: time_of(message),
        ..CallDraft::default()
    })
}

/// Returns the usage that the program added to the metadata of a message.
fn usage(message: &Value) -> Option<Usage> {
    let metadata = message.get("metadata")?;
    let usage = content::first(metadata, &["usage", "totalUsage"])?;
    let count = |path: &[&str]| counts::tokens_at(usage, path);
    let read =
        count(&["inputTokenDetails", "cacheReadTokens"]).or_else(|| count(&["cachedInputTokens"]));
    let write = count(&["inputTokenDetails", "cacheWriteTokens"]);
    let input = counts::whole_input(count(&["inputTokens"])?, read, write);
    let reasoning = count(&["outputTokenDetails", "reasoningTokens"]);
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count(&["outputTokens"]),
        reasoning: reasoning.or_else(|| count(&["reasoningTokens"])),
        ..Usage::default()
    })
}
