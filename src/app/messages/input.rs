//! Input of the tab Messages.

use super::cumulative::CumulativeTokens;
use super::state::MessagesView;
use super::text::MessageText;
use crate::analysis::query::Hits;
use crate::app::changes::compute::Changes;
use crate::app::config::Config;
use crate::app::lanes::rows::LaneRows;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::shell::open_session::{FrameRequests, OpenSession};

/// Input of the tab Messages.
pub(in crate::app) struct MessagesInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The rows of the lanes.
    pub(in crate::app) rows: &'a LaneRows,
    /// The current configuration. The runs can still be of an earlier one.
    pub(in crate::app) config: &'a Config,
    /// The selection.
    pub(in crate::app) selection: Selection,
    /// The order of the message table.
    pub(in crate::app) order: &'a [u32],
    /// Matches of the query in the table.
    pub(in crate::app) hits: Option<&'a Hits>,
    /// Number of calls that sent each message; `None` while it is computed.
    pub(in crate::app) cumulative: Option<&'a CumulativeTokens>,
    /// The selected message in full, once read.
    pub(in crate::app) text: Option<&'a MessageText>,
    /// The focused lane's changes to the selection.
    pub(in crate::app) changes: Option<&'a Changes>,
    /// Requests for this frame only.
    pub(in crate::app) once: FrameRequests,
    /// View settings.
    pub(in crate::app) view: &'a MessagesView,
}

impl<'a> MessagesInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            rows: session.rows,
            config: session.config,
            selection: session.selection,
            order: session.derived.order(),
            hits: session.derived.hits(),
            cumulative: session.derived.cumulative(),
            text: session.derived.selected_text(session.document, &session.selection, session.view),
            changes: session.derived.selected_changes(&session.selection, session.view),
            once: session.once,
            view: &session.view.messages,
        }
    }
}
