//! The source as pieces: what the managed file holds to the byte, and what was taken out.
//!
//! Nothing of a format is known here. The source is cut where its records and lines begin and end, and a piece is
//! looked for among the managed file's own; what is not found there goes into the sidecar. So the source can be put
//! together again byte for byte, whatever a format's writer did.

use crate::session::{Session, Span};
use std::collections::HashMap;

/// A stretch of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where it lies in the source.
    pub(super) span: Span,
    /// Where it lies in the managed file; none if it is not there.
    pub(super) managed: Option<usize>,
}

/// A piece shorter than this is not worth a place of its own in the recipe.
const SHORTEST: usize = 24;

/// Cuts the source into pieces, in order and without gaps. Neighbours that lie side by side in both files are one.
pub(super) fn pieces(source: &Session, to: &[u8], managed: Option<&Session>) -> Vec<Piece> {
    let from = &source.source.bytes.whole();
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    for span in managed.map(spans).unwrap_or_default() {
        places.entry(&to[span.clone()]).or_insert(span.start);
    }
    let mut pieces: Vec<Piece> = Vec::new();
    for span in spans(source) {
        let bytes = &from[span.clone()];
        // What goes on where the last piece ended need not be one of the managed file's own pieces.
        let next = pieces
            .last()
            .and_then(|last| Some(last.managed? + last.span.len()));
        let goes_on = next.filter(|at| to.get(*at..).is_some_and(|rest| rest.starts_with(bytes)));
        let found = || {
            places
                .get(bytes)
                .copied()
                .filter(|_| bytes.len() >= SHORTEST)
        };
        let managed = goes_on.or_else(found);
        match pieces.last_mut() {
            Some(last) if goes_on.is_some() => last.span.end = span.end,
            _ => pieces.push(Piece { span, managed }),
        }
    }
    pieces
}

/// The file cut where records begin and end, and behind every line's end outside of records.
fn spans(session: &Session) -> Vec<Span> {
    let bytes = &session.source.bytes.whole();
    let mut cuts = vec![0, bytes.len()];
    let raw = session.messages.iter().flat_map(|message| &message.raw);
    cuts.extend(raw.flat_map(|span| [span.start, span.end]));
    cuts.sort_unstable();
    cuts.dedup();
    let mut spans = Vec::with_capacity(cuts.len());
    for pair in cuts.windows(2) {
        let mut start = pair[0];
        // A record is one piece, with whatever line ends it has; so is what stands between two, up to each line's end.
        let is_record = is_record(session, pair[0]);
        while start < pair[1] {
            let rest = &bytes[start..pair[1]];
            let line = rest.iter().position(|byte| *byte == b'\n');
            let end = match line {
                Some(at) if !is_record => start + at + 1,
                _ => pair[1],
            };
            spans.push(start..end);
            start = end;
        }
    }
    spans
}

fn is_record(session: &Session, start: usize) -> bool {
    // Messages stand in the file's order, nearly always; a wrong guess costs a larger sidecar, never a byte.
    let after = session
        .messages
        .partition_point(|message| message.raw.first().is_none_or(|span| span.start <= start));
    let near = session.messages[..after].iter().rev().take(4);
    near.flat_map(|message| &message.raw)
        .any(|span| span.start == start)
}
