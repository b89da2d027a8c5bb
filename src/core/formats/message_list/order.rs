//! Orders messages as providers require: all results directly follow the message with their calls, every call has
//! exactly one result, and ids are unique. Messages between a call and its result move after the result.

use super::plain_message::{PlainBlock, PlainMessage, text_block};
use crate::session::Role;
use std::collections::{HashMap, HashSet};
use std::mem;

/// Result of a call without a recorded result.
const NO_RESULT: &str = "[no result was recorded: the call was interrupted]";

/// Orders the messages and removes empty ones.
pub(super) fn ordered(mut messages: Vec<PlainMessage>) -> Vec<PlainMessage> {
    messages.retain(|message| !message.blocks.is_empty());
    make_ids_unique(&mut messages);
    pair(join_answers(messages))
}

/// Makes the ids of calls unique. A result answers the latest call with its id.
fn make_ids_unique(messages: &mut [PlainMessage]) {
    let mut latest: HashMap<String, String> = HashMap::new();
    let mut count: HashMap<String, usize> = HashMap::new();
    let mut used: HashSet<String> = HashSet::new();
    for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
        match block {
            PlainBlock::Call { call, .. } => {
                let n = count.entry(call.clone()).or_default();
                let new = loop {
                    *n += 1;
                    let new = if *n > 1 { format!("{call}-{n}") } else { call.clone() };
                    if used.insert(new.clone()) {
                        break new;
                    }
                };
                latest.insert(mem::replace(call, new.clone()), new);
            }
            PlainBlock::Result { call, .. } => {
                if let Some(new) = latest.get(call) {
                    call.clone_from(new);
                }
            }
            _ => {}
        }
    }
}

/// Joins consecutive assistant messages that wait for results, because parallel calls may be recorded one by one.
fn join_answers(messages: Vec<PlainMessage>) -> Vec<PlainMessage> {
    let mut joined: Vec<PlainMessage> = Vec::with_capacity(messages.len());
    for mut message in messages {
        let waits = |last: &&mut PlainMessage| {
            last.role == Role::Assistant && last.blocks.iter().any(is_call)
        };
        match joined.last_mut().filter(waits) {
            Some(last) if message.role == Role::Assistant => {
                last.blocks.append(&mut message.blocks);
            }
            _ => joined.push(message),
        }
    }
    joined
}

/// Moves every result directly behind the message with its call. Adds a note for each missing result. One pass assigns
/// each result to the message with its call, and a second one writes each message with its results.
fn pair(mut messages: Vec<PlainMessage>) -> Vec<PlainMessage> {
    // Calls without a result so far, with the index of their message.
    let mut open: HashMap<String, usize> = HashMap::new();
    let mut results: Vec<Vec<PlainBlock>> = vec![Vec::new(); messages.len()];
    // Index of the message with the call, and the text, of each result that was assigned.
    let mut answered: HashMap<String, (usize, String)> = HashMap::new();
    for (idx, message) in messages.iter_mut().enumerate() {
        for block in mem::take(&mut message.blocks) {
            match block {
                PlainBlock::Result { call, is_error, text, media } => match open.remove(&call) {
                    Some(caller) => {
                        answered.insert(call.clone(), (caller, text.clone()));
                        results[caller].push(PlainBlock::Result { call, is_error, text, media });
                    }
                    // A program may send a result twice, such as Gemini CLI after a resume.
                    None if answered.get(&call).is_some_and(|(_, first)| *first == text) => {
                        let (caller, _) = answered[&call];
                        results[caller].push(PlainBlock::Result { call, is_error, text, media });
                    }
                    // Providers reject a result without a call. Its text is kept.
                    None => message.blocks.extend(text_block(&text).into_iter().chain(media)),
                },
                block => {
                    open.extend(call_of(&block).map(|call| (call.to_owned(), idx)));
                    message.blocks.push(block);
                }
            }
        }
    }
    let mut out = Vec::with_capacity(messages.len() * 2);
    for (message, mut blocks) in messages.into_iter().zip(results) {
        let calls = message.blocks.iter().filter_map(call_of);
        blocks.extend(calls.filter(|call| open.contains_key(*call)).map(no_result));
        let time = message.time;
        out.push(message);
        out.push(PlainMessage { role: Role::Tool, time, blocks });
    }
    out.retain(|message| !message.blocks.is_empty());
    out
}

fn no_result(call: &str) -> PlainBlock {
    PlainBlock::Result {
        call: call.to_owned(),
        is_error: true,
        text: NO_RESULT.to_owned(),
        media: Vec::new(),
    }
}

fn is_call(block: &PlainBlock) -> bool {
    call_of(block).is_some()
}

fn call_of(block: &PlainBlock) -> Option<&str> {
    if let PlainBlock::Call { call, .. } = block { Some(call) } else { None }
}
