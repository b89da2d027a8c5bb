//! Actions around model calls: repairs, the report after the last step, the hint at repeats.

use super::super::block::{answered_id, call_id, call_input};
use super::super::loop_guard::{
    CallHistory, FIRST_CHECKED_STEP, HINT, TOO_MANY_REPEATS, ask_for_report,
};
use super::super::sanitize::{is_sound, sanitize};
use super::super::turn::starts_turn;
use super::{changed, idle, split_instructions, term};
use crate::chat::{Block, BlockBody, ChatMessage, Content, Fields, Messages, Rule};
use crate::engine::{RewriteInput, Rewritten};
use crate::json::{Value, json};
use std::collections::HashSet;

/// Repairs calls and results.
pub(super) fn validate(input: &RewriteInput<'_>) -> Rewritten {
    if is_sound(&input.messages) {
        return idle(vec![term("repairs", 0)]);
    }
    let (system, conversation) = split_instructions(&input.messages);
    let mut conversation = conversation.to_vec();
    let mut log = Vec::new();
    let n_repairs = sanitize(&mut conversation, &mut log);
    let terms = vec![term("repairs", n_repairs)];
    changed(n_repairs, [system, &conversation], terms, log)
}

/// Requests a report instead of the call after the last step.
pub(super) fn ask_at_step_limit(input: &RewriteInput<'_>) -> Rewritten {
    let max_steps = input.count("max_steps");
    let n_steps = input.call_in_turn as usize;
    let terms = vec![term("steps", n_steps), term("max_steps", max_steps)];
    if n_steps != max_steps || n_steps == 0 {
        return idle(terms);
    }
    let mut messages = input.messages.to_vec();
    messages.push(notice(&ask_for_report(n_steps)));
    Rewritten {
        messages: Some(messages),
        fired: true,
        terms,
        log: vec![format!("warning: ⚠️  已达到最大决策步数限制: {max_steps}")],
        ..Rewritten::default()
    }
}

/// Adds a hint about a call that was repeated too often.
pub(super) fn hint_at_repeats(input: &RewriteInput<'_>) -> Rewritten {
    let (n_steps, tool, n_succeeded) = repeats(&input.messages);
    let terms = vec![term("steps", n_steps), term("succeeded", n_succeeded)];
    if n_steps < FIRST_CHECKED_STEP || n_succeeded < TOO_MANY_REPEATS {
        return idle(terms);
    }
    let mut messages = input.messages.to_vec();
    messages.push(notice(HINT));
    Rewritten {
        messages: Some(messages),
        fired: true,
        terms,
        log: vec![format!(
            "warning: ⚠️  Detected potential loop: '{tool}' called {n_succeeded} times with same args. \
                 Adding hint to LLM to provide final response."
        )],
        ..Rewritten::default()
    }
}

fn notice(text: &str) -> ChatMessage {
    ChatMessage::from(Fields {
        content: Content::Blocks(vec![Block::text(text)]),
        ..ChatMessage::notice("user", "").into_fields()
    })
}

const REPEATS: Rule = Rule::new("cowagent.repeats");

/// The current run, up to the messages read.
#[derive(Clone, Default)]
struct CurrentRun {
    /// Number of messages read.
    n_read: usize,
    n_steps: usize,
    history: CallHistory,
    /// Calls whose result is an error.
    failed: HashSet<String>,
    /// The message of the newest step.
    newest: Option<usize>,
}

impl CurrentRun {
    fn read(&mut self, at: usize, message: &ChatMessage) {
        let is_hint = || message.blocks().iter().any(|b| b.as_text() == Some(HINT));
        if starts_turn(message) && !is_hint() {
            *self = Self::default();
        }
        for id in message.blocks().iter().filter_map(failed_id) {
            self.history.fail(id);
            self.failed.insert(id.to_owned());
        }
        if !message.is("assistant") {
            return;
        }
        let n_steps = self.n_steps;
        for (block, tool, arguments) in named_calls(message) {
            let id = call_id(block).unwrap_or_default();
            let succeeded = !self.failed.contains(id);
            self.history.record(id, tool, arguments, succeeded);
            self.n_steps = n_steps + 1;
            self.newest = Some(at);
        }
    }
}

/// Returns the steps of the current run, the first tool of the newest step, and how often that call recently succeeded.
/// Looks only at messages added since the last call.
fn repeats(messages: &Messages) -> (usize, String, usize) {
    let run = messages.updated_state(REPEATS, |run: &mut CurrentRun, messages| {
        for (at, message) in messages.iter().enumerate().skip(run.n_read) {
            run.read(at, message);
        }
        run.n_read = messages.len();
    });
    let has_result = |m: &ChatMessage| m.blocks().iter().any(|b| answered_id(b).is_some());
    let newest = run.newest.filter(|_| messages.last().is_some_and(has_result));
    let newest = newest.and_then(|at| named_calls(&messages[at]).next());
    let Some((_, tool, arguments)) = newest else {
        return (run.n_steps, String::new(), 0);
    };
    let (_, n_succeeded) = run.history.repeats(tool, arguments);
    (run.n_steps, tool.to_owned(), n_succeeded)
}

/// Returns the calls of a message that have an id, a tool and arguments.
fn named_calls(message: &ChatMessage) -> impl Iterator<Item = (&Block, &str, &Value)> {
    let calls = message.blocks().iter().filter(|b| call_id(b).is_some());
    calls.filter_map(|block| Some((block, tool_of(block)?, call_input(block)?)))
}

fn tool_of(block: &Block) -> Option<&str> {
    match &block.body {
        BlockBody::ToolUse { name, .. } => Some(name),
        BlockBody::Other(value) => value["name"].as_str(),
        _ => None,
    }
}

/// Returns the id of a call whose result is an error.
fn failed_id(block: &Block) -> Option<&str> {
    let is_error = match &block.body {
        BlockBody::ToolResult { is_error, .. } => *is_error == Some(true),
        BlockBody::Other(value) => value["is_error"] == json!(true),
        _ => false,
    };
    answered_id(block).filter(|_| is_error)
}
