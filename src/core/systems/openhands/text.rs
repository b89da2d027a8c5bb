//! The summary request: each event as text, its content cut to a preview.

use super::view::{CondenserEventKind, EventView};
use crate::chat::{BlockBody, ChatMessage, Content, SummaryRequest};
use crate::languages::python::{first_chars, last_chars};

const SYSTEM: &str = include_str!("prompt.txt");

/// Characters of a preview.
// As in openhands-sdk 1.58.2, `N_CHAR_PREVIEW` (`openhands/sdk/event/base.py`).
const PREVIEW: usize = 500;

/// Takes the place of the middle of a long event.
const CLIPPED: &str = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you.</NOTE>";

/// Tools of the SDK whose actions have their own class. Others are those of an MCP server.
const TOOLS: [&str; 18] = [
    "apply_patch",
    "ask_oracle",
    "delegate",
    "edit",
    "file_editor",
    "finish",
    "glob",
    "grep",
    "list_directory",
    "planning_file_editor",
    "read_file",
    "sleeptime_compute",
    "task",
    "task_tracker",
    "terminal",
    "think",
    "workflow",
    "write_file",
];

/// Returns the request for a summary of events, each cut to a length.
pub(super) fn summary_request(
    events: impl Iterator<Item = String>,
    max_length: Option<usize>,
) -> SummaryRequest {
    let events = events.map(|text| {
        let text = max_length.map_or_else(|| text.clone(), |length| shortened(&text, length));
        format!("\n<EVENT>\n{text}\n</EVENT>\n")
    });
    let text = format!(
        "{}\n\nNow summarize the events using the rules above.",
        events.collect::<String>()
    );
    SummaryRequest::new(vec![
        ChatMessage::new("system", SYSTEM),
        ChatMessage::new("user", text.trim()),
    ])
}

/// Keeps both ends of a text within a length; 0 for no limit.
fn shortened(text: &str, length: usize) -> String {
    let n_notice = CLIPPED.chars().count();
    if length == 0 || text.chars().count() <= length {
        return text.to_owned();
    }
    let Some(rest) = length.checked_sub(n_notice).filter(|rest| *rest > 0) else {
        return first_chars(CLIPPED, length).to_owned();
    };
    let n_head = rest.div_ceil(2);
    format!("{}{CLIPPED}{}", first_chars(text, n_head), last_chars(text, rest - n_head))
}

/// `str(event)`.
pub(super) fn event_text(view: &EventView<'_>, at: usize) -> String {
    let event = view.event(at);
    let message = view.message_of(event);
    match event.kind {
        CondenserEventKind::System => format!(
            "SystemPromptEvent (agent)\n  System: {}\n  Tools: {} available",
            preview(&joined(message, "\n")),
            view.n_tools()
        ),
        CondenserEventKind::Summary => shown("CondensationSummaryEvent (environment)", message),
        CondenserEventKind::Message => {
            let source = if message.is("assistant") { "agent" } else { "user" };
            shown(&format!("MessageEvent ({source})"), message)
        }
        CondenserEventKind::Action => {
            let thought =
                if event.nth == 0 { preview(&joined(message, " ")) } else { String::new() };
            let tool = message.calls()[event.nth].tool();
            let class = action_class(tool);
            format!("ActionEvent (agent)\n  Thought: {thought}\n  Action: {class}")
        }
        CondenserEventKind::Observation => format!(
            "ObservationEvent (environment)\n  Tool: {}\n  Result: {}",
            message.name.as_deref().unwrap_or_default(),
            preview(&joined(message, ""))
        ),
    }
}

/// Shows an event by the content of its message.
fn shown(name: &str, message: &ChatMessage) -> String {
    let role = &message.role;
    let is_empty = match &message.content {
        Content::Text(_) => false,
        Content::Blocks(blocks) => blocks.is_empty(),
        _ => true,
    };
    if is_empty {
        return format!("{name}\n  {role}: [no text content]");
    }
    let mut text = joined(message, " ");
    if text.chars().count() > PREVIEW {
        text = format!("{}...", first_chars(&text, PREVIEW - 3));
    }
    format!("{name}\n  {role}: {text}")
}

/// Returns the texts of a message, with a mark for each image.
fn joined(message: &ChatMessage, separator: &str) -> String {
    match &message.content {
        Content::Text(text) => text.text.to_string(),
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match &block.body {
                BlockBody::Image(_) => Some("[Image: 1 URLs]"),
                _ => block.as_text(),
            });
            texts.collect::<Vec<_>>().join(separator)
        }
        _ => String::new(),
    }
}

fn preview(text: &str) -> String {
    let start = first_chars(text, PREVIEW);
    let mark = if start.len() < text.len() { "..." } else { "" };
    format!("{start}{mark}")
}

/// Returns the class of a tool's action.
fn action_class(tool: &str) -> String {
    if !TOOLS.contains(&tool) && !tool.starts_with("browser_") {
        return "MCPToolAction".to_owned();
    }
    let words = tool.split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<String>() + "Action"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_the_sdk_have_their_own_actions() {
        assert_eq!(action_class("file_editor"), "FileEditorAction");
        assert_eq!(action_class("browser_click"), "BrowserClickAction");
        assert_eq!(action_class("read_log"), "MCPToolAction");
    }

    #[test]
    fn both_ends_of_a_long_event_are_kept() {
        let text = "a".repeat(100) + &"b".repeat(100);
        assert_eq!(shortened(&text, 116), format!("aa{CLIPPED}b"));
        assert_eq!(shortened(&text, 20), "<response clipped><N");
        assert_eq!(shortened(&text, 200), text);
    }
}
