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
    let all = lines.iter().enumerate();
    all.filter(|(_, line)| is_compaction(line))
        .map(|(at, _)| trigger(lines, at))
        .collect()
}

/// The command to compact is a turn of its own, in which nobody speaks; whatever runs inside of a turn ran by
/// itself. Files without turns say nothing.
fn trigger(lines: &[Line], at: usize) -> &'static str {
    let is_start = |line: &Line| matches!(line.what, What::Turn { starts: true, .. });
    let speaks = |line: &Line| {
        matches!(line.what, What::Said(_)) || line.item().is_some_and(|i| i.sort == Sort::Answer)
    };
    let tells =
        |line: &&Line| is_start(line) || speaks(line) || matches!(line.what, What::TurnEnds);
    if !lines[..at].iter().any(is_start) {
        return "";
    }
    let before = lines[..at].iter().rev().find(tells);
    let after = lines[at + 1..].iter().find(tells);
    match (before, after) {
        (Some(before), _) if speaks(before) => "auto",
        (Some(before), Some(after)) if is_start(before) && speaks(after) => "auto",
        (Some(before), Some(_)) if is_start(before) => "manual",
        _ => "",
    }
}
