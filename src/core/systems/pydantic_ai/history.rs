//! The agent's messages. Everything between two answers is one message, a request.

use crate::chat::{ChatMessage, n_system};
use crate::engine::{ActionKind, Hook, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::json::{Value, json};
use crate::systems::stage_settings::numbers_only;
use std::collections::HashSet;

/// At `turn_start`, the new messages are not part of the history yet.
pub(super) const REPAIR: NamedAction = NamedAction::new(
    "pydantic_ai.repair",
    ActionKind::Repair,
    "Removes results whose call is not in the history.",
    |settings| numbers_only(settings, repair),
);

/// Key of the turn until whose end the first request is separate from the next one, and its size, in memory.
const FIRST: &str = "pydantic_ai_first";
/// Key of the turn until whose end the history begins with a request that sends nothing, in memory. 0 for all turns.
const EMPTY: &str = "pydantic_ai_empty";

/// The history of an agent.
pub(super) struct History<'a> {
    /// Instructions, which are no message.
    pub(super) system: &'a [ChatMessage],
    /// Requests and answers.
    pub(super) messages: Vec<&'a [ChatMessage]>,
    /// Whether there is a request before them that sends nothing.
    pub(super) starts_empty: bool,
}

impl<'a> History<'a> {
    pub(super) fn new(input: &'a RewriteInput<'_>) -> Self {
        let (system, mut rest) = input.messages.split_at(n_system(&input.messages));
        let turn = u64::from(input.turn);
        let mut messages = Vec::new();
        if input.memory[FIRST][0].as_u64() == Some(turn)
            && let Some(n) = input.memory[FIRST][1].as_u64()
        {
            let (first, others) = rest.split_at(rest.len().min(n as usize));
            messages.push(first);
            rest = others;
        }
        let is_split = |a: &ChatMessage, b: &ChatMessage| a.is("assistant") || b.is("assistant");
        messages.extend(rest.chunk_by(|a, b| !is_split(a, b)));
        let empty = input.memory[EMPTY].as_u64();
        Self {
            system,
            messages,
            starts_empty: empty.is_some_and(|until| until == 0 || until == turn),
        }
    }

    /// Returns the number of messages.
    pub(super) fn len(&self) -> usize {
        self.messages.len() + usize::from(self.starts_empty)
    }
}

/// The requests at the start of a new history that are not what they look like.
pub(super) enum Start {
    /// No special case.
    Plain,
    /// The first request, of this many messages, is separate from the next one until the turn ends.
    Separate(usize),
    /// A request that sends nothing comes first: until the turn ends if its results have no call, else for good.
    Empty { is_repaired: bool },
}

/// Returns the state of a new history for memory.
pub(super) fn state(input: &RewriteInput<'_>, start: &Start) -> Value {
    let turn = input.turn;
    let first = match start {
        Start::Separate(n) => json!([turn, n]),
        _ => json!(null),
    };
    let empty = match start {
        Start::Empty { is_repaired: true } => json!(turn),
        Start::Empty { is_repaired: false } => json!(0),
        _ => json!(null),
    };
    json!({FIRST: first, EMPTY: empty})
}

/// Returns the positions of results whose call does not come before them.
pub(super) fn orphans(messages: &[ChatMessage]) -> Vec<usize> {
    let mut calls = HashSet::new();
    let mut orphans = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        calls.extend(message.calls().iter().filter_map(|call| call.id.as_deref()));
        let is_answered = |id: &str| calls.contains(id);
        if message.is("tool") && !message.call_id.as_deref().is_some_and(is_answered) {
            orphans.push(at);
        }
    }
    orphans
}

fn repair(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let is_new = |m: &&ChatMessage| !m.is("assistant");
    let n_new =
        if input.at == Hook::TurnStart { all.iter().rev().take_while(is_new).count() } else { 0 };
    let removed = orphans(&all[..all.len() - n_new]).into_iter();
    Rewritten {
        edits: removed.map(|at| MessageEdit { at, now: None }).collect(),
        ..Rewritten::default()
    }
}
