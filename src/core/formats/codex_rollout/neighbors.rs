//! Properties of lines that depend on the surrounding lines: who wrote an item, and what triggered a compaction.
//!
//! Codex writes a display copy next to every item that the user typed, before it or after it. One pass remembers the
//! last item and the last copy that still lack their partner.

use super::items::ItemKind;
use super::lines::{LineContent, RolloutLine};
use crate::session::Role;

/// Returns whether each line is an item that the user wrote. An item is the user's if there is a display copy next to
/// it, even if texts are redacted. In files without any such copy, the beginning of the text decides.
pub(super) fn user_items(lines: &[RolloutLine]) -> Vec<bool> {
    let mut is_user_item = vec![false; lines.len()];
    let mut has_copies = false;
    let mut item: Option<usize> = None;
    let mut copy: Option<&str> = None;
    for (idx, line) in lines.iter().enumerate() {
        match &line.content {
            LineContent::UserMessage(text) => {
                has_copies = true;
                match item.take() {
                    Some(item) => is_user_item[item] = true,
                    None => copy = Some(text.trim()),
                }
            }
            LineContent::Item(found) => {
                let is_user = found.role == Role::User;
                let before = copy.take().filter(|text| is_user && !text.is_empty());
                is_user_item[idx] =
                    before.is_some_and(|text| !found.looks_injected && found.text().contains(text));
                item = (is_user && !is_user_item[idx]).then_some(idx);
            }
            _ => {}
        }
    }
    if !has_copies {
        for (is_user_item, line) in is_user_item.iter_mut().zip(lines) {
            *is_user_item = line.item().is_some_and(|i| i.role == Role::User && !i.looks_injected);
        }
    }
    is_user_item
}

/// Returns the trigger of each compaction, in order.
pub(super) fn triggers(lines: &[RolloutLine]) -> Vec<&'static str> {
    let is_compaction = |line: &RolloutLine| matches!(line.content, LineContent::Compacted { .. });
    // The nearest relevant line after each compaction.
    let mut after: Vec<Option<&RolloutLine>> = Vec::new();
    let mut next = None;
    for line in lines.iter().rev() {
        if is_compaction(line) {
            after.push(next);
        } else if is_relevant(line) {
            next = Some(line);
        }
    }
    let mut triggers = Vec::with_capacity(after.len());
    let (mut before, mut has_turns) = (None, false);
    for line in lines {
        if is_compaction(line) {
            let after = after.pop().flatten().filter(|_| has_turns);
            triggers.push(trigger(before.filter(|_| has_turns), after));
        } else if is_relevant(line) {
            before = Some(line);
        }
        has_turns |= is_start(line);
    }
    triggers
}

/// Returns a compaction's trigger. The compact command is a turn without messages. Compactions within other turns are
/// automatic. Files without turns do not record the trigger.
fn trigger(before: Option<&RolloutLine>, after: Option<&RolloutLine>) -> &'static str {
    match (before, after) {
        (Some(before), _) if is_message(before) => "auto",
        (Some(before), Some(after)) if is_start(before) && is_message(after) => "auto",
        (Some(before), Some(_)) if is_start(before) => "manual",
        _ => "",
    }
}

fn is_start(line: &RolloutLine) -> bool {
    matches!(line.content, LineContent::Turn { starts: true, .. })
}

fn is_message(line: &RolloutLine) -> bool {
    matches!(line.content, LineContent::UserMessage(_))
        || line.item().is_some_and(|i| i.sort == ItemKind::Answer)
}

fn is_relevant(line: &RolloutLine) -> bool {
    is_start(line) || is_message(line) || matches!(line.content, LineContent::TurnEnds { .. })
}
