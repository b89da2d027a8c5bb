//! The messages as the program stores them (all results of one answer are one message), and which of them are pinned.

use crate::chat::{ChatMessage, n_system};
use crate::engine::Memory;
use serde_json::{Value, json};

/// Key of the pinned parts, in memory.
const PINS: &str = "strands_pins";

/// A message of the program.
pub(super) type Unit<'a> = &'a [ChatMessage];

/// Returns the number of instructions, and the conversation behind them.
pub(super) fn units(all: &[ChatMessage]) -> (usize, Vec<Unit<'_>>) {
    let n_system = n_system(all);
    let are_one = |a: &ChatMessage, b: &ChatMessage| a.is("tool") && b.is("tool");
    (n_system, all[n_system..].chunk_by(are_one).collect())
}

/// Returns whether a message holds results.
pub(super) fn has_results(unit: Unit<'_>) -> bool {
    unit.iter().any(|message| message.is("tool"))
}

/// Returns whether a message holds calls.
pub(super) fn has_calls(unit: Unit<'_>) -> bool {
    unit.iter().any(|message| !message.calls().is_empty())
}

/// The pinned messages, by their parts: those of the first reduction, for good.
pub(super) struct Pins {
    parts: Vec<u32>,
    /// Whether this reduction pins messages.
    pub(super) are_new: bool,
}

impl Pins {
    /// Returns the known pins, else the first messages.
    pub(super) fn new(memory: &Memory, units: &[Unit<'_>], pin_first: usize) -> Self {
        if let Some(known) = memory[PINS].as_array() {
            let parts = known.iter().filter_map(Value::as_u64);
            return Self {
                parts: parts.map(|part| part as u32).collect(),
                are_new: false,
            };
        }
        let first = units.iter().take(pin_first).copied().flatten();
        let parts: Vec<u32> = first.flat_map(ChatMessage::parts).collect();
        Self {
            are_new: !parts.is_empty(),
            parts,
        }
    }

    /// Returns the pins for an action's memory.
    pub(super) fn to_memory(&self) -> Memory {
        json!({PINS: self.parts}).into()
    }

    /// Returns whether a message is pinned itself, or by the pinned neighbor with its calls or results.
    pub(super) fn contain(&self, units: &[Unit<'_>], at: usize) -> bool {
        let is_flagged = |unit: Unit<'_>| {
            let mut parts = unit.iter().flat_map(ChatMessage::parts);
            parts.any(|part| self.parts.contains(&part))
        };
        if self.parts.is_empty() || is_flagged(units[at]) {
            return !self.parts.is_empty();
        }
        let before = at.checked_sub(1).map(|before| units[before]);
        let neighbors = [before, units.get(at + 1).copied()];
        let mut neighbors = neighbors.into_iter().flatten();
        neighbors.any(|neighbor| is_flagged(neighbor) && share_a_call(units[at], neighbor))
    }
}

/// Returns whether two messages have a call in common.
fn share_a_call(a: Unit<'_>, b: Unit<'_>) -> bool {
    ids(a).any(|id| ids(b).any(|other| other == id))
}

/// Returns the ids of the calls and results of a message.
fn ids(unit: Unit<'_>) -> impl Iterator<Item = &str> {
    let of_calls = unit
        .iter()
        .flat_map(|message: &ChatMessage| message.calls());
    let of_calls = of_calls.filter_map(|call| call.id.as_deref());
    let of_results = unit.iter().filter_map(|message| message.call_id.as_deref());
    of_calls.chain(of_results).filter(|id| !id.is_empty())
}
