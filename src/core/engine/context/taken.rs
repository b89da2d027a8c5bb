//! Entries that a stage takes, with the properties needed by callers, computed in one pass.

use super::{Context, EntryBody};
use crate::units::Tokens;
use std::ops::Range;

/// Entries of a context that will be replaced.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Their indices, ascending.
    pub(crate) entries: Vec<usize>,
    /// Messages of the session that they contain or cover, as ascending ranges.
    pub(crate) covers: Vec<Range<u32>>,
    /// Messages of the session that they contain, as ascending ranges.
    pub(crate) messages: Vec<Range<u32>>,
    /// True tokens.
    pub(crate) tokens: Tokens,
    /// Tokens on the policy's own meter.
    pub(crate) metered: Tokens,
}

impl Taken {
    /// Computes the properties of these entries (ascending indices).
    pub(crate) fn new(context: &Context, entries: Vec<usize>) -> Self {
        let mut taken = Self::default();
        for entry in entries.iter().map(|idx| &context.entries[*idx]) {
            taken.tokens += Tokens::from(entry.tokens);
            taken.metered += Tokens::from(entry.metered);
            if let EntryBody::Written(written) = &entry.body {
                taken.covers.extend(written.covers.iter().cloned());
            } else if let Some(message) = entry.message() {
                lengthen(&mut taken.covers, message);
                lengthen(&mut taken.messages, message);
            }
        }
        Self { entries, covers: join(taken.covers), messages: join(taken.messages), ..taken }
    }
}

/// Adds a message to the last range if it is consecutive, which is the usual case.
fn lengthen(ranges: &mut Vec<Range<u32>>, message: u32) {
    match ranges.last_mut() {
        Some(last) if last.end == message => last.end += 1,
        _ => ranges.push(message..message + 1),
    }
}

/// Converts messages (mostly ascending) to ascending ranges.
pub(crate) fn ranges(messages: impl Iterator<Item = u32>) -> Vec<Range<u32>> {
    let mut ranges = Vec::with_capacity(messages.size_hint().0);
    messages.for_each(|message| lengthen(&mut ranges, message));
    join(ranges)
}

/// Sorts ranges and joins those that touch or overlap. They are usually sorted already.
pub(crate) fn join(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    if !ranges.is_sorted_by_key(|r| r.start) {
        ranges.sort_unstable_by_key(|r| r.start);
    }
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

/// Converts ranges to indices.
pub(crate) fn widen(ranges: &[Range<u32>]) -> Vec<Range<usize>> {
    let wide = |r: &Range<u32>| r.start as usize..r.end as usize;
    ranges.iter().map(wide).collect()
}
