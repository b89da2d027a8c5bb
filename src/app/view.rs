//! The view settings of all panels.

use crate::app::compare::state::CompareView;
use crate::app::cost::state::CostView;
use crate::app::evaluate::state::EvaluateView;
use crate::app::events::list::EventFilter;
use crate::app::export::draft::ExportDraft;
use crate::app::insights::list::{InsightFilter, InsightKey, InsightsView};
use crate::app::messages::state::MessagesView;
use crate::app::timeline::state::TimelineView;
use crate::app::tune::state::TuneView;
use std::collections::BTreeSet;

/// The view settings of all panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Open tab of the drawer.
    pub tab: Tab,
    /// The timeline.
    pub timeline: TimelineView,
    /// The tab Messages.
    pub messages: MessagesView,
    /// Filter of the tab Events.
    pub events: EventFilter,
    /// The tab Insights.
    pub insights: InsightsView,
    /// The tab Cost.
    pub cost: CostView,
    /// The tab Evaluate.
    pub evaluate: EvaluateView,
    /// The tab Tune.
    pub tune: TuneView,
    /// The tab Compare.
    pub compare: CompareView,
    /// Messages whose folds are open in the lanes.
    pub unfolded: BTreeSet<u32>,
    /// Settings of the last export of this session.
    pub export: Option<ExportDraft>,
    /// Text of the path field.
    pub path: String,
    /// The path dialog is open.
    pub asks_path: bool,
    /// The path dialog asks for the session to compare.
    pub asks_compared: bool,
    /// The list of shortcuts is open.
    pub shows_shortcuts: bool,
}

/// Defines [`Tab`] from a table with a row per tab of the drawer: its label, and the key that workspaces store.
///
/// The tabs fit side by side in a window of 900 points, which a test checks.
macro_rules! drawer_tabs {
    ($($(#[$meta:meta])* $tab:ident: $label:literal, $key:literal;)*) => {
        /// A tab of the drawer.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Tab {
            $($(#[$meta])* $tab,)*
        }

        impl Tab {
            /// All tabs, in the order of the tab row.
            pub const ALL: &[Self] = &[$(Self::$tab),*];

            /// Returns the label.
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$tab => $label,)*
                }
            }

            /// Returns the key, which stays the same when the label changes.
            pub fn key(self) -> &'static str {
                match self {
                    $(Self::$tab => $key,)*
                }
            }
        }
    };
}

drawer_tabs! {
    /// The message table and the selected message.
    #[default]
    Messages: "Messages", "messages";
    /// Insights of the session and the lanes, worst first.
    Insights: "Insights", "insights";
    /// Events of the policies and their causes.
    Events: "Events", "events";
    /// Expected re-reads of each lane, facts that survive in it, and references at risk.
    Evaluate: "Evaluate", "evaluate";
    /// Costs of the session and the lanes.
    Cost: "Cost", "cost";
    /// Sweep over settings.
    Tune: "Tune", "tune";
    /// A second session side by side.
    Compare: "Compare", "compare";
    /// The focused policy and its sources.
    About: "About", "about";
    /// Import: parsing of the file.
    Import: "Import", "import";
}

/// A command that replaces the view settings of a panel.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewCommand {
    /// Set the view of the timeline.
    Timeline(TimelineView),
    /// Choose which events are listed.
    Events(EventFilter),
    /// Choose which insights are listed.
    InsightFilter(InsightFilter),
    /// Open an insight.
    OpenInsight(InsightKey),
    /// Set the view of the tab Cost.
    Cost(CostView),
    /// Set the view of the tab Evaluate.
    Evaluate(EvaluateView),
    /// Set the view of the tab Tune.
    Tune(Box<TuneView>),
    /// Set the view of the comparison.
    Compare(CompareView),
}

impl View {
    /// Executes a command.
    pub fn change(&mut self, command: ViewCommand) {
        match command {
            ViewCommand::Timeline(view) => self.timeline = view,
            ViewCommand::Events(filter) => self.events = filter,
            ViewCommand::InsightFilter(filter) => self.insights.filter = filter,
            ViewCommand::OpenInsight(key) => self.insights.open = Some(key),
            ViewCommand::Cost(view) => self.cost = view,
            ViewCommand::Evaluate(view) => self.evaluate = view,
            ViewCommand::Tune(view) => self.tune = *view,
            ViewCommand::Compare(view) => self.compare = view,
        }
    }
}
