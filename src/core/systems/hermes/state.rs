//! The compressor's memory between calls, and its decision to compress.

use serde::{Deserialize, Serialize};

/// Minimum tokens of growth for which an estimate is not trusted after a compression.
// The numbers of this file are those of hermes-agent 0.19.0, `agent/context_compressor.py` and
// `agent/model_metadata.py`.
const TOLERATED: u64 = 4096;
/// Limit of the trigger in tokens, except in a window that is not larger.
const MIN_THRESHOLD: u64 = 64_000;
/// Windows below this are compressed no earlier than at [`SMALL_SHARE`].
const SMALL_WINDOW: u64 = 512_000;
const SMALL_SHARE: f64 = 0.75;
/// Share of a window that is smaller than the minimum trigger.
const SMALLEST_SHARE: f64 = 0.85;
/// Number of compressions without effect after which none is tried.
const MAX_INEFFECTIVE: u32 = 2;

/// State of the compressor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    /// Tokens of the newest prompt; none after a compression until the provider reports them.
    pub(super) last_prompt: Option<u64>,
    /// Newest tokens that the provider reported.
    last_real: u64,
    /// Estimate after the newest compression.
    pub(super) compressed_estimate: u64,
    /// Estimate of a request that the provider showed to fit.
    fitting_estimate: u64,
    /// Whether a compression waits for reported tokens.
    pub(super) awaits_usage: bool,
    /// Whether the next reported tokens decide on the effect of a compression.
    pub(super) is_unverified: bool,
    pub(super) n_ineffective: u32,
    pub(super) n_compressions: u32,
    /// The newest summary.
    pub(super) summary: Option<String>,
    /// Compressions before the calls of the current turn.
    pub(super) attempts: u32,
}

/// Returns the tokens at which the compressor acts.
pub(super) fn threshold(window: u64, share: f64, max_tokens: u64) -> u64 {
    let share = if window < SMALL_WINDOW { share.max(SMALL_SHARE) } else { share };
    let usable = match window.saturating_sub(max_tokens) {
        0 => window,
        usable => usable,
    };
    let at = ((usable as f64 * share) as u64).max(MIN_THRESHOLD);
    if at < usable {
        return at;
    }
    ((usable as f64 * SMALLEST_SHARE) as u64).clamp(1, usable.max(2) - 1)
}

impl Default for State {
    fn default() -> Self {
        Self {
            last_prompt: Some(0),
            last_real: 0,
            compressed_estimate: 0,
            fitting_estimate: 0,
            awaits_usage: false,
            is_unverified: false,
            n_ineffective: 0,
            n_compressions: 0,
            summary: None,
            attempts: 0,
        }
    }
}

impl State {
    /// `update_from_response`: `reported` is 0 for an answer without usage.
    pub(super) fn update(&mut self, reported: u64, threshold: u64) {
        if reported == 0 && !self.awaits_usage {
            return;
        }
        self.last_prompt = Some(reported);
        if reported > 0 {
            self.last_real = reported;
            if reported < threshold {
                if self.awaits_usage && self.compressed_estimate > 0 {
                    self.fitting_estimate = self.compressed_estimate;
                }
                self.n_ineffective = 0;
            } else {
                self.fitting_estimate = 0;
                self.n_ineffective += u32::from(self.is_unverified);
            }
        }
        self.is_unverified = false;
        self.awaits_usage = false;
    }

    /// `should_defer_preflight_to_real_usage`.
    pub(super) fn defers(&mut self, estimate: u64, threshold: u64) -> bool {
        if estimate < threshold {
            return false;
        }
        if self.awaits_usage {
            return true;
        }
        let known = match self.fitting_estimate {
            0 => self.compressed_estimate,
            known => known,
        };
        if self.last_real == 0 || self.last_real >= threshold || known == 0 {
            return false;
        }
        let tolerated = TOLERATED.max((threshold as f64 * 0.05) as u64);
        if estimate.saturating_sub(known) > tolerated {
            return false;
        }
        self.fitting_estimate = known.max(estimate);
        true
    }

    /// `should_compress`.
    pub(super) fn acts(&self, tokens: u64, threshold: u64) -> bool {
        tokens >= threshold && self.n_ineffective < MAX_INEFFECTIVE
    }
}
