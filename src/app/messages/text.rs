//! Full text of a message, by part or by record of the file, divided into pages.

use crate::app::open::document::{self, Document};
use crate::app::wording;
use crate::safe_text;
use crate::session::{Body, COMMAND_KEYS, Kind, Message, PATH_KEYS, Part, kind_of};
use crate::tokens::TokenLedger;
use crate::units::{Bytes, Tokens};

/// Bytes of a section per page, which fit in a frame.
const PAGE: usize = 48 * 1024;

/// The full text of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageText {
    /// Its parts, or its records.
    pub sections: Vec<Section>,
}

/// One part, or one record of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Title: `call read · id toolu_1`.
    pub title: String,
    /// Kind; `None` for a record.
    pub kind: Option<Kind>,
    /// Tokens; `None` for a record.
    pub tokens: Option<Tokens>,
    /// Its text, safe to show.
    pub text: String,
}

impl MessageText {
    /// Returns the parts of a message.
    pub fn parts(document: &Document, ledger: &TokenLedger, message: usize) -> Self {
        let session = document.session();
        let Some(m) = session.messages.get(message) else {
            return Self::default();
        };
        let sections = m.parts.clone().map(|idx| section(m, &session.parts[idx], ledger.part(idx)));
        Self { sections: sections.collect() }
    }

    /// Returns the file records of a message, with JSON formatted over several lines.
    pub fn records(document: &Document, message: usize) -> Self {
        let session = document.session();
        let Some(m) = session.messages.get(message) else {
            return Self::default();
        };
        let record = |(idx, span): (usize, &crate::session::Span)| {
            let raw = session.raw(span);
            let text = pretty(&String::from_utf8_lossy(&raw));
            let at = wording::grouped(span.start as u64);
            let size = wording::bytes(Bytes(span.len() as u64));
            let line = wording::grouped(document.line_of(span.start) as u64);
            Section {
                title: format!("record {} · line {line} · {size} at byte {at}", idx + 1),
                kind: None,
                tokens: None,
                text: safe_text::visible(&text).into_owned(),
            }
        };
        Self { sections: m.raw.iter().enumerate().map(record).collect() }
    }

    /// Returns the number of pages of the longest section; at least 1.
    pub fn pages(&self) -> usize {
        self.sections.iter().map(|s| s.text.len().div_ceil(PAGE)).max().unwrap_or(0).max(1)
    }

    /// Returns all sections as text for the clipboard.
    pub fn whole(&self) -> String {
        self.sections.iter().map(|s| s.text.as_str()).collect::<Vec<_>>().join("\n\n")
    }
}

impl Section {
    /// Returns the text of a page; `None` past the end. An empty section has one empty page.
    pub fn page(&self, page: usize) -> Option<&str> {
        let at = |n: usize| self.text.floor_char_boundary(n.saturating_mul(PAGE));
        let (start, end) = (at(page), at(page + 1));
        (page == 0 || start < end).then(|| &self.text[start..end])
    }

    /// Returns the page of the character at a byte offset.
    pub fn page_of(&self, at: usize) -> usize {
        let page = at / PAGE;
        // A page begins with the character that crosses its first byte.
        page + usize::from(at >= self.text.floor_char_boundary((page + 1) * PAGE))
    }
}

fn section(message: &Message, part: &Part, tokens: Tokens) -> Section {
    let kind = kind_of(message, part);
    let text = match &part.body {
        Body::ToolCall { arguments, .. } => pretty(arguments),
        Body::ToolDefinition { json, .. } | Body::Opaque { json, .. } => pretty(json),
        body => body.text().to_owned(),
    };
    Section {
        title: safe_text::one_line(&title(kind, &part.body), 200),
        kind: Some(kind),
        tokens: Some(tokens),
        text: safe_text::visible(&text).into_owned(),
    }
}

fn title(kind: Kind, body: &Body) -> String {
    let kind = wording::kind(kind);
    match body {
        Body::ToolCall { call, tool, .. } => format!("{kind} {tool} · {call}"),
        Body::ToolResult { call, tool, is_error, .. } => {
            let failed = if *is_error { " · failed" } else { "" };
            format!("{kind} {tool} · {call}{failed}")
        }
        Body::ToolDefinition { tool, .. } => format!("tool {tool}"),
        Body::Media { mime, pixels, bytes, .. } => {
            let size = wording::bytes(Bytes(*bytes));
            format!("{} · {size}", document::media(mime, *pixels))
        }
        Body::Thinking { sealed_bytes, .. } if *sealed_bytes > 0 => {
            format!("{kind} · {} encrypted", wording::bytes(Bytes(u64::from(*sealed_bytes))))
        }
        Body::Opaque { name, .. } => format!("{kind} · {name}"),
        Body::Text(_) | Body::Thinking { .. } => kind.to_owned(),
    }
}

/// Formats JSON over several lines; returns other text unchanged.
pub(in crate::app) fn pretty(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json).ok();
    value.and_then(|v| serde_json::to_string_pretty(&v).ok()).unwrap_or_else(|| json.to_owned())
}

/// Arguments besides commands and paths that describe the target of a call, most specific first.
const SUBJECT_KEYS: [&str; 11] = [
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "input",
    "text",
    "name",
    "code",
    "subject",
    "content",
];

/// Returns the target of a call on one line: its command, path or query, else its first text, else its arguments.
pub(in crate::app) fn subject(arguments: &str, max_chars: usize) -> String {
    let json = serde_json::from_str::<serde_json::Value>(arguments).ok();
    let object = json.as_ref().and_then(serde_json::Value::as_object);
    let keys = || COMMAND_KEYS.iter().chain(&PATH_KEYS).chain(&SUBJECT_KEYS);
    let named = object.and_then(|o| keys().find_map(|key| words(o.get(*key)?)));
    let first = || object.and_then(|o| o.values().find_map(words));
    // Reads only a small multiple of the displayed length from a long text.
    let line = |text: &str| safe_text::one_line(safe_text::head(text, 8 * max_chars), max_chars);
    named.or_else(first).map_or_else(|| line(arguments), |text| line(&text))
}

/// Returns a text, or the words of a command joined.
fn words(value: &serde_json::Value) -> Option<std::borrow::Cow<'_, str>> {
    if let Some(text) = value.as_str() {
        return (!text.trim().is_empty()).then_some(text.into());
    }
    let words: Option<Vec<&str>> =
        value.as_array()?.iter().map(serde_json::Value::as_str).collect();
    words.filter(|w| !w.is_empty()).map(|w| w.join(" ").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_calls_are_described_by_their_subject() {
        let text = [
            r#"{"timeout": 5, "command": "cargo test"}"#,
            r#"{"command": ["bash", "-lc", "ls"]}"#,
            r#"{"limit": 3, "path": "src/main.rs"}"#,
            r#"{"other": "words", "n": 1}"#,
            r#"{"n": 1}"#,
            "*** Begin Patch",
        ]
        .map(|arguments| subject(arguments, 40));
        assert_eq!(
            text,
            ["cargo test", "bash -lc ls", "src/main.rs", "words", r#"{"n": 1}"#, "*** Begin Patch"]
        );
    }

    #[test]
    fn pages_of_a_long_text_add_up_to_the_text() {
        let text = "héllo wörld ".repeat(20_000);
        let section =
            Section { title: String::new(), kind: None, tokens: None, text: text.clone() };
        let whole = MessageText { sections: vec![section] };
        let pages: String = (0..whole.pages()).filter_map(|p| whole.sections[0].page(p)).collect();
        assert!(whole.pages() > 4);
        assert_eq!(pages, text);
        assert_eq!(whole.sections[0].page(whole.pages()), None);
    }
}
