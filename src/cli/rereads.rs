//! Expected re-reads of lanes, for `replay`, `diagnose` and `evaluate`.

use crate::analysis::cost::{Billing, Bills};
use crate::analysis::rereads::{
    Expected, ExpectedRereads, FileReads, RereadMeasure, RereadModel, RereadPrices,
};
use crate::cli::output::{clean, tokens};
use crate::engine::Case;
use crate::figure::usd;
use crate::report::Played;
use crate::units::{Tokens, Usd};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// Files that the agent is expected to read again because their content was removed, cut or cleared.
#[derive(Serialize, JsonSchema)]
pub(super) struct RereadsEntry {
    /// Number of re-reads.
    files: Expected,
    /// Tokens that they fetch.
    tokens: Expected,
    /// Their price in USD: fetched once, then sent by every later call up to the next compaction. Null if a price is
    /// unknown.
    usd: Option<Expected>,
    /// Number of removals of a file's content.
    removals: usize,
    /// First call without content that an earlier call had; null without a removal.
    first_call: Option<usize>,
}

impl From<&ExpectedRereads> for RereadsEntry {
    fn from(expected: &ExpectedRereads) -> Self {
        let total = &expected.total;
        Self {
            files: total.files,
            tokens: total.tokens,
            usd: total.usd,
            removals: total.removals,
            first_call: expected.removals.first().map(|removed| removed.call + 1),
        }
    }
}

/// Returns the expected re-reads of each lane.
pub(super) fn expected_rereads(
    case: &Case,
    billing: Billing<'_>,
    model: &RereadModel,
    played: &[Played],
) -> Vec<ExpectedRereads> {
    let bills = Bills::new(case, billing);
    let measure = RereadMeasure {
        model,
        files: &FileReads::new(case),
        prices: &RereadPrices::new(&bills, case.session.calls.len()),
    };
    let lanes = played.par_iter();
    lanes.map(|lane| measure.rereads(case, &lane.outcome)).collect()
}

/// Returns `expected re-reads: prune 1.3 (0.8 to 1.9; 8.2k tokens, $0.03)`, without lanes that cause none.
pub(super) fn rereads_line<'a>(
    lanes: impl Iterator<Item = (&'a str, &'a ExpectedRereads)>,
) -> String {
    let lanes = lanes.filter(|(_, expected)| !expected.total.is_none());
    let figures = lanes.map(|(lane, expected)| {
        let total = &expected.total;
        format!(
            "{} {} ({}; {} tokens{})",
            clean(lane),
            total.number(),
            total.files.range_text(),
            tokens(Tokens(total.tokens.value as u64)),
            total.usd.map_or_else(String::new, |price| format!(", {}", usd(Usd(price.value)))),
        )
    });
    let figures: Vec<String> = figures.collect();
    let figures = if figures.is_empty() { "none".to_owned() } else { figures.join(", ") };
    format!("expected re-reads: {figures}")
}
