//! Splits the source into pieces that the managed file contains byte for byte and pieces that it lacks.
//!
//! This works for every format. The source is split at the ends of records and lines, and each piece is looked up among
//! the pieces of the managed file. A piece that is not found goes into the sidecar, so that the source can be restored
//! byte for byte whatever a format's writer did.

use crate::session::{Session, Span};
use std::collections::HashMap;

/// A piece of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourcePiece {
    /// Position in the source.
    pub(super) span: Span,
    /// Offset in the managed file; `None` if the file lacks it.
    pub(super) managed: Option<usize>,
}

/// Minimum length in bytes of a piece that is worth an entry of its own in the recipe. An entry takes about this many
/// bytes in the manifest, so shorter pieces take less space in the sidecar.
const MIN_BYTES: usize = 24;

/// Splits the source into pieces, in order and without gaps. Pieces that are adjacent in both files are merged.
pub(super) fn pieces(source: &Session, to: &[u8], managed: Option<&Session>) -> Vec<SourcePiece> {
    let from = &source.source.bytes.whole();
    let mut offsets: HashMap<&[u8], usize> = HashMap::new();
    for span in managed.map(spans).unwrap_or_default() {
        offsets.entry(&to[span.clone()]).or_insert(span.start);
    }
    let mut pieces: Vec<SourcePiece> = Vec::new();
    for span in spans(source) {
        let bytes = &from[span.clone()];
        // A piece that continues the last one need not be a piece of the managed file.
        let next = pieces.last().and_then(|last| Some(last.managed? + last.span.len()));
        let continued = next.filter(|at| to.get(*at..).is_some_and(|rest| rest.starts_with(bytes)));
        let found = || offsets.get(bytes).copied().filter(|_| bytes.len() >= MIN_BYTES);
        let managed = continued.or_else(found);
        match pieces.last_mut() {
            Some(last) if continued.is_some() => last.span.end = span.end,
            _ => pieces.push(SourcePiece { span, managed }),
        }
    }
    pieces
}

/// Splits a file at the ends of records, and outside of records after every line.
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
        // A record is one piece, whatever line ends it has.
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
    // Messages are nearly always in the order of the file. A wrong guess only makes the sidecar larger.
    let after = session
        .messages
        .partition_point(|message| message.raw.first().is_none_or(|span| span.start <= start));
    let near = session.messages[..after].iter().rev().take(4);
    near.flat_map(|message| &message.raw).any(|span| span.start == start)
}
