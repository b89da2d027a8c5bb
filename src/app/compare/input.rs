//! Input of the tab Compare.

use super::comparison::OpenComparison;
use super::state::{CompareView, Side};
use crate::analysis::comparison::Comparison;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::shell::open_session::OpenSession;
use crate::app::theme::palette;
use crate::tokens::TokenLedger;
use egui::{Color32, Ui};

/// Input of the tab Compare.
pub(super) struct CompareInput<'a> {
    /// The open session.
    pub(super) document: &'a Document,
    /// The latest runs.
    pub(super) runs: &'a Runs,
    /// The second session; `None` without a comparison.
    pub(super) comparison: Option<&'a OpenComparison>,
    /// View settings.
    pub(super) view: CompareView,
}

/// Both sessions and their comparison.
#[derive(Clone, Copy)]
pub(super) struct Both<'a> {
    /// A and B.
    pub(super) documents: [&'a Document; 2],
    /// Token counts of A and B by the same tokenizer.
    pub(super) ledgers: [&'a TokenLedger; 2],
    /// The result.
    pub(super) found: &'a Comparison,
}

impl<'a> CompareInput<'a> {
    /// Reads the input from an open session.
    pub(super) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            comparison: session.comparison,
            view: session.view.compare,
        }
    }

    /// Returns both sessions, once they are compared.
    pub(super) fn both(&self) -> Option<Both<'a>> {
        let comparison = self.comparison?;
        Some(Both {
            documents: [self.document, comparison.document()?],
            ledgers: [&self.runs.case.ledger, comparison.ledger()?],
            found: comparison.found()?,
        })
    }
}

/// Returns the color of a session.
pub(super) fn color(ui: &Ui, side: Side) -> Color32 {
    match side {
        Side::A => palette(ui).recorded,
        Side::B => palette(ui).compared(),
    }
}
