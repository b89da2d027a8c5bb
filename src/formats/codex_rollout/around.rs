//! What only the lines around a line tell.

use super::items::Sort;
use super::lines::{Line, What};
use crate::session::Role;

/// Which of the items are a person's own words. The screen's copy beside an item tells, also where texts are
/// redacted; files without any such copy leave only the text's beginning to go by.
pub(super) fn own_words(lines: &[Line]) -> Vec<bool> {
    let mut own = vec![false; lines.len()];
    let mut has_copies = false;
    let mut item: Option<usize> = None;
    let mut copy: Option<&str> = None;
    for (idx, line) in lines.iter().enumerate() {
        match &line.what {
            What::Said(text) => {
                has_copies = true;
                match item.take() {
                    Some(item) => own[item] = true,
                    None => copy = Some(text.trim()),
                }
            }
            What::Item(found) => {
                let is_user = found.role == Role::User;
                let before = copy.take().filter(|text| is_user && !text.is_empty());
                own[idx] =
                    before.is_some_and(|text| !found.looks_injected && found.text().contains(text));
                item = (is_user && !own[idx]).then_some(idx);
            }
            _ => {}
        }
    }
    if !has_copies {
        for (own, line) in own.iter_mut().zip(lines) {
            *own = line
                .item()
                .is_some_and(|i| i.role == Role::User && !i.looks_injected);
        }
    }
    own
}

/// Why each compaction ran, in order.
pub(super) fn triggers(lines: &[Line]) -> Vec<&'static str> {
    let is_compaction = |line: &Line| matches!(line.what, What::Compacted { .. });
    // The lines nearest to each compaction that tell.
    let mut after: Vec<Option<&Line>> = Vec::new();
    let mut next = None;
    for line in lines.iter().rev() {
        if is_compaction(line) {
            after.push(next);
        } else if tells(line) {
            next = Some(line);
        }
    }
    let mut triggers = Vec::with_capacity(after.len());
    let (mut before, mut has_turns) = (None, false);
    for line in lines {
        if is_compaction(line) {
            let after = after.pop().flatten().filter(|_| has_turns);
            triggers.push(trigger(before.filter(|_| has_turns), after));
        } else if tells(line) {
            before = Some(line);
        }
        has_turns |= is_start(line);
    }
    triggers
}

/// The command to compact is a turn of its own, in which nobody speaks; whatever runs inside of a turn ran by
/// itself. Files without turns say nothing.
fn trigger(before: Option<&Line>, after: Option<&Line>) -> &'static str {
    match (before, after) {
        (Some(before), _) if speaks(before) => "auto",
        (Some(before), Some(after)) if is_start(before) && speaks(after) => "auto",
        (Some(before), Some(_)) if is_start(before) => "manual",
        _ => "",
    }
}

fn is_start(line: &Line) -> bool {
    matches!(line.what, What::Turn { starts: true, .. })
}

fn speaks(line: &Line) -> bool {
    matches!(line.what, What::Said(_)) || line.item().is_some_and(|i| i.sort == Sort::Answer)
}

fn tells(line: &Line) -> bool {
    is_start(line) || speaks(line) || matches!(line.what, What::TurnEnds { .. })
}
