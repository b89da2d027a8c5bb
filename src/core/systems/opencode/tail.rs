//! The end of the conversation that a compaction keeps.

use super::units::{estimated_tokens, units};
use crate::chat::ChatMessage;
use std::ops::Range;

/// `SessionCompaction.select`: returns the first kept message. Keeps whole turns while they are within the budget, then the longest end of the next turn.
/// Returns the number of messages if nothing is kept, also if everything would be.
pub(super) fn first_kept(messages: &[ChatMessage], budget: usize) -> usize {
    let units = units(messages);
    let mut kept = None;
    let mut left = budget;
    for turn in turns(messages, &units).iter().rev() {
        let size = estimated_tokens(&messages[units[turn.start].start..units[turn.end - 1].end]);
        if size <= left {
            left -= size;
            kept = Some(units[turn.start].start);
            continue;
        }
        let end = units[turn.end - 1].end;
        let starts = units[turn.start + 1..turn.end].iter().map(|unit| unit.start);
        let fits = |start: &usize| left > 0 && estimated_tokens(&messages[*start..end]) <= left;
        kept = starts.into_iter().find(fits).or(kept);
        break;
    }
    kept.filter(|start| *start > 0).unwrap_or(messages.len())
}

/// `turns`: returns the turns as ranges of units. A turn begins with a user message.
fn turns(messages: &[ChatMessage], units: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_user = |unit: &Range<usize>| messages[unit.start].is("user");
    let starts: Vec<usize> = (0..units.len()).filter(|idx| is_user(&units[*idx])).collect();
    let ends = starts.iter().skip(1).copied().chain([units.len()]);
    starts.iter().zip(ends).map(|(start, end)| *start..end).collect()
}
