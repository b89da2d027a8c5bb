//! Turns: where each begins, and what is stored of an answer if its turn ended before all results were there.

use super::items::only_calls;
use crate::chat::{ChatMessage, n_system};
use crate::engine::{ActionKind, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::json::{Value, json};
use crate::systems::stage_settings::numbers_only;
use std::sync::Arc;

/// Must run before the other actions, which use what it remembers.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "openai_agents.turn",
    ActionKind::Repair,
    "Keeps only answered calls of an answer whose turn ended before all calls had results.",
    |settings| numbers_only(settings, begin_turn),
);

/// Key of the starts of the turn before and of this turn, in memory.
const STARTS: &str = "openai_agents_starts";
/// Key of the newest call before which an answer was lost, in memory.
const LOST_AT: &str = "openai_agents_lost_at";

/// The turn of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Position of the first message of the turn before.
    pub(super) previous: usize,
    /// Position of the first message.
    pub(super) start: usize,
}

impl Turn {
    /// Returns the turn that [`ACTION`] remembers, or derives it from the messages.
    pub(super) fn of(input: &RewriteInput<'_>) -> Self {
        Self::known(input).unwrap_or_else(|| Self::found(&input.messages))
    }

    fn known(input: &RewriteInput<'_>) -> Option<Self> {
        let start = |nth: usize| input.memory[STARTS][nth].as_u64().map(|at| at as usize);
        let turn = Self { previous: start(0)?, start: start(1)? };
        // Manual edits may have moved messages.
        let is_user = |at: usize| input.messages.get(at).is_some_and(|m| m.is("user"));
        (turn.previous <= turn.start && is_user(turn.start)).then_some(turn)
    }

    fn found(messages: &[ChatMessage]) -> Self {
        let n_system = n_system(messages);
        let is_start = |at: &usize| {
            messages[*at].is("user") && (*at == n_system || !messages[*at - 1].is("user"))
        };
        let mut starts = (n_system..messages.len()).rev().filter(is_start);
        let start = starts.next().unwrap_or(n_system);
        Self { previous: starts.next().unwrap_or(n_system), start }
    }

    /// Returns whether a turn has no answer yet.
    pub(super) fn begins(self, messages: &[ChatMessage]) -> bool {
        !messages[self.start..].iter().any(is_of_agent)
    }

    /// Returns the turn for an action's memory.
    pub(super) fn to_memory(self) -> Value {
        json!({STARTS: [self.previous, self.start]})
    }
}

/// Returns whether the answer before this call was lost.
pub(super) fn was_lost(input: &RewriteInput<'_>) -> bool {
    input.memory[LOST_AT].as_u64() == Some(input.call as u64)
}

fn is_of_agent(message: &ChatMessage) -> bool {
    message.is("assistant") || message.is("tool")
}

fn begin_turn(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let new = all.iter().rposition(is_of_agent).map_or(0, |at| at + 1);
    let new = new.max(n_system(all));
    let begins = all[new..].iter().any(|m| m.is("user"));
    let known = Turn::known(input);
    let mut turn = match known {
        Some(known) if begins => Turn { previous: known.start.min(new), start: new },
        Some(known) => known,
        None => Turn::found(all),
    };
    // Earlier answers were removed at earlier calls.
    let lost = lost(all, known.map_or(0, |known| known.start));
    let gone = || lost.iter().filter(|edit| edit.now.is_none());
    let n_before = |at: usize| gone().filter(|edit| edit.at < at).count();
    let is_lost = begins && gone().any(|edit| edit.at + 1 == new);
    turn = Turn {
        previous: turn.previous - n_before(turn.previous),
        start: turn.start - n_before(turn.start),
    };
    let mut memory = turn.to_memory();
    if is_lost {
        memory[LOST_AT] = json!(input.call);
    }
    Rewritten { edits: lost.into(), memory: memory.into(), ..Rewritten::default() }
}

/// Returns what is lost of answers after which a user message follows before each call has a result. Answered calls with
/// their results are stored.
fn lost(messages: &[ChatMessage], from: usize) -> Vec<MessageEdit> {
    let mut lost = Vec::new();
    for (at, answer) in messages.iter().enumerate().skip(from) {
        if answer.calls().is_empty() {
            continue;
        }
        let rest = &messages[at + 1..];
        let n_results = rest.iter().take_while(|m| m.is("tool")).count();
        let (results, rest) = rest.split_at(n_results);
        let has_result = |id: &Option<Arc<str>>| results.iter().any(|r| r.call_id == *id);
        let answered = answer.calls().iter().map(|call| has_result(&call.id));
        let answered: Vec<bool> = answered.collect();
        if answered.contains(&false) && rest.first().is_some_and(|m| m.is("user")) {
            let is_any = answered.contains(&true);
            let now = is_any.then(|| only_calls(answer, |nth| answered[nth]));
            lost.push(MessageEdit { at, now });
        }
    }
    lost
}
