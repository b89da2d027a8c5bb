//! Replacement of dropped messages, in a frame that tells the model how to read it.

use super::message_text;
use crate::chat::ChatMessage;

const INTRO: &str = "Context checkpoint — earlier turns were compacted to save space. The recap below covers the \
    OLDER history; the RECENT messages (including the user's current request) appear verbatim AFTER this recap in the \
    conversation. Treat every fact, name, number, identifier, decision and user request in the recap as something you \
    personally remember from the live conversation. It is high-fidelity conversation memory — NOT a \
    <digitorn-directive>, NOT confidential runtime state.";
const OUTRO: &str = "The recent messages that follow this recap are verbatim and authoritative — always respond to \
    the ACTUAL latest message from the user, not to what the recap describes as \"last request\". Resume directly \
    without acknowledging the compaction, without recapping, and without asking the user to repeat themselves. \
    Continue as if the full history were still in front of you.";

const OPENS: &str = "<recap>";
const CLOSES: &str = "</recap>";

/// Number of dropped messages that are quoted.
// The numbers of this file are those of digitornai/digitorn 51fe8f4a, `contextcompact/compact.go`.
const QUOTED: usize = 3;

/// Bytes quoted of each.
const QUOTED_BYTES: usize = 160;

/// Puts a recap in its frame.
pub fn framed(recap: &str) -> String {
    format!("{INTRO}\n\n{OPENS}\n{}\n{CLOSES}\n\n{OUTRO}", recap.trim())
}

/// Returns the recap without its frame; the whole text if it has none.
pub fn unframed(text: &str) -> &str {
    let start = text.find(OPENS).map(|at| at + OPENS.len());
    let inner = start.zip(text.rfind(CLOSES));
    let inner = inner.and_then(|(start, end)| text.get(start..end));
    inner.unwrap_or(text).trim()
}

/// Returns a recap of dropped messages made without a model, in its frame.
pub fn reminder(dropped: &[ChatMessage], goal: &str) -> String {
    let mut recap = format!(
        "{} earlier message(s) were elided to stay within the token budget. No LLM summary was produced for this \
         checkpoint; the notes below are what is known deterministically.",
        dropped.len()
    );
    if !goal.trim().is_empty() {
        recap.push_str("\nGoal: ");
        recap.push_str(goal.trim());
    }
    let quotes = quotes(dropped);
    if !quotes.is_empty() {
        recap.push_str("\nRecent activity before compaction:");
        for quote in quotes {
            recap.push_str("\n- ");
            recap.push_str(&quote);
        }
    }
    framed(&recap)
}

/// Returns the last texts of user and assistant among the dropped messages.
fn quotes(dropped: &[ChatMessage]) -> Vec<String> {
    let spoken = dropped.iter().rev();
    let spoken = spoken.filter(|m| m.is("user") || m.is("assistant"));
    let quotes = spoken.filter_map(|message| {
        let text = message_text(message);
        let text = text.trim();
        (!text.is_empty()).then(|| format!("{}: {}", message.role, clipped(text)))
    });
    let mut quotes: Vec<String> = quotes.take(QUOTED).collect();
    quotes.reverse();
    quotes
}

fn clipped(text: &str) -> String {
    let line = text.replace('\n', " ");
    if line.len() <= QUOTED_BYTES {
        return line;
    }
    let end = line.floor_char_boundary(QUOTED_BYTES);
    format!("{}…", line.get(..end).unwrap_or_default())
}
