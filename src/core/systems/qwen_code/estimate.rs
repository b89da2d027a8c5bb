//! Counts of messages, and the thresholds: a quarter token for each UTF-16 unit of what a request contains.

use crate::chat::{BlockBody, ChatMessage, Rule};
use crate::json::json;
use crate::languages::javascript::length;

/// Tokens reserved for the answer to a summary request, and its maximum.
// The numbers of this file are those of qwen-code 0.24.4, `services/chatCompressionService.ts` and
// `services/tokenEstimation.ts`.
pub(super) const SUMMARY_RESERVE: u64 = 20_000;
/// Tokens between the highest trigger and the reserve.
const BUFFER: f64 = 13_000.0;
/// Tokens between the hard limit and the reserve or the trigger.
const HARD_BUFFER: f64 = 3_000.0;
/// Units that an image counts: 1,600 tokens.
const IMAGE: usize = 6_400;
/// Units that a tool result counts in addition to its text.
const RESULT: usize = 64;

const UNITS: Rule = Rule::new("qwen_code: units");

/// Tokens from which the history is summarized, and from which a request is not sent without it.
pub(super) struct Thresholds {
    pub(super) auto: f64,
    pub(super) hard: f64,
}

/// `computeThresholds`: returns the thresholds for a window and the share of it that triggers.
pub(super) fn thresholds(window: u64, share: f64) -> Thresholds {
    let window = window as f64;
    let without_summary = (window - SUMMARY_RESERVE as f64).max(0.0);
    let by_share = share.clamp(0.0, 1.0) * window;
    let ceiling = without_summary - BUFFER;
    let auto = if ceiling > 0.0 { by_share.min(ceiling) } else { by_share };
    let edge = without_summary - HARD_BUFFER;
    Thresholds { auto, hard: window.min(edge.max(auto + HARD_BUFFER)) }
}

/// `estimateContentTokens`: returns the estimated tokens of messages.
pub(super) fn estimated_tokens(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(units).sum::<u64>().div_ceil(4)
}

/// Returns the estimated tokens of a text.
pub(super) fn estimate_text(text: &str) -> u64 {
    (length(text) as u64).div_ceil(4)
}

fn units(message: &ChatMessage) -> u64 {
    message.weigh(UNITS, |message| {
        let images = message.blocks().iter();
        let n_images = images.filter(|block| matches!(block.body, BlockBody::Image(_))).count();
        let calls = message.calls().iter().map(|call| {
            let arguments = call.arguments_as_value();
            let call = json!({"id": call.id.as_deref(), "name": call.tool(), "args": arguments});
            length(&json!({"functionCall": call}).to_string())
        });
        let result = if message.is("tool") { RESULT } else { 0 };
        let text = length(&message.joined_text(""));
        (text + result + n_images * IMAGE + calls.sum::<usize>()) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_windows_leave_space_for_a_summary() {
        let of = |window| {
            let thresholds = thresholds(window, 0.85);
            (thresholds.auto, thresholds.hard)
        };
        assert_eq!(of(1_000_000), (850_000.0, 977_000.0));
        assert_eq!(of(100_000), (67_000.0, 77_000.0));
        assert_eq!(of(32_000), (27_200.0, 30_200.0));
        assert_eq!(of(10_000), (8_500.0, 10_000.0));
    }
}
