//! Splits the file into messages and the tool uses within them.
//!
//! The end of each tool block is known before the lines are read in order. Headings inside a block, which may quote
//! another transcript, are therefore text of the block.

use crate::formats::notes::Notes;
use crate::formats::text_lines::{TextLine, text_lines};
use crate::session::Span;

/// A piece of the file.
#[derive(Debug)]
pub(super) enum TranscriptBlock {
    /// The start of a session, with its title.
    Session(String),
    /// A message.
    Message {
        /// The sender.
        speaker: Speaker,
        /// The heading.
        label: String,
        /// Byte span in the file.
        span: Span,
        /// Text without the tool uses.
        text: String,
        /// Tool uses, in order.
        uses: Vec<ToolUse>,
    },
}

/// Sender of a message.
#[derive(Debug, Default)]
pub(super) struct Speaker {
    /// Whether the sender is the user.
    pub(super) is_user: bool,
    /// Whether the message belongs to a sub-agent's conversation.
    pub(super) is_sidechain: bool,
    /// Model name.
    pub(super) model: Option<String>,
    /// Time, as written in the file.
    pub(super) time: Option<String>,
}

/// A tool use or a thought, which has the same markup.
#[derive(Debug, Default)]
pub(super) struct ToolUse {
    /// Tool name.
    pub(super) name: String,
    /// Text of the summary after the name.
    pub(super) about: String,
    /// Remaining text.
    pub(super) text: String,
    /// Whether this is a thought.
    pub(super) is_thought: bool,
}

/// Splits a file into blocks.
pub(super) fn read(bytes: &[u8], notes: &mut Notes) -> Vec<TranscriptBlock> {
    let lines: Vec<_> = text_lines(bytes, <[u8]>::trim_ascii_end, notes).collect();
    let ends = ends(&lines);
    let mut blocks = Vec::new();
    let mut open: Option<OpenMessage> = None;
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        if let Some((speaker, label)) = heading(&line.text) {
            blocks.extend(open.take().map(|open| open.close(line.span.start)));
            open = Some(OpenMessage::new(speaker, label, line.span.start));
        } else if let Some(title) = session(&line.text) {
            blocks.extend(open.take().map(|open| open.close(line.span.start)));
            blocks.push(TranscriptBlock::Session(title));
        } else if let (Some(end), Some(open)) = (ends[at], &mut open)
            && !open.speaker.is_user
        {
            match headings(&lines[at + 1..=end]) {
                0 => {}
                n => notes.add(line.span.start, unread_headings(n)),
            }
            open.uses.push(tool_use(&lines[at..=end]));
            at = end;
        } else if let Some(open) = &mut open
            && line.text != "---"
        {
            open.text.push_str(&line.text);
            open.text.push('\n');
        } else if open.is_none() && !is_front_matter(&line.text) {
            notes.once(line.span.start, "text before the first message is not read");
        }
        at += 1;
    }
    blocks.extend(open.map(|open| open.close(bytes.len())));
    blocks
}

/// Counts the message headings in a block outside of quoted code.
fn headings(lines: &[TextLine<'_>]) -> usize {
    let mut is_code = false;
    let is_heading = |line: &&TextLine<'_>| {
        is_code ^= line.text.starts_with("```");
        !is_code && heading(&line.text).is_some()
    };
    lines.iter().filter(is_heading).count()
}

/// Formats the note for such headings. The block may quote a file, or it was never closed.
fn unread_headings(n: usize) -> String {
    let (headings, they, were) = if n == 1 {
        ("message heading", "it", "was")
    } else {
        ("message headings", "they", "were")
    };
    format!("this tool block contains {n} {headings}; {they} {were} read as text of the block")
}

/// Returns whether a line may precede the first message: blank, a comment, a title or a rule.
fn is_front_matter(line: &str) -> bool {
    line.is_empty() || line.starts_with("<!--") || line.starts_with('#') || line == "---"
}

struct OpenMessage {
    speaker: Speaker,
    label: String,
    start: usize,
    text: String,
    uses: Vec<ToolUse>,
}

impl OpenMessage {
    fn new(speaker: Speaker, label: String, start: usize) -> Self {
        Self { speaker, label, start, text: String::new(), uses: Vec::new() }
    }

    fn close(self, end: usize) -> TranscriptBlock {
        TranscriptBlock::Message {
            speaker: self.speaker,
            label: self.label,
            span: self.start..end,
            text: self.text,
            uses: self.uses,
        }
    }
}

/// Returns for each line that opens a tool use or a thought the line that closes it. An opening that is not closed
/// before the next one of its kind is ignored, so that a truncated file or a quoted tag loses no text.
fn ends(lines: &[TextLine<'_>]) -> Vec<Option<usize>> {
    let mut ends = vec![None; lines.len()];
    for (tag, closing) in [("<tool-use", "</tool-use>"), ("<think", "</think>")] {
        let mut open = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let rest = line.text.strip_prefix(tag);
            if rest.is_some_and(|rest| rest.starts_with(['>', ' '])) {
                open.push(at);
            }
            if line.text.ends_with(closing)
                && let Some(opened) = open.pop()
            {
                ends[opened] = Some(at);
            }
        }
    }
    ends
}

/// Parses a heading: `_**User (2026-06-29 15:25:44Z)**_`, `_**Agent - sidechain (model 2026-06-29 15:26:53Z)**_` or
/// `_**Assistant**_`.
fn heading(line: &str) -> Option<(Speaker, String)> {
    let inner = line.strip_prefix("_**")?.strip_suffix("**_")?;
    let (who, about) = match inner.split_once(" (") {
        Some((who, about)) => (who, about.strip_suffix(')')?),
        None => (inner, ""),
    };
    let (who, is_sidechain) = match who.strip_suffix(" - sidechain") {
        Some(who) => (who, true),
        None => (who, false),
    };
    let is_user = match who {
        "User" | "Human" => true,
        "Agent" | "Assistant" => false,
        _ => return None,
    };
    let words: Vec<&str> = about.split_whitespace().collect();
    // `2026-06-29`.
    let is_date = |word: &&&str| word.len() == 10 && word.as_bytes()[4] == b'-';
    let date = words.iter().position(|word| is_date(&word));
    let model = words[..date.unwrap_or(words.len())].join(" ");
    let time = date.map(|at| words[at..].join(" "));
    let speaker = Speaker {
        is_user,
        is_sidechain,
        // Messages that the agent wrote on the model's behalf have no model.
        model: (!model.is_empty() && !model.starts_with('<')).then_some(model),
        time,
    };
    Some((speaker, inner.to_owned()))
}

/// Parses `<!-- Claude Code Session 28a0b619-… (2026-06-29 15:25:44Z) -->`.
fn session(line: &str) -> Option<String> {
    let inner = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    let (agent, rest) = inner.split_once(" Session ")?;
    let when = rest.split_once('(').map_or("", |(_, when)| when.trim_end_matches(')'));
    Some(format!("{agent} {when}").trim().to_owned())
}

fn tool_use(lines: &[TextLine<'_>]) -> ToolUse {
    let whole: Vec<&str> = lines.iter().map(|line| &*line.text).collect();
    let whole = whole.join("\n");
    let is_thought = whole.starts_with("<think>");
    let attribute = |key: &str| {
        let (_, rest) = whole.split_once(&format!("{key}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let inner = whole.split_once('>').map_or("", |(_, inner)| inner).trim();
    let inner = inner.strip_prefix("<details>").unwrap_or(inner).trim_start();
    let summary = inner.strip_prefix("<summary>");
    let (about, body) =
        summary.and_then(|rest| rest.split_once("</summary>")).unwrap_or(("", inner));
    let mut text = body.trim();
    for tag in ["</tool-use>", "</think>", "</details>"] {
        text = text.strip_suffix(tag).unwrap_or(text).trim_end();
    }
    let about = about.trim().trim_start_matches("Tool use:").trim();
    let bold = about.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    let named = bold.map(|(name, _)| name.to_owned());
    let about = bold.map_or(about, |(_, rest)| rest.trim().trim_start_matches('•').trim());
    ToolUse {
        name: attribute("data-tool-name").or(named).unwrap_or_else(|| "tool".to_owned()),
        about: about.to_owned(),
        text: text.to_owned(),
        is_thought,
    }
}
