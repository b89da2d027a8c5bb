//! The pairs of calls and responses in a request.
//!
//! Ids repeat in a session, so a response belongs to the newest call with its id before it. Every function makes one
//! pass and remembers calls and positions by id.

use super::event::{AdkEvent, response_id};
use crate::chat::ChatMessage;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Moves a split back until no event behind it responds to a call before it.
pub(super) fn whole_split<'a>(
    events: impl DoubleEndedIterator<Item = &'a AdkEvent> + ExactSizeIterator,
    split: usize,
) -> usize {
    let mut open: HashSet<&str> = HashSet::new();
    for (at, event) in events.enumerate().rev() {
        open.extend(event.responses());
        for id in event.calls() {
            open.remove(id);
        }
        if at <= split && open.is_empty() {
            return at;
        }
    }
    0
}

/// Removes responses without a call and calls without a response, and moves responses behind their calls.
pub(super) fn with_whole_pairs(events: Vec<AdkEvent>) -> Vec<AdkEvent> {
    without_lone_calls(behind_calls(&without_lone_responses(events)))
}

/// Removes responses that no call before has the id of.
pub(super) fn without_lone_responses(events: Vec<AdkEvent>) -> Vec<AdkEvent> {
    let mut calls: HashSet<String> = HashSet::new();
    let mut kept = Vec::new();
    for mut event in events {
        let is_paired =
            |message: &ChatMessage| response_id(message).is_none_or(|id| calls.contains(id));
        if !event.messages.iter().all(is_paired) {
            Arc::make_mut(&mut event.messages).retain(is_paired);
            if event.messages.is_empty() {
                continue;
            }
        }
        calls.extend(event.calls().map(str::to_owned));
        kept.push(event);
    }
    kept
}

/// Moves the responses behind the newest call before them with their id; of several, the last counts.
fn behind_calls(events: &[AdkEvent]) -> Vec<AdkEvent> {
    let mut newest: HashMap<&str, usize> = HashMap::new();
    let mut answers: HashMap<(&str, usize), usize> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        for id in event.responses() {
            if let Some(call) = newest.get(id) {
                answers.insert((id, *call), at);
            }
        }
        newest.extend(event.calls().map(|id| (id, at)));
    }
    let mut moved = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if event.responses().next().is_some() {
            continue;
        }
        moved.push(event.clone());
        let responses = event.calls().filter_map(|id| answers.get(&(id, at)).copied());
        let responses: BTreeSet<usize> = responses.collect();
        let mut responses = responses.into_iter().map(|at| events[at].clone());
        if let Some(mut merged) = responses.next() {
            for more in responses {
                merge(&mut merged, &more);
            }
            moved.push(merged);
        }
    }
    moved
}

/// Adds responses to an event; those with the same id replace its own.
fn merge(event: &mut AdkEvent, more: &AdkEvent) {
    let messages = Arc::make_mut(&mut event.messages);
    for message in more.messages.iter() {
        let mut same = messages.iter_mut();
        match same.find(|known| response_id(known) == response_id(message)) {
            Some(known) => *known = message.clone(),
            None => messages.push(message.clone()),
        }
    }
}

/// Removes calls without a response. An answer with nothing else is removed.
fn without_lone_calls(events: Vec<AdkEvent>) -> Vec<AdkEvent> {
    let answered: HashSet<String> =
        events.iter().flat_map(|event| event.responses().map(str::to_owned)).collect();
    let is_lone = |id: &str| !answered.contains(id);
    let mut kept = Vec::new();
    for mut event in events {
        if event.calls().any(is_lone) {
            for message in Arc::make_mut(&mut event.messages) {
                let calls = message.calls().iter();
                let calls = calls.filter(|call| !call.id.as_deref().is_some_and(is_lone));
                *message = message.clone().with_calls(calls.cloned().collect());
            }
            if !event.has_content() {
                continue;
            }
        }
        kept.push(event);
    }
    kept
}
