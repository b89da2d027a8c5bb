//! Expected re-reads of the lanes of a report.

use super::redaction::{NameKind, Redactor, ReportText};
use crate::analysis::rereads::{ExpectedRereads, FileReads, RemovedFile};
use crate::figure::{number, tokens, usd};
use crate::units::{Share, Tokens, Usd};

/// Number of files that are listed for each lane.
pub const MAX_REREAD_FILES: usize = 5;
/// Headings of [`rereads_cells`].
pub const REREADS_HEAD: [&str; 5] = ["re-reads", "95 % interval", "tokens", "price", "first call"];

/// Expected re-reads of a lane.
#[derive(Clone, Debug)]
pub struct RereadsReport {
    /// The figures as text, in the order of [`REREADS_HEAD`].
    pub cells: [String; 5],
    /// The files that are most likely read again.
    pub files: Vec<LikelyFile>,
}

/// A file that the agent may read again.
#[derive(Clone, Debug)]
pub struct LikelyFile {
    /// Its path.
    pub name: ReportText,
    /// Probability of a re-read within [`crate::analysis::rereads::WINDOW_CALLS`] calls.
    pub probability: Share,
    /// Index of the first call without its content.
    pub call: usize,
    /// Removed tokens.
    pub tokens: Tokens,
}

impl RereadsReport {
    pub(super) fn new(
        expected: &ExpectedRereads,
        files: &FileReads,
        redactor: &mut Redactor,
    ) -> Self {
        let likely = if expected.total.is_none() {
            Vec::new()
        } else {
            expected.likeliest(MAX_REREAD_FILES)
        };
        let file = |removed: &RemovedFile| LikelyFile {
            name: redactor.numbered(NameKind::Path, files.name(removed.file)),
            probability: Share(removed.probability),
            call: removed.call,
            tokens: removed.tokens,
        };
        Self { cells: rereads_cells(expected), files: likely.into_iter().map(file).collect() }
    }
}

/// Returns the figures of a lane as text, in the order of [`REREADS_HEAD`].
pub fn rereads_cells(expected: &ExpectedRereads) -> [String; 5] {
    let total = &expected.total;
    if total.is_none() {
        let dash = || "–".to_owned();
        return ["none".to_owned(), dash(), dash(), dash(), dash()];
    }
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let first = expected.removals.first();
    [
        total.number(),
        total.files.range_text(),
        tokens(Tokens(total.tokens.value as u64)),
        or_dash(total.usd.map(|price| usd(Usd(price.value)))),
        or_dash(first.map(|removed| number(removed.call))),
    ]
}
