//! The events that a compaction summarizes.

use super::assemble::summaries;
use super::event::AdkEvent;
use super::pair::whole_split;
use std::collections::HashSet;

/// Events to summarize, by position.
pub(super) struct Chosen {
    /// The last summary, which the new one includes.
    pub(super) seed: Option<usize>,
    pub(super) events: Vec<usize>,
}

/// Returns the events for the token threshold: all since the last summary but the newest `retain`, without torn pairs.
pub(super) fn for_threshold(events: &[AdkEvent], retain: usize) -> Chosen {
    let last = summaries(events).last().copied();
    let last_end = last.and_then(|at| events[at].range()).map_or(0, |(_, end)| end);
    let is_candidate = |at: &usize| events[*at].range().is_none() && events[*at].time > last_end;
    let mut candidates: Vec<usize> = (0..events.len()).filter(is_candidate).collect();
    if candidates.len() <= retain {
        return Chosen { seed: last, events: Vec::new() };
    }
    if retain > 0 {
        let all = candidates.iter().map(|at| &events[*at]);
        candidates.truncate(whole_split(all, candidates.len() - retain));
    }
    Chosen { seed: last, events: self_contained(events, candidates) }
}

/// `_run_compaction_for_sliding_window`: returns the events for the interval, from `overlap` turns before the first new one to the last one. Empty with fewer
/// than `interval` new turns.
pub(super) fn for_interval(events: &[AdkEvent], interval: usize, overlap: usize) -> Chosen {
    let none = Chosen { seed: None, events: Vec::new() };
    let last_end = events.iter().rev().find_map(AdkEvent::range);
    let last_end = last_end.map_or(0, |(_, end)| end);
    let is_raw = |event: &&AdkEvent| event.range().is_none();
    let is_new = |event: &&AdkEvent| is_raw(event) && event.time > last_end;
    let Some(first_new) = events.iter().find(is_new).map(|event| event.turn) else {
        return none;
    };
    // Turns are numbered without gaps.
    let last = events.iter().rfind(is_new).map_or(first_new, |event| event.turn);
    if last + 1 - first_new < interval {
        return none;
    }
    let start = first_new.saturating_sub(overlap);
    let range =
        (0..events.len()).filter(|at| events[*at].range().is_none() && events[*at].turn >= start);
    Chosen { events: self_contained(events, range.collect()), ..none }
}

/// Returns the longest start of the events in which every call has its response. Calls of earlier turns that can never
/// have one do not count.
fn self_contained(events: &[AdkEvent], mut chosen: Vec<usize>) -> Vec<usize> {
    let safe = balanced(events, &chosen, &HashSet::new());
    let turn = |nth: usize| events[chosen[nth]].turn;
    if safe < chosen.len() && (safe == 0 || turn(safe - 1) == turn(safe)) {
        let answered: HashSet<&str> = events.iter().flat_map(AdkEvent::responses).collect();
        let raw = events.iter().rev().find(|event| event.range().is_none());
        let newest = raw.map(|event| event.turn);
        let dead = chosen.iter().map(|at| &events[*at]);
        let dead = dead.filter(|event| Some(event.turn) != newest);
        let dead = dead.flat_map(AdkEvent::calls);
        let dead: HashSet<&str> = dead.filter(|id| !answered.contains(id)).collect();
        let safe_without = if dead.is_empty() { 0 } else { balanced(events, &chosen, &dead) };
        chosen.truncate(safe.max(safe_without));
    } else {
        chosen.truncate(safe);
    }
    chosen
}

/// Returns the length of the longest start without an open call.
fn balanced(events: &[AdkEvent], chosen: &[usize], dead: &HashSet<&str>) -> usize {
    let mut open: HashSet<&str> = HashSet::new();
    let mut safe = 0;
    for (nth, at) in chosen.iter().enumerate() {
        for id in events[*at].responses() {
            open.remove(id);
        }
        open.extend(events[*at].calls().filter(|id| !dead.contains(id)));
        if open.is_empty() {
            safe = nth + 1;
        }
    }
    safe
}
