//! The sessions that were open before in this run of the program. Undo survives opening another file and returning.

use crate::app::state::model::config::Config;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::history::History;
use crate::app::state::model::selection::Selection;
use crate::app::state::workspace::kept_comparison::KeptComparison;
use crate::session::FileBytes;

/// Maximum number of remembered sessions.
const MAX: usize = 8;

/// A session that was open before, with its state when another one was opened.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    origin: Origin,
    conversation: usize,
    /// The content, shared with the document while that exists.
    bytes: FileBytes,
    pub(crate) state: VisitState,
}

/// The state of a session when another one was opened.
#[derive(Clone, Debug)]
pub(crate) struct VisitState {
    pub(crate) config: Config,
    pub(crate) history: History<Config>,
    pub(crate) selection: Selection,
    pub(crate) zoom: Option<[f64; 2]>,
    pub(crate) comparison: Option<KeptComparison>,
}

impl Visit {
    /// Creates the visit of an open document.
    pub(crate) fn new(document: &Document, mut state: VisitState) -> Self {
        state.history.settle(&state.config);
        // New runs have new events and new written messages.
        state.selection.event = None;
        state.selection.written = None;
        Self {
            origin: document.origin.clone(),
            conversation: document.conversation,
            bytes: document.session().source.bytes.clone(),
            state,
        }
    }

    fn is_of(&self, origin: &Origin, conversation: usize) -> bool {
        self.origin == *origin && self.conversation == conversation
    }
}

/// The last visits, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Visits(Vec<Visit>);

impl Visits {
    /// Remembers a visit instead of an earlier one of the same session.
    pub(crate) fn push(&mut self, visit: Visit) {
        self.0.retain(|v| !v.is_of(&visit.origin, visit.conversation));
        self.0.push(visit);
        if self.0.len() > MAX {
            self.0.remove(0);
        }
    }

    /// Returns the content of a session when it was visited.
    pub(crate) fn bytes(&self, origin: &Origin, conversation: usize) -> Option<FileBytes> {
        let mut visits = self.0.iter();
        let visit = visits.find(|visit| visit.is_of(origin, conversation))?;
        Some(visit.bytes.clone())
    }

    /// Removes and returns the visit of a session.
    pub(crate) fn take(&mut self, document: &Document) -> Option<Visit> {
        let is_it = |visit: &Visit| visit.is_of(&document.origin, document.conversation);
        let at = self.0.iter().position(is_it)?;
        Some(self.0.remove(at))
    }
}
