//! Full text of a message, by part or by record of the file, divided into pages.

use crate::app::state::model::document;
use crate::app::state::model::document::Document;
use crate::app::state::wording;
use crate::json;
use crate::safe_text;
use crate::session::{Body, Kind, Message, Part, kind_of};
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
pub(crate) fn pretty(json: &str) -> String {
    json::from_str(json).map_or_else(|_| json.to_owned(), |value| format!("{value:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
