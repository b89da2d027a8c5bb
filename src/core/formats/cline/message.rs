//! Reads messages and the usage of their calls.

use super::sent_result;
use crate::formats::notes::unknown_role;
use crate::formats::{content, counts, json};
use crate::json::Value;
use crate::session::{Body, CallDraft, Draft, Part, Role, Usage};
use crate::units::Tokens;

/// Tags around text that the user wrote.
const USER_TAGS: [&str; 4] = ["<task>", "<feedback>", "<user_message>", "<answer>"];
/// Prefixes of user messages that the program wrote.
const PROGRAM_STARTS: [&str; 8] = [
    "<environment_details>",
    "[ERROR]",
    "[TASK RESUMPTION]",
    "<notice>",
    "<explicit_instructions",
    "<file_content",
    "<automated_",
    "<system",
];

/// Reads a message, or returns the reason why it cannot be read.
pub(super) fn read(value: &Value) -> Result<Draft, String> {
    let role = match json::str_at(value, &["role"]) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        other => return Err(unknown_role(other.unwrap_or_default())),
    };
    let mut parts = value.get("content").map(content::parts).unwrap_or_default();
    let thought = json::str_at(value, &["reasoning_content"]).filter(|_| role == Role::Assistant);
    let thought = thought.and_then(|text| content::thought(text, 0));
    // As it is not among the blocks, it gets the number after the last one.
    let number = parts.iter().map(|p| p.block as usize + 1).max();
    parts.extend(thought.map(|body| content::part(number.unwrap_or(0), body)));
    let is_marker = json::is_true(value, &["isTruncationMarker"]);
    let is_compaction = json::str_at(value, &["metadata", "kind"])
        .is_some_and(|kind| kind.starts_with("compaction"));
    let draft = Draft {
        id: json::str_at(value, &["id"]).map(Into::into),
        time: json::millis_at(value, &["ts"]),
        is_injected: role == Role::User && (is_marker || is_from_program(&parts)),
        is_summary: json::is_true(value, &["isSummary"]) || is_compaction,
        ..Draft::new(role, parts)
    };
    Ok(draft)
}

/// Reads a message of Cline's core as it is sent, see [`read`].
pub(super) fn read_core(value: &Value) -> Result<Draft, String> {
    let mut draft = read(&sent_result::of_message(value))?;
    if draft.role == Role::User {
        for part in &mut draft.parts {
            if let Body::Text(text) = &mut part.body
                && let Some(inner) = without_tags(text)
            {
                *text = inner.into();
            }
        }
    }
    Ok(draft)
}

/// Returns the user's text without its tags `<user_input mode="…">`, which are not sent.
fn without_tags(text: &str) -> Option<&str> {
    let (mode, rest) = text.strip_prefix("<user_input mode=\"")?.split_once("\">")?;
    let is_word = mode.chars().all(|c| c.is_alphanumeric() || c == '_');
    rest.strip_suffix("</user_input>").filter(|_| is_word)
}

/// Returns whether a user message contains no text of the user, only tool results and the program's state.
fn is_from_program(parts: &[Part]) -> bool {
    let texts = || {
        parts.iter().filter_map(|part| match &part.body {
            Body::Text(text) => Some(text.trim_start()),
            _ => None,
        })
    };
    let has_result = parts.iter().any(|p| matches!(p.body, Body::ToolResult { .. }));
    let is_from_user = |text: &str| USER_TAGS.iter().any(|tag| text.contains(tag));
    // Tool calls written as text have results written as text: `[read_file for 'x'] Result:`.
    let is_result = |text: &str| text.starts_with('[') && text.contains("] Result:");
    let is_program =
        |text: &str| is_result(text) || PROGRAM_STARTS.iter().any(|start| text.starts_with(start));
    texts().next().is_some()
        && !texts().any(is_from_user)
        && (has_result || texts().next().is_some_and(is_program))
}

/// Returns the call recorded with an answer.
pub(super) fn call(value: &Value) -> Option<CallDraft> {
    let of_sdk = value.get("metrics").and_then(counts::camel_case_usage);
    let usage = of_sdk.or_else(|| classic(value))?;
    let model = ["id", "modelId"].iter().find_map(|key| json::str_at(value, &["modelInfo", key]));
    Some(CallDraft {
        model: model.map(str::to_owned),
        usage: Some(usage),
        time: json::millis_at(value, &["ts"]),
        ..CallDraft::default()
    })
}

/// Reads the usage of classic histories, which record cache reads and writes in one number that the prompt excludes.
fn classic(value: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(value, &["metrics", "tokens", key]);
    let input = count("prompt")? + count("cached").unwrap_or_default();
    (input > Tokens::ZERO).then(|| Usage { input, output: count("completion"), ..Usage::default() })
}
