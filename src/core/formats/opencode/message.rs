//! Reads one message of the file: a user message, or an answer split into its model calls.

use crate::formats::content::{Media, of_block, opaque, part};
use crate::formats::rows::Row;
use crate::formats::{content, counts, json};
use crate::json::Value;
use crate::session::{Body, CallDraft, CutAnswer, Draft, Part, Role, Usage};
use crate::units::{Millis, Tokens};

/// One model call of an answer.
#[derive(Debug, Default)]
pub(crate) struct ModelCall {
    /// Parts that the model wrote.
    pub(crate) output: Vec<Part>,
    /// Tool results.
    pub(crate) results: Vec<Part>,
    /// Reported usage.
    pub(crate) usage: Option<Usage>,
    /// Whether the answer reached its maximum length.
    pub(crate) is_cut: bool,
}

/// A tool output that the program pruned.
#[derive(Debug)]
pub(super) struct PrunedOutput {
    /// Time of the pruning.
    pub(super) time: Millis,
    /// Id of the tool call.
    pub(super) call: Box<str>,
}

/// Text that replaces a pruned output.
pub(super) const CLEARED_OUTPUT: &str = "[Old tool result content cleared]";
/// The request for a summary.
pub(super) const SUMMARY_PROMPT: &str = "What did we do so far?";

/// Creates a message with the id, the time and the position of its record.
pub(super) fn draft(row: &Row, role: Role, parts: Vec<Part>) -> Draft {
    Draft {
        id: json::str_at(&row.value, &["info", "id"]).map(Into::into),
        time: json::millis_at(&row.value, &["info", "time", "created"]),
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts)
    }
}

/// Iterates over the parts of a message as the file lists them.
pub(super) fn raw_parts(row: &Row) -> impl Iterator<Item = (usize, &Value)> {
    let parts = row.value.get("parts").and_then(Value::as_array);
    parts.into_iter().flatten().enumerate()
}

/// Parts of a user message.
pub(super) struct UserParts {
    pub(super) parts: Vec<Part>,
    /// Whether the program wrote all of them.
    pub(super) is_injected: bool,
}

/// Returns the parts of a user message.
pub(super) fn user_parts(row: &Row) -> UserParts {
    let mut parts = Vec::new();
    let mut is_injected = true;
    for (idx, value) in raw_parts(row) {
        let kind = json::str_at(value, &["type"]).unwrap_or_default();
        let text = json::str_at(value, &["text"]).unwrap_or_default();
        match kind {
            "text" if !json::is_true(value, &["ignored"]) => {
                is_injected &= json::is_true(value, &["synthetic"]);
                parts.extend(content::text_part(idx, text));
            }
            "file" => {
                is_injected = false;
                parts.extend(file(idx, value, None));
            }
            "compaction" => parts.extend(content::text_part(idx, SUMMARY_PROMPT)),
            "subtask" => {
                let prompt = json::str_at(value, &["prompt"]).unwrap_or_default();
                parts.extend(content::text_part(idx, prompt));
            }
            _ => {}
        }
    }
    UserParts { parts, is_injected }
}

/// Returns an attachment that is sent as media. `within` is the id of the tool call that returned it.
fn file(idx: usize, value: &Value, within: Option<&str>) -> Option<Part> {
    media(value).map(|media| part(idx, media.body(within)))
}

/// Returns whether an attachment is sent as media.
pub(super) fn is_media(file: &Value) -> bool {
    media(file).is_some()
}

/// Returns the media of an attachment; `None` for text files and folders, which are sent as separate texts.
fn media(file: &Value) -> Option<Media> {
    let mime = json::str_at(file, &["mime"]).unwrap_or_default();
    let is_sent_as_text = matches!(mime, "text/plain" | "application/x-directory");
    of_block(file).filter(|_| !is_sent_as_text)
}

/// Types of parts that are not sent.
const NOT_SENT: [&str; 6] = ["snapshot", "patch", "agent", "retry", "compaction", "subtask"];

/// Returns the model calls of an answer. The usage of the whole answer applies if its only call reports none.
pub(super) fn calls(row: &Row, pruned: &mut Vec<PrunedOutput>) -> Vec<ModelCall> {
    let mut calls = calls_of(raw_parts(row), pruned);
    let whole = usage(row.value.pointer("/info/tokens"));
    if let [only] = &mut calls[..] {
        only.usage = only.usage.or(whole);
    }
    calls
}

/// Returns the model calls that consist of these parts, see [`calls`].
pub(crate) fn calls_of_parts(parts: &[Value]) -> Vec<ModelCall> {
    calls_of(parts.iter().enumerate(), &mut Vec::new())
}

fn calls_of<'a>(
    parts: impl Iterator<Item = (usize, &'a Value)>,
    pruned: &mut Vec<PrunedOutput>,
) -> Vec<ModelCall> {
    let mut calls: Vec<ModelCall> = Vec::new();
    let mut is_open = false;
    for (idx, value) in parts {
        let kind = json::str_at(value, &["type"]).unwrap_or_default();
        if kind == "step-start" {
            calls.push(ModelCall::default());
            is_open = true;
            continue;
        }
        if NOT_SENT.contains(&kind) {
            continue;
        }
        if !is_open {
            calls.push(ModelCall::default());
            is_open = true;
        }
        let Some(call) = calls.last_mut() else {
            continue;
        };
        match kind {
            "step-finish" => {
                call.usage = usage(value.get("tokens"));
                call.is_cut = json::str_at(value, &["reason"]) == Some("length");
                is_open = false;
            }
            "text" => call.output.extend(content::text_part(
                idx,
                json::str_at(value, &["text"]).unwrap_or_default(),
            )),
            "reasoning" => {
                let text = json::str_at(value, &["text"]).unwrap_or_default();
                let sealed = value.get("metadata").map_or(0, encrypted_bytes);
                call.output.extend(content::thought(text, sealed).map(|body| part(idx, body)));
            }
            "tool" => tool(idx, value, call, pruned),
            "file" => call.output.extend(file(idx, value, None)),
            _ => call.output.push(part(idx, opaque(value))),
        }
    }
    calls
        .retain(|call| !call.output.is_empty() || !call.results.is_empty() || call.usage.is_some());
    calls
}

/// Returns the bytes of signatures and encrypted content of a thought.
fn encrypted_bytes(metadata: &Value) -> usize {
    match metadata {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| match value.as_str() {
                Some(text) if key.contains("ignature") || key.contains("ncrypted") => text.len(),
                _ => encrypted_bytes(value),
            })
            .sum(),
        _ => 0,
    }
}

/// Adds a tool call, and its result if the tool returned one.
fn tool(idx: usize, value: &Value, call: &mut ModelCall, pruned: &mut Vec<PrunedOutput>) {
    let field = |path: &[&str]| json::str_at(value, path);
    let id = field(&["callID"]).unwrap_or_default();
    let name = field(&["tool"]).unwrap_or_default();
    let state = value.get("state").unwrap_or(&Value::Null);
    call.output.push(part(idx, content::call(Some(id), name, state.get("input"))));
    let status = field(&["state", "status"]).unwrap_or_default();
    let output = match status {
        "completed" => field(&["state", "output"]),
        // An interrupted tool may have returned output.
        "error" => field(&["state", "metadata", "output"]).or_else(|| field(&["state", "error"])),
        _ => None,
    };
    let Some(output) = output else {
        return;
    };
    let body = Body::ToolResult {
        call: id.into(),
        tool: name.into(),
        is_error: status == "error",
        text: output.into(),
    };
    call.results.push(part(idx, body));
    let attached = state.get("attachments").and_then(Value::as_array);
    call.results.extend(
        attached.into_iter().flatten().filter_map(|attachment| file(idx, attachment, Some(id))),
    );
    if let Some(time) = json::millis_at(state, &["time", "compacted"]) {
        pruned.push(PrunedOutput { time, call: id.into() });
    }
}

/// Returns the recorded data of an answer's model call.
pub(super) fn call_draft(row: &Row, usage: Option<Usage>, is_cut: bool) -> CallDraft {
    let info = |key| json::str_at(&row.value, &["info", key]);
    CallDraft {
        model: info("modelID").map(str::to_owned),
        usage,
        time: json::millis_at(&row.value, &["info", "time", "created"]),
        cut: is_cut.then(CutAnswer::default),
        ..CallDraft::default()
    }
}

fn usage(tokens: Option<&Value>) -> Option<Usage> {
    let tokens = tokens?;
    let count = |path: &[&str]| counts::tokens_at(tokens, path);
    let (read, write) = (count(&["cache", "read"]), count(&["cache", "write"]));
    let input: Tokens = [count(&["input"]), read, write].into_iter().flatten().sum();
    let reasoning = count(&["reasoning"]);
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count(&["output"]).map(|output| output + reasoning.unwrap_or_default()),
        reasoning,
        ..Usage::default()
    })
}
