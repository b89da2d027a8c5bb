//! Before the first call of a turn, as built: a request that would not fit is compressed and trimmed, once.

use super::budget::{Budget, Trimmed, trim_to_fit};
use super::event::{Event, Reason};
use super::force_compression::{Compressed, force_compression};
use super::prompt::Prompt;
use super::{Settings, Stored};

/// What PicoClaw logs when the request is too large.
pub const EXCEEDED: &str = "Proactive compression: context budget exceeded before LLM call";

/// What it logs when history had to be left out of the request.
pub const TRIMMED: &str = "Trimmed rebuilt history after proactive compaction";

/// What it logs when even that is too large; the call is made anyway.
pub const STILL_EXCEEDED: &str = "Context still exceeds budget after proactive compaction rebuild";

/// A turn ready for its first call.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// What the request weighed at first.
    pub budget: Budget,
    /// The session afterwards.
    pub stored: Stored,
    /// What is left out of the request.
    pub trimmed: Trimmed,
    /// What listeners are told.
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

/// Both steps: the store is compressed, the request trimmed.
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
