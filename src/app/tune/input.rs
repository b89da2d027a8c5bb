//! Input of the tab Tune.

use super::state::TuneView;
use super::sweep::Sweep;
use crate::app::config::Config;
use crate::app::runs::replays::Runs;
use crate::app::shell::open_session::OpenSession;

/// Input of the tab Tune.
pub(in crate::app) struct TuneInput<'a> {
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The current configuration. The runs can still be of an earlier one.
    pub(in crate::app) config: &'a Config,
    /// Results of the settings sweep, if any.
    pub(in crate::app) sweep: Option<&'a Sweep>,
    /// View settings.
    pub(in crate::app) view: &'a TuneView,
}

impl<'a> TuneInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            runs: session.runs,
            config: session.config,
            sweep: session.sweep,
            view: &session.view.tune,
        }
    }
}
