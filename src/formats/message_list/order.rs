//! Brings turns into the order that providers want: all results of a message stand right behind it, every call has
//! exactly one, and ids are unique. What stood between a call and its result comes after it.

use super::convert::{Block, Turn, text_block};
use crate::session::Role;
use std::collections::HashMap;
use std::mem;

/// What stands for a result that the session does not hold.
const NO_RESULT: &str = "[no result was recorded: the call was interrupted]";

/// The turns in order. None of them is empty.
pub(super) fn ordered(mut turns: Vec<Turn>) -> Vec<Turn> {
    turns.retain(|turn| !turn.blocks.is_empty());
    make_ids_unique(&mut turns);
    pair(join_answers(turns))
}

/// Providers want every id once; a result answers the latest call of its id.
fn make_ids_unique(turns: &mut [Turn]) {
    let mut latest: HashMap<String, String> = HashMap::new();
    let mut count: HashMap<String, usize> = HashMap::new();
    for block in turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        match block {
            Block::Call { call, .. } => {
                let n = count.entry(call.clone()).or_default();
                *n += 1;
                let new = if *n > 1 {
                    format!("{call}-{n}")
                } else {
                    call.clone()
                };
                latest.insert(mem::replace(call, new.clone()), new);
            }
            Block::Result { call, .. } => {
                if let Some(new) = latest.get(call) {
                    call.clone_from(new);
                }
            }
            _ => {}
        }
    }
}

/// Makes one turn of what the model said while it waited for results: parallel calls may stand one by one.
fn join_answers(turns: Vec<Turn>) -> Vec<Turn> {
    let mut joined: Vec<Turn> = Vec::with_capacity(turns.len());
    for mut turn in turns {
        let waits =
            |last: &&mut Turn| last.role == Role::Assistant && last.blocks.iter().any(is_call);
        match joined.last_mut().filter(waits) {
            Some(last) if turn.role == Role::Assistant => last.blocks.append(&mut turn.blocks),
            _ => joined.push(turn),
        }
    }
    joined
}

/// Puts every result right behind the turn with its call, and a note where there is none.
fn pair(mut turns: Vec<Turn>) -> Vec<Turn> {
    // Calls without a result so far, with their turn.
    let mut open: HashMap<String, usize> = HashMap::new();
    let mut results: Vec<Vec<Block>> = vec![Vec::new(); turns.len()];
    for (idx, turn) in turns.iter_mut().enumerate() {
        for block in mem::take(&mut turn.blocks) {
            match block {
                Block::Result {
                    call,
                    is_error,
                    text,
                    media,
                } => match open.remove(&call) {
                    Some(asked_in) => results[asked_in].push(Block::Result {
                        call,
                        is_error,
                        text,
                        media,
                    }),
                    // A result that answers nothing is refused; what it says is kept.
                    None => turn
                        .blocks
                        .extend(text_block(&text).into_iter().chain(media)),
                },
                block => {
                    open.extend(call_of(&block).map(|call| (call.to_owned(), idx)));
                    turn.blocks.push(block);
                }
            }
        }
    }
    let mut out = Vec::with_capacity(turns.len() * 2);
    for (turn, mut blocks) in turns.into_iter().zip(results) {
        let calls = turn.blocks.iter().filter_map(call_of);
        blocks.extend(calls.filter(|call| open.contains_key(*call)).map(no_result));
        out.push(turn);
        out.push(Turn {
            role: Role::Tool,
            blocks,
        });
    }
    out.retain(|turn| !turn.blocks.is_empty());
    out
}

fn no_result(call: &str) -> Block {
    Block::Result {
        call: call.to_owned(),
        is_error: true,
        text: NO_RESULT.to_owned(),
        media: Vec::new(),
    }
}

fn is_call(block: &Block) -> bool {
    call_of(block).is_some()
}

fn call_of(block: &Block) -> Option<&str> {
    if let Block::Call { call, .. } = block {
        Some(call)
    } else {
        None
    }
}
