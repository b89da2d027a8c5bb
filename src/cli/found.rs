//! Messages that match a query, as text and JSON: in the output of `find` and `sessions --search`.

use super::output::{clean, counted, grouped};
use crate::analysis::query::{FoundMessage, Query, SnippetPiece};
use crate::report::QUERY_HELP;
use crate::units::Tokens;
use anyhow::{Context as _, bail};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// Characters of a snippet.
pub(super) const SNIPPET: usize = 90;

/// A message that matches.
#[derive(Serialize, JsonSchema)]
pub(super) struct FoundEntry<'a> {
    /// Message, from 1.
    message: usize,
    /// Call that wrote the message or included it first; null if no call included it.
    call: Option<usize>,
    /// Turn of the message; null before the first.
    turn: Option<u32>,
    /// Role of the author.
    role: &'static str,
    /// Kind of the part with the first match.
    kind: &'static str,
    /// Tool of that part; null if it has none.
    tool: Option<&'a str>,
    /// Part of the message with the first match, from 1.
    part: usize,
    /// Start and end of the first match in the part's text, in bytes; null if the message matches without a text.
    span: Option<[usize; 2]>,
    /// Tokens of the message; null if they are not counted.
    tokens: Option<Tokens>,
    /// Number of matches in the message.
    matches: usize,
    /// Text around the first match, on one line.
    snippet: Vec<PieceEntry<'a>>,
}

/// A part of a snippet.
#[derive(Serialize, JsonSchema)]
struct PieceEntry<'a> {
    /// Text of the part.
    text: &'a str,
    /// Whether the part matches.
    is_match: bool,
}

impl<'a> From<&'a FoundMessage> for FoundEntry<'a> {
    fn from(found: &'a FoundMessage) -> Self {
        let piece =
            |piece: &'a SnippetPiece| PieceEntry { text: &piece.text, is_match: piece.is_match };
        Self {
            message: found.hit.message as usize + 1,
            call: found.call.map(|call| call + 1),
            turn: Some(found.turn).filter(|turn| *turn > 0),
            role: found.role.name(),
            kind: found.kind.name(),
            tool: found.tool.as_deref(),
            part: found.hit.part as usize + 1,
            span: found.span.as_ref().map(|span| [span.start, span.end]),
            tokens: found.tokens,
            matches: found.n_hits,
            snippet: found.snippet.iter().map(piece).collect(),
        }
    }
}

/// Parses the query of a command.
pub(super) fn query(text: &str) -> anyhow::Result<Query> {
    let query = Query::parse(text).with_context(|| format!("the query `{text}`"))?;
    if query.is_empty() {
        bail!("the query is empty; give {QUERY_HELP}");
    }
    Ok(query)
}

/// Appends a message: where it is, and its snippet.
pub(super) fn message_row(text: &mut String, found: &FoundMessage, indent: &str) {
    let call = found.call.map(|call| grouped(call as u64 + 1));
    let call = call.map_or_else(String::new, |call| format!("call {call}"));
    let kind = match &found.tool {
        Some(tool) => format!("{} {tool}", found.kind.name()),
        None => found.kind.name().to_owned(),
    };
    let more = match found.n_hits {
        1 => String::new(),
        n => format!("  {}", counted(n, "match")),
    };
    let message = grouped(u64::from(found.hit.message) + 1);
    let _ = writeln!(text, "{indent}message {message:<6} {call:<10} {}{more}", clean(&kind));
    let snippet: String = found.snippet.iter().map(|piece| &*piece.text).collect();
    let _ = writeln!(text, "{indent}    {}", clean(snippet.trim()));
}
