//! Renders messages as a text to be summarized: roles and texts, calls with their arguments, results.

use super::request::Request;
use crate::engine::case::Case;
use crate::session::{Body, Message, Role};
use std::fmt::Write as _;
use std::ops::Range;

/// Returns the whole content of a request: earlier summaries and notices first, then the messages.
pub fn transcript(case: &Case, request: &Request) -> String {
    let mut text = earlier(request);
    for message in request.messages.iter().cloned().flatten() {
        write_message(&mut text, case, &case.session.messages[message]);
    }
    text
}

/// Returns this text in parts of at most `most` true tokens each, in order. A single longer message is a separate part,
/// truncated to its beginning.
pub fn transcript_parts(case: &Case, request: &Request, most: u64) -> Vec<String> {
    let mut parts = vec![earlier(request)];
    let mut used = case.ledger.weigh(&parts[0]).0;
    for message in request.messages.iter().cloned().flatten() {
        let mut text = String::new();
        write_message(&mut text, case, &case.session.messages[message]);
        let mut weight = case.ledger.weigh(&text).0;
        if weight > most {
            text = beginning(&text, most as f64 / weight as f64);
            weight = case.ledger.weigh(&text).0;
        }
        if used > 0 && used + weight > most {
            parts.push(String::new());
            used = 0;
        }
        used += weight;
        let last = parts.len() - 1;
        parts[last] += &text;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn earlier(request: &Request) -> String {
    let mut text = String::new();
    for written in &request.written {
        let _ = writeln!(text, "[earlier] {}\n", written.trim());
    }
    text
}

/// Returns a share of a text, with a note about the omitted rest.
fn beginning(text: &str, share: f64) -> String {
    const NOTE: &str = "\n[the rest of this message does not fit]\n\n";
    // Slightly less than the share, since weights are not uniform and the note has a weight too.
    let room = (text.len() as f64 * share * 0.9) as usize;
    let end = text.floor_char_boundary(room.saturating_sub(NOTE.len()));
    format!("{}{NOTE}", &text[..end])
}

fn write_message(text: &mut String, case: &Case, message: &Message) {
    let parts: Range<usize> = message.parts.clone();
    for part in &case.session.parts[parts] {
        let _ = match &part.body {
            Body::Text(said) => writeln!(text, "{}: {}\n", speaker(message.role), said.trim()),
            Body::Thinking { text: thought, .. } if !thought.trim().is_empty() => {
                writeln!(text, "assistant (thinking): {}\n", thought.trim())
            }
            Body::ToolCall { tool, arguments, .. } => {
                writeln!(text, "assistant calls {tool}: {arguments}\n")
            }
            Body::ToolResult { tool, is_error, text: said, .. } => {
                let how = if *is_error { " failed" } else { "" };
                writeln!(text, "result of {tool}{how}: {}\n", said.trim())
            }
            Body::Media { media, .. } => writeln!(text, "[{}]\n", media_name(*media)),
            Body::Thinking { .. } | Body::ToolDefinition { .. } | Body::Opaque { .. } => Ok(()),
        };
    }
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::System => "instructions",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn media_name(kind: crate::session::MediaKind) -> &'static str {
    use crate::session::MediaKind;
    match kind {
        MediaKind::Image => "an image",
        MediaKind::Audio => "a sound",
        MediaKind::Document => "a document",
    }
}
