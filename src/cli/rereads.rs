//! Expected re-reads of lanes, for `replay` and `diagnose`.

use crate::analysis::cost::{Billing, Bills};
use crate::analysis::rereads::{
    Expected, ExpectedRereads, FileReads, RereadMeasure, RereadModel, RereadPrices,
};
use crate::engine::Case;
use crate::presets::prices::Prices;
use crate::report::Played;
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

/// Returns the expected re-reads of each lane, at list prices.
pub(super) fn expected_rereads(
    case: &Case,
    model: &RereadModel,
    played: &[Played],
) -> Vec<ExpectedRereads> {
    let bills = Bills::new(case, Billing::at(Prices::in_use()));
    let measure = RereadMeasure {
        model,
        files: &FileReads::new(case),
        prices: &RereadPrices::new(&bills, case.session.calls.len()),
    };
    let lanes = played.par_iter();
    lanes
        .map(|lane| measure.rereads(case, &lane.outcome))
        .collect()
}
