//! Input of the tab Events.

use super::list::{EventFilter, EventList};
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::shell::open_session::{FrameRequests, OpenSession};

/// Input of the tab Events.
pub(in crate::app) struct EventsInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The selection.
    pub(in crate::app) selection: Selection,
    /// The filtered events; `None` while they are computed.
    pub(in crate::app) events: Option<&'a EventList>,
    /// Requests for this frame only.
    pub(in crate::app) once: FrameRequests,
    /// Filter of the list.
    pub(in crate::app) filter: EventFilter,
}

impl<'a> EventsInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            selection: session.selection,
            events: session.derived.events(),
            once: session.once,
            filter: session.view.events,
        }
    }
}
