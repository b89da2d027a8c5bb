//! Both sessions of the comparison.

use crate::analysis::comparison::Comparison;
use crate::app::state::compare::state::Side;
use crate::app::state::model::document::Document;
use crate::app::state::open_session::OpenSession;
use crate::app::ui::theme::palette;
use crate::tokens::TokenLedger;
use egui::{Color32, Ui};

/// Both sessions and their comparison.
#[derive(Clone, Copy)]
pub(crate) struct Both<'a> {
    /// A and B.
    pub(crate) documents: [&'a Document; 2],
    /// Token counts of A and B by the same tokenizer.
    pub(crate) ledgers: [&'a TokenLedger; 2],
    /// The result.
    pub(crate) found: &'a Comparison,
}

impl<'a> Both<'a> {
    /// Returns both sessions, once they are compared.
    pub(crate) fn new(session: &OpenSession<'a>) -> Option<Self> {
        let comparison = session.comparison?;
        Some(Self {
            documents: [session.document, comparison.document()?],
            ledgers: [&session.runs.case.ledger, comparison.ledger()?],
            found: comparison.found()?,
        })
    }
}

/// Returns the color of a session.
pub(crate) fn color(ui: &Ui, side: Side) -> Color32 {
    match side {
        Side::A => palette(ui).recorded,
        Side::B => palette(ui).compared(),
    }
}
