//! Input of the settings panel.

use super::policies::Policies;
use crate::app::config::Config;
use crate::app::evaluate::session::SessionRereads;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::shell::open_session::OpenSession;

/// Input of the settings panel.
pub(in crate::app) struct SettingsInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The current configuration. The runs can still be of an earlier one.
    pub(in crate::app) config: &'a Config,
    /// The selection.
    pub(in crate::app) selection: Selection,
    /// All available policies.
    pub(in crate::app) policies: &'a Policies,
    /// Expected re-reads by the amount that a compaction keeps; `None` while they are computed.
    pub(in crate::app) rereads: Option<&'a SessionRereads>,
}

impl<'a> SettingsInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            config: session.config,
            selection: session.selection,
            policies: session.policies,
            rereads: session.derived.rereads(),
        }
    }
}
