//! Before the first call of a turn, as built: compresses and trims an oversized request, once.

use super::budget::{Budget, Trimmed, trim_to_fit};
use super::event::{Event, Reason};
use super::force_compression::{Compressed, force_compression};
use super::prompt::Prompt;
use super::{Settings, Stored};

/// Log line for an oversized request.
pub const EXCEEDED: &str = "Proactive compression: context budget exceeded before LLM call";

/// Log line if history was left out of the request.
pub const TRIMMED: &str = "Trimmed rebuilt history after proactive compaction";

/// Log line if the request is still too large; the call is made anyway.
pub const STILL_EXCEEDED: &str = "Context still exceeds budget after proactive compaction rebuild";

/// A turn ready for its first call.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Estimate of the original request.
    pub budget: Budget,
    /// The session afterwards.
    pub stored: Stored,
    /// What is left out of the request.
    pub trimmed: Trimmed,
    /// Events for listeners.
    pub events: Vec<Event>,
}

/// Checks the request, and compresses the store by force if it is too large.
pub fn compact_if_over(
    prompt: &Prompt,
    stored: &Stored,
    tool_tokens: u64,
    settings: &Settings,
) -> (Budget, Option<Compressed>) {
    let budget = Budget::of(prompt, stored, tool_tokens, settings);
    let compressed = budget
        .is_over()
        .then(|| force_compression(stored, prompt.edition));
    (budget, compressed.flatten())
}

/// Runs both steps: compresses the store and trims the request.
pub fn set_up_turn(
    prompt: &Prompt,
    stored: &Stored,
    tool_tokens: u64,
    settings: &Settings,
) -> Setup {
    let (budget, compressed) = compact_if_over(prompt, stored, tool_tokens, settings);
    let events = compressed
        .iter()
        .map(|done| done.event(Reason::ProactiveBudget))
        .collect();
    let stored = compressed.map_or_else(|| stored.clone(), |done| done.stored);
    Setup {
        trimmed: trim_to_fit(prompt, &stored, &[], tool_tokens, settings),
        budget,
        stored,
        events,
    }
}
