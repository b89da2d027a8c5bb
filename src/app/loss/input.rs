//! Input of the tab Loss.

use super::compute::{Losses, Survivals};
use super::state::LossView;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::shell::open_session::OpenSession;

/// Input of the tab Loss.
pub(in crate::app) struct LossInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The selection.
    pub(in crate::app) selection: Selection,
    /// References at risk in every lane; `None` while they are computed.
    pub(in crate::app) losses: Option<&'a Losses>,
    /// Survival at recorded compactions; `None` until it is first shown and computed.
    pub(in crate::app) survivals: Option<&'a Survivals>,
    /// View settings.
    pub(in crate::app) view: LossView,
}

impl<'a> LossInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            selection: session.selection,
            losses: session.derived.losses(),
            survivals: session.derived.survivals(),
            view: session.view.loss,
        }
    }
}
