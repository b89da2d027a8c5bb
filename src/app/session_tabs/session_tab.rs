//! The tabs, and the state of a tab.

use crate::app::App;
use crate::app::background::latest_result::WorkMode;
use crate::app::compare::comparison::OpenComparison;
use crate::app::config::Config;
use crate::app::convert::conversion::Conversion;
use crate::app::derived::Derived;
use crate::app::export::job::Export;
use crate::app::measure::job::Measurement;
use crate::app::notes::note::NoteDraft;
use crate::app::open::document::{Document, Origin};
use crate::app::open::followed_file::FollowedFile;
use crate::app::open::loading::Loading;
use crate::app::report_export::job::ReportExport;
use crate::app::restore::restoring::Restoring;
use crate::app::selection::Selection;
use crate::app::sessions::list::{OpenedMessage, Sessions};
use crate::app::shell::history::History;
use crate::app::tune::sweep::Sweep;
use crate::app::view::View;
use std::sync::Arc;

/// A tab: everything that belongs to one session.
pub(in crate::app) struct SessionTab {
    /// The open session.
    pub(in crate::app) document: Option<Arc<Document>>,
    /// The session that is being loaded. It replaces the open one.
    pub(in crate::app) loading: Option<Loading>,
    /// The open file, which may still be growing.
    pub(in crate::app) live: Option<FollowedFile>,
    /// The error of the last attempt to open a file.
    pub(in crate::app) problem: Option<String>,
    pub(in crate::app) config: Config,
    /// Earlier configurations, for undo and redo.
    pub(in crate::app) history: History<Config>,
    pub(in crate::app) selection: Selection,
    pub(in crate::app) view: View,
    /// Visible range of the timeline while the tab is hidden.
    pub(super) zoom: Option<[f64; 2]>,
    /// Results computed from the session and the configuration.
    pub(in crate::app) derived: Derived,
    /// The export dialog, while it is open.
    pub(in crate::app) export: Option<Export>,
    /// The measurement with a model, open or with its result.
    pub(in crate::app) measurement: Option<Measurement>,
    /// The session list: in front, or behind a session that was opened from it.
    pub(in crate::app) sessions: Option<Sessions>,
    /// The search result to show once its session is loaded.
    pub(in crate::app) found_message: Option<OpenedMessage>,
    /// The report dialog, while it is open.
    pub(in crate::app) report: Option<ReportExport>,
    /// The conversion dialog, while it is open.
    pub(in crate::app) conversion: Option<Conversion>,
    /// The restore dialog, while it is open.
    pub(in crate::app) restoring: Option<Restoring>,
    /// The note that is being written.
    pub(in crate::app) note: Option<NoteDraft>,
    /// The sweep of the *Tune* tab, running or done.
    pub(in crate::app) sweep: Option<Sweep>,
    /// The second session that is compared with the open one.
    pub(in crate::app) comparison: Option<OpenComparison>,
}

impl SessionTab {
    /// Creates a tab without a session.
    pub(in crate::app) fn new(config: Config, work: WorkMode) -> Self {
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
    pub(in crate::app) fn close_dialogs(&mut self) {
        self.export = None;
        self.measurement = None;
        self.report = None;
        self.conversion = None;
        self.restoring = None;
        self.note = None;
    }

    /// Hides the session list behind the session, if there is a list.
    pub(in crate::app) fn hide_list(&mut self) {
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
pub(in crate::app) struct Tabs {
    /// All tabs in order; `None` for the shown one.
    pub(super) all: Vec<Option<Box<SessionTab>>>,
    /// Index of the shown tab.
    pub(super) shown: usize,
    /// Source and conversation of the sessions of closed tabs, the last one at the end.
    pub(super) closed: Vec<(Origin, usize)>,
}

impl Default for Tabs {
    fn default() -> Self {
        Self { all: vec![None], shown: 0, closed: Vec::new() }
    }
}

impl Tabs {
    /// Returns the number of tabs, at least 1.
    pub(in crate::app) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the index of the shown tab.
    pub(in crate::app) fn index(&self) -> usize {
        self.shown
    }

    /// Returns the index of the hidden tab that shows or loads a session.
    pub(in crate::app) fn with(&self, origin: &Origin, conversation: usize) -> Option<usize> {
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
    pub(super) fn remove(&mut self, idx: usize) {
        self.all.remove(idx);
        if idx < self.shown {
            self.shown -= 1;
        }
    }
}

/// The name of a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::app) struct TabLabel {
    /// File name of its session.
    pub(super) name: String,
    /// Title and path of its session; empty without one.
    pub(super) help: String,
    /// A session is being loaded.
    pub(super) is_loading: bool,
}

impl App {
    /// Returns the names of all tabs; none if there is only one.
    pub(in crate::app) fn tab_labels(&self) -> Vec<TabLabel> {
        if self.tabs.count() < 2 {
            return Vec::new();
        }
        let label = |tab: &Option<Box<SessionTab>>| tab.as_deref().unwrap_or(&self.session).label();
        self.tabs.all.iter().map(label).collect()
    }
}
