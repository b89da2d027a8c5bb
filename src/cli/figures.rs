//! The figures of a run as JSON, in the output of `gate` and `sweep` and in baselines.

use crate::analysis::tune::{Risk, Score};
use crate::units::{Share, Tokens, Usd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FiguresEntry {
    /// Cost in USD; null if a price is unknown.
    usd: Option<f64>,
    /// Sum of the contexts of all calls in tokens.
    tokens_sent: u64,
    /// `tokens_sent`, rejected tokens, and requests for summaries with their answers.
    tokens_total: u64,
    /// References at risk. Predicted summaries count as empty.
    at_risk: usize,
    /// Edits of text that the context no longer contained.
    blind_edits: usize,
    /// Tokens that would have to be read again.
    reread_tokens: u64,
    /// Facts that the last call lacked, on the risk axis of the sweep; null if the axis is references at risk.
    #[serde(default)]
    lost_facts: Option<usize>,
    /// Largest context in tokens.
    peak_tokens: u64,
    /// Largest context as a share of the usable window; null if the reserve leaves no usable tokens.
    peak_share: Option<f64>,
    /// Number of compactions.
    compactions: usize,
    /// Number of calls that overflowed at the first attempt: larger than the context window.
    overflows: usize,
    /// Number of calls that reach into the output reserve without an overflow.
    #[serde(default)]
    into_reserve: usize,
}

impl From<Score> for FiguresEntry {
    fn from(score: Score) -> Self {
        let risk = score.risk;
        Self {
            usd: score.cost.map(|usd| usd.0),
            tokens_sent: score.sent.0,
            tokens_total: score.total.0,
            at_risk: risk.references,
            blind_edits: risk.blind_edits,
            reread_tokens: risk.refetch.0,
            lost_facts: risk.lost.map(|lost| lost.lost),
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
        Self {
            cost: entry.usd.map(Usd),
            sent: Tokens(entry.tokens_sent),
            total: Tokens(entry.tokens_total),
            risk: Risk {
                references: entry.at_risk,
                // Figures do not record whether summaries were predicted.
                may_be_fewer: false,
                blind_edits: entry.blind_edits,
                refetch: Tokens(entry.reread_tokens),
                // Figures do not record how many facts the session states.
                lost: None,
            },
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
