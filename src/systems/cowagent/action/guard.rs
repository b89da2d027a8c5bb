//! Actions around the model's calls: repairs, the report after the last step, the hint at repeats.

use super::super::block::{answered_id, call_id, input};
use super::super::repeat::{CallHistory, HINT, NOTICED_FROM, REPEATS};
use super::super::run::ask_for_report;
use super::super::sanitize::sanitize;
use super::super::turn::starts_turn;
use super::{apart, idle, joined, term};
use crate::chat::{Block, BlockBody, ChatMessage, Content, Dialogue, Fields, Wants};
use crate::engine::{Rewrite, Rewritten, Scene};
use serde_json::{Value, json};

/// Repairs calls and results.
#[derive(Debug)]
pub(super) struct Validate;

impl Rewrite for Validate {
    fn rewrite(&self, scene: Scene<'_>, _: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        let (system, mut said) = apart(scene.messages.into_vec());
        let mut log = Vec::new();
        let n_repairs = sanitize(&mut said, &mut log);
        let terms = vec![term("repairs", n_repairs)];
        if n_repairs == 0 {
            return Ok(idle(terms));
        }
        Ok(Rewritten {
            messages: Some(joined(system, said)),
            fired: true,
            terms,
            log,
            ..Rewritten::default()
        })
    }
}

/// Asks for a report in the place of the call after the last step.
#[derive(Debug)]
pub(super) struct AskForReport;

impl Rewrite for AskForReport {
    fn rewrite(&self, scene: Scene<'_>, _: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        let max_steps = scene.count("max_steps");
        let n_steps = scene.turn.1 as usize;
        let terms = vec![term("steps", n_steps), term("max_steps", max_steps)];
        if n_steps != max_steps || n_steps == 0 {
            return Ok(idle(terms));
        }
        let mut messages = scene.messages.into_vec();
        messages.push(notice(&ask_for_report(n_steps)));
        Ok(Rewritten {
            messages: Some(messages),
            fired: true,
            terms,
            log: vec![format!("warning: ⚠️  已达到最大决策步数限制: {max_steps}")],
            ..Rewritten::default()
        })
    }
}

/// Hints that a call was made often enough.
#[derive(Debug)]
pub(super) struct HintAtRepeats;

impl Rewrite for HintAtRepeats {
    fn rewrite(&self, scene: Scene<'_>, _: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        let (system, mut said) = apart(scene.messages.into_vec());
        let (n_steps, tool, n_succeeded) = repeats(&said);
        let terms = vec![term("steps", n_steps), term("succeeded", n_succeeded)];
        if n_steps < NOTICED_FROM || n_succeeded < REPEATS {
            return Ok(idle(terms));
        }
        said.push(notice(HINT));
        Ok(Rewritten {
            messages: Some(joined(system, said)),
            fired: true,
            terms,
            log: vec![format!(
                "warning: ⚠️  Detected potential loop: '{tool}' called {n_succeeded} times with same args. \
                 Adding hint to LLM to provide final response."
            )],
            ..Rewritten::default()
        })
    }
}

fn notice(text: &str) -> ChatMessage {
    ChatMessage::from(Fields {
        content: Content::Blocks(vec![Block::text(text)]),
        ..ChatMessage::notice("user", "").into_fields()
    })
}

/// Steps of the current run, the first tool of the newest, and how often that call succeeded of late.
fn repeats(messages: &[ChatMessage]) -> (usize, String, usize) {
    let is_hint = |m: &ChatMessage| m.blocks().iter().any(|b| b.as_text() == Some(HINT));
    let start = messages.iter().rposition(|m| starts_turn(m) && !is_hint(m));
    let run = &messages[start.unwrap_or(0)..];
    let failed: Vec<&str> = run
        .iter()
        .flat_map(ChatMessage::blocks)
        .filter_map(failed_id)
        .collect();
    let mut history = CallHistory::default();
    let mut n_steps = 0;
    let mut newest: Option<(&str, &Value)> = None;
    for message in run.iter().filter(|m| m.is("assistant")) {
        let calls: Vec<&Block> = message
            .blocks()
            .iter()
            .filter(|b| call_id(b).is_some())
            .collect();
        let named = calls
            .iter()
            .filter_map(|block| Some((*block, tool_of(block)?, input(block)?)));
        for (block, tool, arguments) in named.clone() {
            let succeeded = call_id(block).is_some_and(|id| !failed.contains(&id));
            history.record(tool, arguments, succeeded);
        }
        if let Some((_, tool, arguments)) = named.clone().next() {
            n_steps += 1;
            newest = Some((tool, arguments));
        }
    }
    let ends_with_results = run
        .last()
        .is_some_and(|m| m.blocks().iter().any(|b| answered_id(b).is_some()));
    let Some((tool, arguments)) = newest.filter(|_| ends_with_results) else {
        return (n_steps, String::new(), 0);
    };
    let (_, n_succeeded) = history.repeats(tool, arguments);
    (n_steps, tool.to_owned(), n_succeeded)
}

fn tool_of(block: &Block) -> Option<&str> {
    match &block.body {
        BlockBody::ToolUse { name, .. } => Some(name),
        BlockBody::Other(value) => value["name"].as_str(),
        _ => None,
    }
}

/// Id of a call whose result is an error.
fn failed_id(block: &Block) -> Option<&str> {
    let is_error = match &block.body {
        BlockBody::ToolResult { is_error, .. } => *is_error == Some(true),
        BlockBody::Other(value) => value["is_error"] == json!(true),
        _ => false,
    };
    answered_id(block).filter(|_| is_error)
}
