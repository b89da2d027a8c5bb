//! The message that takes the place of the whole history: the user's newest messages and a summary.

use crate::chat::ChatMessage;
use crate::languages::python::{first_chars, last_chars};
use crate::session::WrittenKind;

/// Tokens of the user's messages that are preserved.
// The numbers of this file are those of mistral-vibe 2.26.1, `compaction/context.py` and `utils/tokens.py`.
const MAX_TOKENS: usize = 20_000;
const CHARS_PER_TOKEN: usize = 4;
const TRUNCATED: &str = "\n\n[... truncated ...]\n\n";

const MESSAGES_OPEN: &str = "<previous_user_messages>";
const MESSAGES_CLOSE: &str = "</previous_user_messages>";
const MESSAGE_OPEN: &str = "<previous_user_message>";
const MESSAGE_CLOSE: &str = "</previous_user_message>";
const INTRODUCTION: &str = "You are continuing a trajectory after a context compaction.\n\nHere are some of the most recent previous user messages, preserved verbatim where possible. Treat them as prior context, not as new requests.\n";

/// Returns the text of the message.
pub(super) fn envelope(user_messages: &[String], summary: &str) -> String {
    let mut lines = vec![INTRODUCTION.to_owned(), MESSAGES_OPEN.to_owned()];
    for text in user_messages {
        let text = escaped(text);
        lines.push(format!("{MESSAGE_OPEN}\n{text}\n{MESSAGE_CLOSE}"));
    }
    lines.push(format!(
        "{MESSAGES_CLOSE}\n\nHere is a summary of what has happened so far:\n\n<compaction_summary>\n{summary}\n</compaction_summary>"
    ));
    lines.join("\n")
}

/// Escapes the tags that enclose messages.
fn escaped(text: &str) -> String {
    let tags = [MESSAGES_OPEN, MESSAGES_CLOSE, MESSAGE_OPEN, MESSAGE_CLOSE];
    tags.iter().fold(text.to_owned(), |text, tag| {
        let safe = tag.replace('<', "&lt;").replace('>', "&gt;");
        text.replace(tag, &safe)
    })
}

/// Returns the user's newest messages up to a limit, oldest first; the one over it is cut in the middle.
pub(super) fn user_messages(messages: &[ChatMessage]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for message in messages.iter().filter(|m| m.is("user")) {
        let text = message.joined_text("\n").into_owned();
        match message.written {
            Some(WrittenKind::Summary) => all.extend(preserved(&text)),
            None if !text.is_empty() => all.push(text),
            // Messages of the program are not preserved.
            _ => {}
        }
    }
    let mut selected = Vec::new();
    let mut left = MAX_TOKENS;
    for text in all.into_iter().rev() {
        if left == 0 {
            break;
        }
        let cost = text.chars().count().div_ceil(CHARS_PER_TOKEN);
        selected.push(if cost <= left {
            text
        } else {
            without_middle(&text, left * CHARS_PER_TOKEN)
        });
        left = left.saturating_sub(cost);
    }
    selected.reverse();
    selected
}

/// Returns the messages in the text of an earlier compaction.
fn preserved(text: &str) -> Vec<String> {
    let block = text.split_once(MESSAGES_OPEN).map(|(_, rest)| rest);
    let block = block.and_then(|rest| rest.split_once(MESSAGES_CLOSE));
    let mut rest = block.map_or("", |(block, _)| block);
    let (open, close) = (format!("{MESSAGE_OPEN}\n"), format!("\n{MESSAGE_CLOSE}"));
    let mut messages = Vec::new();
    while let Some((message, after)) =
        rest.split_once(&*open).and_then(|(_, rest)| rest.split_once(&*close))
    {
        messages.push(message.to_owned());
        rest = after;
    }
    messages
}

/// Returns the start and the end of a text that is longer than `max` characters.
fn without_middle(text: &str, max: usize) -> String {
    let Some(left) = max.checked_sub(TRUNCATED.len()).filter(|left| *left > 0) else {
        return first_chars(text, max).to_owned();
    };
    let (start, end) = (first_chars(text, left / 2), last_chars(text, left - left / 2));
    format!("{start}{TRUNCATED}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_several_compactions() {
        let long = "a".repeat(90_000);
        let messages = ["first", &long, "a </previous_user_message> b"];
        let messages: Vec<_> = messages.map(|text| ChatMessage::new("user", text)).into();
        let kept = user_messages(&messages);
        assert_eq!(kept.len(), 2);
        assert_eq!(kept[0].chars().count(), 4 * (MAX_TOKENS - 7));
        assert!(kept[0].contains("a\n\n[... truncated ...]\n\na"));
        let written = ChatMessage::summary("user", envelope(&kept, "done"));
        let again = user_messages(&[written]);
        // The escaped message is longer, so that the other one is cut again.
        assert_eq!(again[1], "a &lt;/previous_user_message&gt; b");
        assert!(again[0].len() < kept[0].len());
        assert_eq!(without_middle("abcdefgh", 4), "abcd");
    }
}
