//! Tool calls and results in response items.

use super::blocks::block_body;
use crate::formats::content::{self, part};
use crate::formats::json::{str_at, text_of};
use crate::json::Value;
use crate::session::{Body, Part};

/// Member added to an emptied list of found tools. Codex does not read it.
pub(super) const NOTE: &str = "plimsoll_note";

/// Line between the head of a command's result and its output.
const OUTPUT_LINE: &str = "\nOutput:";

/// Prefixes of results that Codex wrote because the tool did not run.
const FAILURE_STARTS: [&str; 4] = [
    "apply_patch verification failed",
    "exec_command failed",
    "collab spawn failed",
    "Script failed",
];

/// Keys of a call's arguments, in the notations of the different calls.
pub(super) const ARGUMENTS: [&str; 3] = ["arguments", "input", "action"];

/// Returns a call.
pub(super) fn call(kind: &str, value: &Value) -> Body {
    let name = str_at(value, &["name"]).unwrap_or(kind.trim_end_matches("_call"));
    let arguments = ARGUMENTS.iter().find_map(|key| value.get(*key));
    Body::ToolCall {
        call: call_id(value).into(),
        tool: name.into(),
        arguments: arguments.map(text_or_json).unwrap_or_default(),
    }
}

fn call_id(value: &Value) -> &str {
    str_at(value, &["call_id"]).or_else(|| str_at(value, &["id"])).unwrap_or_default()
}

fn text_or_json(value: &Value) -> Box<str> {
    match value {
        Value::Null => "".into(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// Returns the parts of a tool's result: a text, blocks, or an object that contains either.
pub(super) fn result(value: &Value) -> Vec<Part> {
    let call = call_id(value);
    let output = value.get("output").or_else(|| value.get("tools")).unwrap_or(&Value::Null);
    let inner = output.get("content").unwrap_or(output);
    let mut media = Vec::new();
    let text: Box<str> = match inner {
        Value::Array(blocks) if value.get("output").is_some() => {
            let others = blocks.iter().enumerate().filter(|(_, block)| block.get("text").is_none());
            media.extend(others.map(|(idx, block)| part(idx, block_body(block, Some(call)))));
            text_of(inner).into()
        }
        Value::Object(block) => match block.get("text") {
            Some(text) => text_or_json(text),
            None => text_or_json(inner),
        },
        other => text_or_json(other),
    };
    let text = str_at(value, &[NOTE]).map_or(text, Into::into);
    let failed = output.get("success").and_then(Value::as_bool) == Some(false) || is_failure(&text);
    let body = Body::ToolResult { call: call.into(), tool: "".into(), is_error: failed, text };
    let mut parts = vec![part(0, body)];
    parts.append(&mut media);
    parts
}

/// Returns whether a command failed. Codex does not mark it, but results have the exit code in their head or in
/// surrounding JSON.
fn is_failure(text: &str) -> bool {
    let code = |head: &str, before: &str| {
        let (_, rest) = head.split_once(before)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    if text.starts_with("{\"output\":") {
        let (_, metadata) = text.rsplit_once("\"metadata\":").unwrap_or_default();
        return code(metadata, "\"exit_code\":").is_some_and(|n| n != 0);
    }
    if FAILURE_STARTS.iter().any(|start| text.starts_with(start)) {
        return true;
    }
    let head = text.split_once(OUTPUT_LINE).map_or("", |(head, _)| head);
    ["exited with code ", "Exit code: "].iter().any(|b| code(head, b).is_some_and(|n| n != 0))
}

/// Returns the parts of an image that the provider generated. It is recorded with its call.
pub(super) fn generated_image(value: &Value) -> Vec<Part> {
    let prompt = str_at(value, &["revised_prompt"]).unwrap_or_default();
    let image = match str_at(value, &["result"]) {
        Some(data) if !data.is_empty() => content::from_base64("image/png", data, None),
        _ => content::reference("image/png", 0, None),
    };
    vec![part(0, Body::Text(prompt.into())), part(1, image)]
}
