//! The preview of a text that was moved to a file: its first and last lines with numbers.

use crate::chat::{BlockBody, ChatMessage, Content};
use crate::languages::python::{first_chars, split_lines};

/// Lines shown at each end.
// The numbers of this file are those of deepagents 0.7.32, `middleware/_message_eviction.py`.
const END_LINES: usize = 5;
/// Longest line, in characters.
const LINE_CHARS: usize = 1000;
/// Longest id of a call that is named whole, in characters.
const ID_CHARS: usize = 32;

/// Returns the message that replaces a large result.
pub(super) fn of_result(id: &str, path: &str, text: &str) -> String {
    let id = match first_chars(id, ID_CHARS) {
        whole if whole == id => id.to_owned(),
        start => format!("{start}..."),
    };
    let (note, preview) = preview(text, "result");
    format!(
        "Tool result too large, the result of this tool call {id} was saved in the filesystem at this path: {path}\n\nYou can read the result from the filesystem by using the read_file tool, but make sure to only read part of the result at a time.\n\nYou can do this by specifying an offset and limit in the read_file tool call. For example, to read the first 100 lines, you can use the read_file tool with offset=0 and limit=100.\n\n{note}\n\n{preview}\n"
    )
}

/// Returns the message that replaces a large message of the user.
pub(super) fn of_user_message(path: &str, text: &str) -> String {
    let (note, preview) = preview(text, "content");
    format!(
        "Message content too large and was saved to the filesystem at: {path}\n\nYou can read the full content using the read_file tool with pagination (offset and limit parameters).\n\n{note}\n\n{preview}\n"
    )
}

/// Returns a message whose texts are replaced by one, with its other blocks.
pub(super) fn with_one_text(message: &ChatMessage, text: String) -> ChatMessage {
    let Content::Blocks(blocks) = &message.content else {
        return message.with_text(text);
    };
    let is_text = |body: &BlockBody| matches!(body, BlockBody::Text(_));
    let first = blocks.iter().find(|block| is_text(&block.body)).cloned();
    let others = blocks.iter().filter(|block| !is_text(&block.body));
    let mut first = first.unwrap_or_else(|| crate::chat::Block::text(""));
    first.body = BlockBody::Text(text.into());
    let mut now = message.clone();
    now.content = Content::Blocks(std::iter::once(first).chain(others.cloned()).collect());
    now
}

/// Returns the sentence before a preview, and the preview.
fn preview(text: &str, subject: &str) -> (String, String) {
    let lines = split_lines(text);
    let n_omitted = lines.len().saturating_sub(2 * END_LINES);
    let (preview, shown) = if n_omitted == 0 {
        (numbered(&lines, 1), lines.clone())
    } else {
        let tail = lines.len() - END_LINES;
        let (start, end) = (numbered(&lines[..END_LINES], 1), numbered(&lines[tail..], tail + 1));
        let preview = format!("{start}\n... [{n_omitted} lines truncated] ...\n{end}");
        (preview, [&lines[..END_LINES], &lines[tail..]].concat())
    };
    let mut caveats = Vec::new();
    if n_omitted > 0 {
        caveats.push("lines of the form `... [N lines truncated] ...` indicate omitted lines in the middle of the content".to_owned());
    }
    if shown.iter().any(|line| clipped(line) != *line) {
        caveats.push(format!("the output contains lines longer than {LINE_CHARS} characters; this preview shows only their first {LINE_CHARS} characters"));
    }
    let what = if n_omitted > 0 { "a preview showing the head and tail" } else { "a preview" };
    let caveats = match &*caveats {
        [] => String::new(),
        all => format!(" ({})", all.join("; ")),
    };
    (format!("Here is {what} of the {subject}{caveats}:"), preview)
}

/// Returns lines with their numbers, which are aligned to the right.
fn numbered(lines: &[&str], first: usize) -> String {
    let width = (first + lines.len()).saturating_sub(1).to_string().len();
    let rows = lines.iter().enumerate();
    let rows = rows.map(|(nth, line)| format!("{:>width$}  {}", first + nth, clipped(line)));
    rows.collect::<Vec<_>>().join("\n")
}

fn clipped(line: &str) -> &str {
    first_chars(line, LINE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_at_each_end() {
        let text: Vec<String> = (1..=12).map(|n| format!("line {n}")).collect();
        let (note, preview) = preview(&text.join("\n"), "result");
        assert!(
            note.starts_with("Here is a preview showing the head and tail of the result (lines")
        );
        let expected = "5  line 5\n... [2 lines truncated] ...\n 8  line 8";
        assert!(preview.contains(expected), "{preview}");
    }
}
