//! The sliding window: hides messages behind the first, and remembers them for a later summary.

use crate::chat::{ChatMessage, stored_ranges};
use crate::engine::Memory;
use crate::session::WrittenKind;
use std::ops::Range;

/// Key of the hidden messages in memory.
const HIDDEN: &str = "roo_code_hidden";

const MARKER_START: &str = "[Sliding window truncation: ";

/// Hidden messages, a list for each marker.
type Hidden = Vec<Vec<ChatMessage>>;

/// `truncateConversation`: returns the messages after hiding half of those behind the first, with the hidden ones; `None` if none would be
/// hidden. `start` is the first message behind instructions.
pub(super) fn slide(
    all: &[ChatMessage],
    start: usize,
) -> Option<(Vec<ChatMessage>, Vec<ChatMessage>)> {
    let groups = groups(all, start);
    let is_marker = |group: &&Range<usize>| is_marker(&all[group.start]);
    let n_markers = groups.iter().skip(1).take_while(is_marker).count();
    let visible = groups.iter().filter(|group| !is_marker(group)).count();
    // Half of the messages behind the first, rounded down to an even number to keep pairs of user and assistant.
    let n_hidden = visible.saturating_sub(1) / 2 / 2 * 2;
    let from = groups.get(1 + n_markers)?.start;
    let last = n_hidden.checked_sub(1)?;
    let to = groups.get(1 + n_markers + last)?.end;
    let marker = format!("{MARKER_START}{n_hidden} messages hidden to reduce context]");
    let mut messages = all[..from].to_vec();
    messages.push(ChatMessage::notice("user", marker));
    messages.extend_from_slice(&all[to..]);
    Some((messages, all[from..to].to_vec()))
}

/// Returns memory that has the messages hidden by one more marker.
pub(super) fn with_hidden(memory: Memory, known: &Memory, hidden: Vec<ChatMessage>) -> Memory {
    let mut all: Hidden = known.shared::<Hidden>(HIDDEN).cloned().unwrap_or_default();
    all.push(hidden);
    memory.with(HIDDEN, all)
}

/// Returns memory without hidden messages.
pub(super) fn without_hidden(memory: Memory) -> Memory {
    memory.with(HIDDEN, Hidden::default())
}

/// Returns messages with the hidden ones in front of their markers.
pub(super) fn with_all(messages: &[ChatMessage], memory: &Memory) -> Vec<ChatMessage> {
    let hidden = memory.shared::<Hidden>(HIDDEN);
    let mut hidden = hidden.into_iter().flatten();
    let mut all = Vec::with_capacity(messages.len());
    for message in messages {
        if is_marker(message) {
            all.extend(hidden.next().into_iter().flatten().cloned());
        }
        all.push(message.clone());
    }
    all
}

fn is_marker(message: &ChatMessage) -> bool {
    message.written.is_some() && message.text().is_some_and(|text| text.starts_with(MARKER_START))
}

/// Returns the ranges of messages that the program stores as one: consecutive results, and additions.
pub(super) fn groups(all: &[ChatMessage], start: usize) -> Vec<Range<usize>> {
    stored_ranges(all, start, |first, message| {
        message.is("tool") && first.is("tool") || message.written == Some(WrittenKind::Addition)
    })
}
