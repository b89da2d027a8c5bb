//! The figures of a run as JSON, in the output of `gate` and `sweep` and in baselines.

use crate::analysis::rereads::{Expected, RereadTotal};
use crate::analysis::tune::{LostRules, Score};
use crate::units::{Share, Tokens, Usd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FiguresEntry {
    /// Cost in USD, without expected re-reads; null if a price is unknown.
    usd: Option<f64>,
    /// Sum of the contexts of all calls in tokens.
    tokens_sent: u64,
    /// `tokens_sent`, rejected tokens, and requests for summaries with their answers.
    tokens_total: u64,
    /// Number of files that the agent is expected to read again because their content was removed.
    expected_rereads: Expected,
    /// Tokens that the expected re-reads fetch.
    reread_tokens: u64,
    /// Price of the expected re-reads in USD; null if a price is unknown.
    reread_usd: Option<f64>,
    /// The user's constraints and decisions; null if the session states none.
    user_rules: Option<RulesEntry>,
    /// Edits of text that the context no longer contained.
    blind_edits: usize,
    /// Largest context in tokens.
    peak_tokens: u64,
    /// Largest context as a share of the usable window; null if the reserve leaves no usable tokens.
    peak_share: Option<f64>,
    /// Number of compactions.
    compactions: usize,
    /// Number of calls that overflowed at the first attempt: larger than the context window.
    overflows: usize,
    /// Number of calls that reach into the output reserve without an overflow.
    into_reserve: usize,
}

/// The user's constraints and decisions. No agent fetches them again, so expected re-reads cannot judge them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct RulesEntry {
    /// Those that no text of the last call holds.
    lost: usize,
    /// Those that only a predicted summary may hold.
    unknown: usize,
    /// All that the session states and does not replace.
    stated: usize,
}

impl From<Score> for FiguresEntry {
    fn from(score: Score) -> Self {
        let rereads = score.rereads;
        Self {
            usd: score.cost.map(|usd| usd.0),
            tokens_sent: score.sent.0,
            tokens_total: score.total.0,
            expected_rereads: rereads.files,
            reread_tokens: rereads.tokens.value as u64,
            reread_usd: rereads.usd.map(|usd| usd.value),
            user_rules: score.user_rules.map(|LostRules { lost, unknown, stated }| RulesEntry {
                lost,
                unknown,
                stated,
            }),
            blind_edits: score.blind_edits,
            peak_tokens: score.peak.0,
            peak_share: score.peak_share.known().map(|share| share.0),
            compactions: score.compactions,
            overflows: score.overflows,
            into_reserve: score.into_reserve,
        }
    }
}

impl From<&FiguresEntry> for Score {
    fn from(entry: &FiguresEntry) -> Self {
        let rules = entry.user_rules;
        Self {
            cost: entry.usd.map(Usd),
            sent: Tokens(entry.tokens_sent),
            total: Tokens(entry.tokens_total),
            rereads: RereadTotal {
                files: entry.expected_rereads,
                // Figures record neither removals nor the intervals of tokens and prices.
                ..RereadTotal::default()
            },
            user_rules: rules.map(|RulesEntry { lost, unknown, stated }| LostRules {
                lost,
                unknown,
                stated,
            }),
            blind_edits: entry.blind_edits,
            peak: Tokens(entry.peak_tokens),
            peak_share: Share(entry.peak_share.unwrap_or(f64::INFINITY)),
            compactions: entry.compactions,
            // Figures record neither other actions nor files.
            acts: entry.compactions > 0,
            spilled: 0,
            overflows: entry.overflows,
            into_reserve: entry.into_reserve,
        }
    }
}
