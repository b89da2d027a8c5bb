//! The summary request: calls and results become text.

use crate::chat::{Block, ChatMessage, Content, SummaryRequest};
use crate::json::Value;
use crate::session::WrittenKind;

const SYSTEM: &str = include_str!("prompts/system.txt");
const INSTRUCTION: &str = include_str!("prompts/summarize.txt");

/// `summarizeConversation`: returns the request for a summary of messages.
pub(super) fn summary_request(messages: &[ChatMessage]) -> SummaryRequest {
    let mut all = vec![ChatMessage::new("system", SYSTEM)];
    let mut parts: Vec<String> = Vec::new();
    let mut last_role = "";
    for message in messages {
        let joins = match &*message.role {
            "tool" => last_role == "tool",
            _ => message.written == Some(WrittenKind::Addition),
        };
        if !joins {
            all.extend(of_parts(std::mem::take(&mut parts)));
        }
        last_role = &message.role;
        let text = || message.joined_text("\n").into_owned();
        match &message.content {
            _ if message.is("assistant") => {
                all.push(ChatMessage::new("assistant", answer(message)));
            }
            _ if message.is("tool") => parts.push(format!("[Tool Result]\n{}", text())),
            Content::Blocks(blocks) => {
                parts.extend(blocks.iter().filter_map(Block::as_text).map(str::to_owned));
            }
            _ => parts.push(text()),
        }
    }
    all.extend(of_parts(parts));
    all.push(ChatMessage::new("user", INSTRUCTION));
    SummaryRequest::new(all)
}

/// Returns a user message of several texts; a single text is its content.
fn of_parts(mut parts: Vec<String>) -> Option<ChatMessage> {
    let mut message = ChatMessage::new("user", "");
    message.content = match parts.len() {
        0 => return None,
        1 => Content::text(parts.remove(0)),
        _ => Content::Blocks(parts.into_iter().map(Block::text).collect()),
    };
    Some(message)
}

/// Returns the text of an answer and its calls.
fn answer(message: &ChatMessage) -> String {
    let text = message.joined_text("\n").into_owned();
    let calls = message.calls().iter().map(|call| {
        let arguments = call.arguments_as_value();
        let pairs = arguments.as_object().into_iter().flatten();
        let lines = pairs.map(|(key, value)| format!("\n{key}: {}", value_text(value)));
        let lines: String = lines.collect();
        format!("[Tool Use: {}]{lines}", call.tool())
    });
    let parts = Some(text).filter(|text| !text.is_empty()).into_iter().chain(calls);
    parts.collect::<Vec<_>>().join("\n")
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
