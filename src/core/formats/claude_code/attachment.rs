//! Content that the harness adds for the model: reminders, changed files, listings, hook output.
//!
//! Newer versions record the text that they send (`rendered`). A record of an older version holds the data only. The
//! program's surrounding text is not recorded then, so its tokens are part of the calibration.

use super::blocks;
use crate::formats::content;
use crate::formats::json::{self, joined};
use crate::json::BorrowedValue;
use crate::session::{Body, Part};
use std::borrow::Cow;

/// Type of the attachment with the instructions that the program sends again at each call.
pub(super) const SNAPSHOT: &str = "prompt_snapshot";

/// Returns the parts of an attachment whose text is recorded.
pub(super) fn rendered(rendered: &[BorrowedValue<'_>]) -> Vec<Part> {
    let parts = rendered.iter().enumerate().flat_map(|(idx, text)| {
        let parts = text.get("content").map(blocks::parts).unwrap_or_default();
        parts.into_iter().map(move |part| content::part(idx, part.body))
    });
    parts.filter(|part| !matches!(&part.body, Body::Text(text) if text.is_empty())).collect()
}

/// Returns the parts that an attachment adds to the context, or none if it is only displayed to the user.
pub(super) fn parts(attachment: &BorrowedValue<'_>) -> Vec<Part> {
    let kind = &*attachment.str_at(&["type"]).unwrap_or_default();
    if kind == "queued_command" {
        return attachment.get("prompt").map(blocks::parts).unwrap_or_default();
    }
    if kind.starts_with("hook_") && !is_hook_sent(kind, attachment) || kind == "command_permissions"
    {
        return Vec::new();
    }
    let text = text(kind, attachment);
    let body = if text.is_empty() {
        Body::Opaque { name: kind.into(), json: attachment.to_json().into() }
    } else {
        Body::Text(text.into())
    };
    vec![content::part(0, body)]
}

/// Returns whether a hook's output is sent to the model: for two events, or if the record kind implies it.
fn is_hook_sent(kind: &str, attachment: &BorrowedValue<'_>) -> bool {
    match kind {
        "hook_success" => {
            let event = attachment.str_at(&["hookEvent"]);
            matches!(event.as_deref(), Some("SessionStart" | "UserPromptSubmit"))
                && attachment.str_at(&["content"]).is_some_and(|text| !text.is_empty())
        }
        "hook_additional_context" | "hook_blocking_error" | "hook_stopped_continuation" => true,
        _ => false,
    }
}

/// Returns the text of an attachment, or an empty text if its notation is unknown.
fn text<'a>(kind: &str, attachment: &BorrowedValue<'a>) -> Cow<'a, str> {
    let text = |key: &str| attachment.str_at(&[key]).unwrap_or_default();
    let list = |key: &str| attachment.get(key).map(json::borrowed_text_of).unwrap_or_default();
    match kind {
        "edited_text_file" => lines(vec![text("filename"), text("snippet")]),
        "task_reminder" | "todo_reminder" => tasks(attachment.get("content")),
        "deferred_tools_delta" | "agent_listing_delta" => {
            lines(vec![list("addedLines"), list("removedNames"), list("removedTypes")])
        }
        "mcp_instructions_delta" => lines(vec![list("addedBlocks"), list("removedNames")]),
        "file" => match attachment.str_at(&["content", "file", "content"]) {
            Some(content) => lines(vec![text("filename"), content]),
            None => Cow::default(),
        },
        _ => list("content"),
    }
}

/// Returns whether the user wrote it: a message queued while the model was busy.
pub(super) fn is_user_message(attachment: &BorrowedValue<'_>) -> bool {
    let mode = attachment.str_at(&["commandMode"]);
    attachment.is_str_at(&["type"], "queued_command")
        && matches!(mode.as_deref(), None | Some("prompt"))
}

fn lines(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    texts.retain(|text| !text.is_empty());
    joined(texts)
}

/// Returns one line per task: its number, status and subject. Descriptions are not sent.
fn tasks<'a>(content: Option<&BorrowedValue<'a>>) -> Cow<'a, str> {
    let tasks = content.map(BorrowedValue::elements).unwrap_or_default();
    let line = |task: &BorrowedValue<'_>| {
        let text = |key: &str| task.str_at(&[key]).unwrap_or_default();
        let subject = Some(text("subject")).filter(|subject| !subject.is_empty());
        let subject = subject.unwrap_or_else(|| text("content"));
        Cow::Owned(format!("#{}. [{}] {subject}", text("id"), text("status")))
    };
    lines(tasks.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Value, json};

    fn text(attachment: &Value) -> Vec<String> {
        let attachment = attachment.to_string();
        let attachment = BorrowedValue::parse(&attachment);
        attachment
            .map(|attachment| parts(&attachment))
            .unwrap_or_default()
            .iter()
            .map(|p| p.body.text().to_owned())
            .collect()
    }

    #[test]
    fn reads_the_text_of_attachments() {
        let tasks = json!({"type": "task_reminder", "content": [{"id": "1", "subject": "Sail", "description": "long", "status": "pending"}]});
        assert_eq!(text(&tasks), ["#1. [pending] Sail"]);
        let edited = json!({"type": "edited_text_file", "filename": "a.rs", "snippet": "1\tx"});
        assert_eq!(text(&edited), ["a.rs\n1\tx"]);
        let tools = json!({"type": "deferred_tools_delta", "addedNames": ["A"], "addedLines": ["A: b", "C"], "removedNames": []});
        assert_eq!(text(&tools), ["A: b\nC"]);
        let empty = json!({"type": "task_reminder", "content": []});
        assert_eq!(text(&empty), [empty.to_string()]);
        let new = json!({"type": "novelty", "facts": 1});
        assert_eq!(text(&new), [new.to_string()]);
    }

    #[test]
    fn sends_hook_output_only_at_session_start_and_prompts() {
        let hook = |event: &str, content: &str| json!({"type": "hook_success", "hookEvent": event, "content": content, "stdout": "x"});
        assert_eq!(text(&hook("SessionStart", "hello")), ["hello"]);
        assert_eq!(text(&hook("SessionStart", "")), [""; 0]);
        assert_eq!(text(&hook("PostToolUse", "hello")), [""; 0]);
    }
}
