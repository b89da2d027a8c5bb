//! Actions of presets, and the token estimate as a meter.
//!
//! `manage_context` is split into several stages here, since cleared messages are only sent while summaries are stored.
//! The stages receive the session's conversation; its first instruction is used as the system prompt.

mod compact;
mod fail;
mod middle_out;
mod prune;

use super::estimate::countable_tokens;
use super::{Failure, Limits};
use crate::chat::{ChatMessage, Messages, Shape};
use crate::engine::{NamedAction, NamedMeter, RewriteInput, Rewritten};
use crate::languages::python::PythonError;
use crate::systems::terms::terms;
use crate::units::Tokens;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] =
    &[middle_out::ACTION, prune::ACTION, compact::ACTION, fail::ACTION];

/// The token estimate.
pub static METER: NamedMeter = NamedMeter {
    name: "baseagent",
    help: "Code points / 4, rounded down for each text; 1,000 per image, 4 per message. Ids, names, reasoning and tool definitions do not count.",
    shape: Shape::OpenAi,
    units: |message| countable_tokens(message).0,
    tokens: |units| units,
    tools: |_| 0,
};

/// Returns the result of an exception outside a model call, which ends the run.
fn raised(error: PythonError) -> Rewritten {
    let halt = Failure::Other(error).fatal_line();
    Rewritten { log: vec![format!("[loop] {halt}")], halt: Some(halt), ..Rewritten::default() }
}

fn limits_of(input: &RewriteInput<'_>) -> Limits {
    let whole = |name: &str| input.number(name) as i64;
    Limits {
        context: whole("usable"),
        output: 0,
        threshold: input.number("threshold"),
        protect: whole("protect"),
        minimum: whole("minimum"),
        protected_turns: whole("protect_turns"),
    }
}

fn total(messages: &[ChatMessage]) -> Tokens {
    messages.iter().map(|m| Tokens(METER.weigh(m))).sum()
}

/// Returns the total of a conversation that mostly grows.
fn total_of(messages: &Messages) -> Tokens {
    Tokens(METER.weigh_all(messages))
}

#[cfg(test)]
mod tests;
