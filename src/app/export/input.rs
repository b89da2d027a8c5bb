//! Input of the export dialog.

use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::shell::open_session::OpenSession;

/// Input of the export dialog.
pub(in crate::app) struct ExportInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
}

impl<'a> ExportInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self { document: session.document, runs: session.runs }
    }
}
