//! The tabs, and the state of a tab.

use crate::app::shell::App;
use crate::app::state::compare::comparison::OpenComparison;
use crate::app::state::convert::conversion::Conversion;
use crate::app::state::export::draft::ExportDraft;
use crate::app::state::export::job::Export;
use crate::app::state::measure::job::Measurement;
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::config::Config;
use crate::app::state::model::derived::Derived;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::history::History;
use crate::app::state::model::selection::Selection;
use crate::app::state::model::view::View;
use crate::app::state::notes::note::NoteDraft;
use crate::app::state::open::followed_file::FollowedFile;
use crate::app::state::open::loading::Loading;
use crate::app::state::restore::restoring::Restoring;
use crate::app::state::session_tabs::label::TabLabel;
use crate::app::state::sessions::list::{OpenedMessage, Sessions};
use crate::app::state::tune::sweep::Sweep;
use crate::app::ui::report_export::job::ReportExport;
use std::sync::Arc;

/// A tab: everything that belongs to one session.
pub(crate) struct SessionTab {
    /// The open session.
    pub(crate) document: Option<Arc<Document>>,
    /// The session that is being loaded. It replaces the open one.
    pub(crate) loading: Option<Loading>,
    /// The open file, which may still be growing.
    pub(crate) live: Option<FollowedFile>,
    /// The error of the last attempt to open a file.
    pub(crate) problem: Option<String>,
    pub(crate) config: Config,
    /// Earlier configurations, for undo and redo.
    pub(crate) history: History<Config>,
    pub(crate) selection: Selection,
    pub(crate) view: View,
    /// Visible range of the timeline while the tab is hidden.
    pub(crate) zoom: Option<[f64; 2]>,
    /// Results computed from the session and the configuration.
    pub(crate) derived: Derived,
    /// The export dialog, while it is open.
    pub(crate) export: Option<Export>,
    /// Settings of the last export of this session.
    pub(crate) last_export: Option<ExportDraft>,
    /// The measurement with a model, open or with its result.
    pub(crate) measurement: Option<Measurement>,
    /// The session list: in front, or behind a session that was opened from it.
    pub(crate) sessions: Option<Sessions>,
    /// The search result to show once its session is loaded.
    pub(crate) found_message: Option<OpenedMessage>,
    /// The report dialog, while it is open.
    pub(crate) report: Option<ReportExport>,
    /// The conversion dialog, while it is open.
    pub(crate) conversion: Option<Conversion>,
    /// The restore dialog, while it is open.
    pub(crate) restoring: Option<Restoring>,
    /// The note that is being written.
    pub(crate) note: Option<NoteDraft>,
    /// The sweep of the *Tune* tab, running or done.
    pub(crate) sweep: Option<Sweep>,
    /// The second session that is compared with the open one.
    pub(crate) comparison: Option<OpenComparison>,
}

impl SessionTab {
    /// Creates a tab without a session.
    pub(crate) fn new(config: Config, work: WorkMode) -> Self {
        Self {
            document: None,
            loading: None,
            live: None,
            problem: None,
            history: History::new(config.clone()),
            config,
            selection: Selection { lane: Some(0), ..Selection::default() },
            view: View::default(),
            zoom: None,
            derived: Derived::new(work),
            export: None,
            last_export: None,
            measurement: None,
            sessions: None,
            found_message: None,
            report: None,
            conversion: None,
            restoring: None,
            note: None,
            sweep: None,
            comparison: None,
        }
    }

    /// Closes the dialogs.
    pub(crate) fn close_dialogs(&mut self) {
        self.export = None;
        self.measurement = None;
        self.report = None;
        self.conversion = None;
        self.restoring = None;
        self.note = None;
    }

    /// Hides the session list behind the session, if there is a list.
    pub(crate) fn hide_list(&mut self) {
        if let Some(sessions) = &mut self.sessions {
            sessions.is_shown = false;
        }
    }

    fn label(&self) -> TabLabel {
        let document = self.document.as_deref();
        let name = match (&self.loading, document) {
            (Some(loading), _) => &loading.name,
            (None, Some(document)) => &document.session().source.name,
            (None, None) => "New tab",
        };
        let help = document
            .map(|document| format!("{}\n{}", document.session().title, document.source_text()));
        TabLabel {
            name: name.to_owned(),
            help: help.unwrap_or_default(),
            is_loading: self.loading.is_some(),
        }
    }
}

/// The tabs.
pub(crate) struct Tabs {
    /// All tabs in order; `None` for the shown one.
    pub(crate) all: Vec<Option<Box<SessionTab>>>,
    /// Index of the shown tab.
    pub(crate) shown: usize,
    /// Source and conversation of the sessions of closed tabs, the last one at the end.
    pub(crate) closed: Vec<(Origin, usize)>,
}

impl Default for Tabs {
    fn default() -> Self {
        Self { all: vec![None], shown: 0, closed: Vec::new() }
    }
}

impl Tabs {
    /// Returns the number of tabs, at least 1.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the index of the shown tab.
    pub(crate) fn index(&self) -> usize {
        self.shown
    }

    /// Returns the index of the hidden tab that shows or loads a session.
    pub(crate) fn with(&self, origin: &Origin, conversation: usize) -> Option<usize> {
        let is_hidden_with = |tab: &Option<Box<SessionTab>>| {
            tab.as_ref().is_some_and(|tab| {
                let is_open = |open: &Arc<Document>| open.is_from(origin, conversation);
                let is_loading = |loading: &Loading| loading.is_from(origin, conversation);
                tab.document.as_ref().is_some_and(is_open)
                    || tab.loading.as_ref().is_some_and(is_loading)
            })
        };
        self.all.iter().position(is_hidden_with)
    }

    /// Removes a hidden tab.
    pub(crate) fn remove(&mut self, idx: usize) {
        self.all.remove(idx);
        if idx < self.shown {
            self.shown -= 1;
        }
    }
}

impl App {
    /// Returns the names of all tabs; none if there is only one.
    pub(crate) fn tab_labels(&self) -> Vec<TabLabel> {
        if self.tabs.count() < 2 {
            return Vec::new();
        }
        let label = |tab: &Option<Box<SessionTab>>| tab.as_deref().unwrap_or(&self.session).label();
        self.tabs.all.iter().map(label).collect()
    }
}
