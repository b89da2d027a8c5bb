//! The state of a tab: everything that belongs to one session. The shown tab has it in the window itself.

use crate::app::App;
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

/// Defines [`SessionTab`] and its exchange with the window, so that neither misses a field.
macro_rules! session_tab {
    ($($field:ident: $type:ty,)*) => {
        /// A hidden tab.
        pub(in crate::app) struct SessionTab {
            $(pub(super) $field: $type,)*
            /// Visible range of the timeline.
            pub(super) zoom: Option<[f64; 2]>,
        }

        impl App {
            /// Exchanges the shown session with a hidden one, except for the zoom.
            pub(super) fn exchange(&mut self, tab: &mut SessionTab) {
                $(std::mem::swap(&mut self.$field, &mut tab.$field);)*
            }
        }
    };
}

session_tab! {
    document: Option<Arc<Document>>,
    loading: Option<Loading>,
    live: Option<FollowedFile>,
    problem: Option<String>,
    config: Config,
    history: History<Config>,
    selection: Selection,
    view: View,
    derived: Derived,
    export: Option<Export>,
    measurement: Option<Measurement>,
    sessions: Option<Sessions>,
    found_message: Option<OpenedMessage>,
    report: Option<ReportExport>,
    conversion: Option<Conversion>,
    restoring: Option<Restoring>,
    note: Option<NoteDraft>,
    sweep: Option<Sweep>,
    comparison: Option<OpenComparison>,
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
        Self {
            all: vec![None],
            shown: 0,
            closed: Vec::new(),
        }
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

    /// Returns the hidden tab that shows or loads a session.
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

impl TabLabel {
    fn new(document: Option<&Document>, loading: Option<&Loading>) -> Self {
        let name = match (loading, document) {
            (Some(loading), _) => &loading.name,
            (None, Some(document)) => &document.session().source.name,
            (None, None) => "New tab",
        };
        let help = document
            .map(|document| format!("{}\n{}", document.session().title, document.source_text()));
        Self {
            name: name.to_owned(),
            help: help.unwrap_or_default(),
            is_loading: loading.is_some(),
        }
    }
}

impl App {
    /// Returns the names of all tabs; none if there is only one.
    pub(in crate::app) fn tab_labels(&self) -> Vec<TabLabel> {
        if self.tabs.count() < 2 {
            return Vec::new();
        }
        let label = |tab: &Option<Box<SessionTab>>| match tab {
            Some(tab) => TabLabel::new(tab.document.as_deref(), tab.loading.as_ref()),
            None => TabLabel::new(self.document.as_deref(), self.loading.as_ref()),
        };
        self.tabs.all.iter().map(label).collect()
    }
}
