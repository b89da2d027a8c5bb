//! The events of a request: summaries in place of the events within their ranges.

use super::event::AdkEvent;
use super::pair::with_whole_pairs;
use std::collections::{HashMap, HashSet};

/// Returns the events of a request before calls and responses are paired.
pub(super) fn visible(events: &[AdkEvent]) -> Vec<AdkEvent> {
    let all: Vec<AdkEvent> = events.iter().filter(|e| e.has_content()).cloned().collect();
    if all.iter().all(|event| event.range().is_none()) {
        return all;
    }
    let order = recover(compacted(&all), &all);
    order.into_iter().map(|at| all[at].clone()).collect()
}

/// Returns the events of a request.
pub(super) fn assemble(events: &[AdkEvent]) -> Vec<AdkEvent> {
    with_whole_pairs(visible(events))
}

/// Returns the positions of the summaries whose range no other one contains.
pub(super) fn summaries(events: &[AdkEvent]) -> Vec<usize> {
    let ranges = events.iter().enumerate();
    let ranges = ranges.filter_map(|(at, event)| Some((at, event.range()?)));
    let mut ranges: Vec<(usize, (usize, usize))> = ranges.collect();
    ranges.sort_by_key(|(at, (start, end))| (*start, usize::MAX - end, usize::MAX - at));
    let mut latest = None;
    let mut kept: Vec<usize> = ranges
        .into_iter()
        .filter(|(_, (_, end))| {
            let is_kept = latest.is_none_or(|latest| *end > latest);
            latest = latest.max(Some(*end));
            is_kept
        })
        .map(|(at, _)| at)
        .collect();
    kept.sort_unstable();
    kept
}

/// Returns the positions of the events that remain, each summary at the end of its range.
pub(super) fn compacted(events: &[AdkEvent]) -> Vec<usize> {
    let summaries = summaries(events);
    let ranges = summaries.iter().filter_map(|at| events[*at].range());
    let ranges: Vec<(usize, usize)> = ranges.collect();
    // No range contains another one: of those that start before a time, the last one ends last.
    let mut sorted = ranges.clone();
    sorted.sort_unstable();
    let is_covered = |time: usize| {
        let next = sorted.partition_point(|(start, _)| *start <= time);
        next > 0 && sorted[next - 1].1 >= time
    };
    let raw = events.iter().enumerate();
    let raw = raw.filter(|(_, event)| event.range().is_none() && !is_covered(event.time));
    let raw = raw.map(|(at, event)| (event.time, at));
    let ends = summaries.iter().zip(&ranges);
    let mut all: Vec<(usize, usize)> = ends.map(|(at, (_, end))| (*end, *at)).collect();
    all.extend(raw);
    all.sort_unstable();
    all.into_iter().map(|(_, at)| at).collect()
}

/// Puts back the calls whose response remains, with the responses to the other calls of the same answer.
fn recover(order: Vec<usize>, events: &[AdkEvent]) -> Vec<usize> {
    let present: HashSet<usize> = order.iter().copied().collect();
    let mut newest: HashMap<&str, usize> = HashMap::new();
    let mut owners: HashMap<(usize, &str), usize> = HashMap::new();
    let mut answers: HashMap<(usize, &str), usize> = HashMap::new();
    let mut answered: HashSet<(usize, &str)> = HashSet::new();
    for (at, event) in events.iter().enumerate() {
        newest.extend(event.calls().map(|id| (id, at)));
        for id in event.responses() {
            let Some(call) = newest.get(id).copied() else {
                continue;
            };
            owners.insert((at, id), call);
            answers.insert((call, id), at);
            if present.contains(&at) {
                answered.insert((call, id));
            }
        }
    }
    let mut added: HashSet<usize> = HashSet::new();
    let mut all = Vec::new();
    for at in order {
        for id in events[at].responses() {
            let owner = owners.get(&(at, id)).copied();
            let Some(call) = owner.filter(|call| !present.contains(call)) else {
                continue;
            };
            if !added.insert(call) {
                continue;
            }
            all.push(call);
            for id in events[call].calls() {
                let sibling = answers.get(&(call, id)).copied();
                let sibling = sibling.filter(|_| !answered.contains(&(call, id)));
                all.extend(sibling.filter(|sibling| added.insert(*sibling)));
            }
        }
        all.push(at);
    }
    all
}
