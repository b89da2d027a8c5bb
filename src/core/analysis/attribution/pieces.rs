//! The parts of a session, split by source.
//!
//! A text of the system prompt is split at its headings, and texts of the system prompt and of the user at the marks of their
//! agent. Innermost pieces win. The tokens of a part are shared among its pieces by their own counts, so that they add up.

use super::marks::marked;
use super::source::{Source, SourceKind};
use crate::engine::Case;
use crate::session::{Body, Message, Role, Session};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of characters of a section without a heading, which is named by its first line.
// Chosen: a name fits into a column of a table.
const MAX_NAME: usize = 48;

/// A piece of a part with one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Index of its message.
    pub message: usize,
    /// Index of its part.
    pub part: usize,
    /// Bytes of the part's text; the whole text of a tool definition.
    pub range: Range<usize>,
    /// Index of its source.
    pub source: usize,
    /// Actual tokens.
    pub tokens: Tokens,
}

/// The sources of a session and their pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Every source, in order of first use.
    pub all: Vec<Source>,
    /// All pieces, in order.
    pub pieces: Vec<Piece>,
}

impl Sources {
    /// Splits the system prompt, tool definitions and marked texts of a session, including those that a compaction wrote.
    pub fn new(case: &Case) -> Self {
        let mut sources = Self::default();
        let mut known: HashMap<Source, usize> = HashMap::new();
        let session = &case.session;
        for (idx, message) in session.messages.iter().enumerate() {
            for part in message.parts.clone() {
                let split = split(session, message, part);
                let tokens = shares(&case.ledger, part, &session.parts[part].body, &split);
                for ((range, source), tokens) in split.into_iter().zip(tokens) {
                    let next = sources.all.len();
                    let source = *known.entry(source).or_insert_with_key(|source| {
                        sources.all.push(source.clone());
                        next
                    });
                    sources.pieces.push(Piece { message: idx, part, range, source, tokens });
                }
            }
        }
        sources.pieces.retain(|piece| sources.all[piece.source].kind != SourceKind::NotRecorded);
        sources
    }

    /// Returns the pieces of a part.
    pub fn of_part(&self, part: usize) -> &[Piece] {
        let from = self.pieces.partition_point(|piece| piece.part < part);
        let n = self.pieces[from..].partition_point(|piece| piece.part == part);
        &self.pieces[from..from + n]
    }
}

/// Returns the pieces of a part. Text of the conversation itself has [`SourceKind::NotRecorded`] in place of a source.
fn split(session: &Session, message: &Message, part: usize) -> Vec<(Range<usize>, Source)> {
    match (&session.parts[part].body, message.role) {
        // One that was removed is empty.
        (Body::ToolDefinition { tool, json }, _) if !json.is_empty() => {
            vec![(0..json.len(), Source::new(SourceKind::Tool, &**tool))]
        }
        (Body::Text(text), Role::System) => {
            let mut spans = sections(text);
            spans.extend(marked(text));
            innermost(text, spans)
        }
        (Body::Text(text), Role::User) if !message.is_summary => {
            let found = marked(text);
            if found.is_empty() {
                return Vec::new();
            }
            let mut spans = vec![(0..text.len(), Source::new(SourceKind::NotRecorded, ""))];
            spans.extend(found);
            innermost(text, spans)
        }
        _ => Vec::new(),
    }
}

/// Returns the sections of a system prompt. A section begins at a heading of the first or second level outside of code; the
/// text before the first is named by its first line.
fn sections(text: &str) -> Vec<(Range<usize>, Source)> {
    let mut starts: Vec<(usize, String)> = Vec::new();
    let (mut at, mut is_code) = (0, false);
    for line in text.split_inclusive('\n') {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("# "));
        if let Some(heading) = heading.filter(|heading| !is_code && !heading.trim().is_empty()) {
            starts.push((at, shortened(heading)));
        }
        at += line.len();
    }
    let before_first = starts.first().map_or(text.len(), |(start, _)| *start);
    if !text[..before_first].trim().is_empty() {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        starts.insert(0, (0, shortened(first)));
    } else if let Some((start, _)) = starts.first_mut() {
        *start = 0;
    }
    let ends: Vec<usize> =
        starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]).collect();
    let section = |((start, name), end): ((usize, String), usize)| {
        (start..end, Source::new(SourceKind::Section, name))
    };
    starts.into_iter().zip(ends).map(section).collect()
}

fn shortened(line: &str) -> String {
    let line = line.trim().trim_matches(['#', '*', ' ']);
    let mut name: String = line.chars().take(MAX_NAME).collect();
    if name.len() < line.len() {
        name.push('…');
    }
    name
}

/// Returns the spans without overlaps: of spans that contain each other, the inner one has its bytes. A span that only partly
/// overlaps the one before is cut there.
fn innermost(text: &str, mut spans: Vec<(Range<usize>, Source)>) -> Vec<(Range<usize>, Source)> {
    spans.retain(|(range, _)| range.start < range.end && range.end <= text.len());
    spans.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut found = Vec::new();
    let mut open: Vec<(Range<usize>, Source)> = Vec::new();
    let mut at = 0;
    let mut emit = |range: Range<usize>, source: &Source| {
        if range.start < range.end {
            found.push((range, source.clone()));
        }
    };
    for (range, source) in spans {
        while let Some((outer, of_outer)) = open.last() {
            if outer.end > range.start {
                break;
            }
            emit(at..outer.end, of_outer);
            at = at.max(outer.end);
            open.pop();
        }
        if let Some((_, of_outer)) = open.last() {
            emit(at..range.start, of_outer);
        }
        at = at.max(range.start);
        let end = open.last().map_or(range.end, |(outer, _)| range.end.min(outer.end));
        open.push((range.start..end, source));
    }
    while let Some((outer, of_outer)) = open.pop() {
        emit(at..outer.end, &of_outer);
        at = at.max(outer.end);
    }
    found
}

/// Shares the tokens of a part among its pieces by their own counts.
fn shares(
    ledger: &TokenLedger,
    part: usize,
    body: &Body,
    pieces: &[(Range<usize>, Source)],
) -> Vec<Tokens> {
    let whole = ledger.part(part);
    if pieces.len() < 2 {
        return vec![whole; pieces.len()];
    }
    let text = body.text();
    let counts: Vec<u64> =
        pieces.iter().map(|(range, _)| ledger.counted(&text[range.clone()]).0).collect();
    let sum = counts.iter().sum::<u64>().max(1) as f64;
    // The shares are differences of rounded sums, so that they add up to the whole.
    let (mut before, mut counted) = (0, 0);
    let share = |count: u64| {
        counted += count;
        let until = (whole.as_f64() * counted as f64 / sum).round() as u64;
        Tokens(until - std::mem::replace(&mut before, until))
    };
    counts.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, spans: Vec<(Range<usize>, Source)>) -> Vec<(String, String)> {
        let spans = innermost(text, spans).into_iter();
        spans.map(|(range, source)| (source.to_string(), text[range].to_owned())).collect()
    }

    #[test]
    fn sections_begin_at_headings_outside_of_code() {
        let text = "You help.\n# Tone\nBrief.\n```\n# no heading\n```\n## Tools\nUse them.\n";
        let found = named(text, sections(text));
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["section:You help.", "section:Tone", "section:Tools"]);
        assert_eq!(found.iter().map(|(_, text)| text.as_str()).collect::<String>(), text);
    }

    #[test]
    fn inner_pieces_win_and_nothing_is_counted_twice() {
        let text = "0123456789";
        let source = |name: &str| Source::new(SourceKind::Section, name);
        let spans = vec![(0..10, source("a")), (2..6, source("b")), (3..4, source("c"))];
        let found = named(text, spans);
        let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["01", "2", "3", "45", "6789"]);
        // A span that ends beyond the one that contains its start is cut.
        let crossing = named(text, vec![(0..5, source("a")), (3..8, source("b"))]);
        assert_eq!(crossing.iter().map(|(_, text)| text.len()).sum::<usize>(), 5);
    }
}
