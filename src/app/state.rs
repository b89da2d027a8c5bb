//! The state of the window besides the document: Config (with undo), View and Selection.

use crate::app::cost::billing::BillingChoice;
use crate::app::cost::state::CostView;
use crate::app::events::list::EventFilter;
use crate::app::export::draft::Draft;
use crate::app::insights::list::{InsightFilter, InsightKey};
use crate::app::lanes::rows::Place;
use crate::app::loss::state::LossView;
use crate::app::messages::order::{Filter, Sort};
use crate::app::policy_panel::knobs::KnobSettings;
use crate::app::runs::replays::EventId;
use crate::app::timeline::plot::Axis;
use crate::app::tune::state::TuneView;
use crate::engine::{ManualEdits, ProviderError};
use crate::tokens;
use crate::units::Tokens;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of lanes.
pub const MAX_LANES: usize = 6;

/// The compared lanes and the assumptions. Undo restores an earlier state.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Up to [`MAX_LANES`] lanes, from left to right.
    pub lanes: Vec<LaneConfig>,
    /// Changed settings of all lanes without their own.
    pub knobs: KnobSettings,
    /// Context window.
    pub window: Option<Tokens>,
    /// Name of the tokenizer.
    pub counter: &'static str,
    /// Indices of calls with a restart of the program before them, ascending.
    pub restarts: Vec<usize>,
    /// Assumed provider errors, by call.
    pub errors: Vec<ProviderError>,
    /// Pinned, cleared and dropped messages, with one mark each.
    pub by_hand: Arc<ManualEdits>,
    /// Billing settings.
    pub billing: BillingChoice,
}

/// One lane.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneConfig {
    /// Name of its policy: the setting `strategy`.
    pub policy: String,
    /// Settings of this lane only; `None` if it uses the shared ones.
    pub own: Option<KnobSettings>,
}

/// The generic strategies of a new window.
pub const STRATEGIES: [&str; 3] = ["truncate", "prune", "summarize"];

impl Config {
    /// Creates lanes for `policies`, or for the generic strategies if empty.
    pub fn new(policies: &[String]) -> Self {
        let named: Vec<_> = policies.iter().map(|p| lane(p)).take(MAX_LANES).collect();
        let lanes = if named.is_empty() {
            STRATEGIES.map(lane).to_vec()
        } else {
            named
        };
        Self {
            lanes,
            knobs: KnobSettings::new(),
            window: None,
            counter: tokens::default_counter().name,
            restarts: Vec::new(),
            errors: Vec::new(),
            by_hand: Arc::default(),
            billing: BillingChoice::default(),
        }
    }

    /// Adds or removes a restart mark before a call.
    pub fn toggle_restart(&mut self, step: usize) {
        match self.restarts.binary_search(&step) {
            Ok(at) => drop(self.restarts.remove(at)),
            Err(at) => self.restarts.insert(at, step),
        }
    }

    /// Sets the provider error at a call; `None` removes it.
    pub fn set_error(&mut self, step: usize, text: Option<Arc<str>>) {
        self.errors.retain(|error| error.step != step);
        self.errors
            .extend(text.map(|text| ProviderError { step, text }));
        self.errors.sort_by_key(|error| error.step);
    }

    /// Returns the error at a call.
    pub fn error_at(&self, step: usize) -> Option<&Arc<str>> {
        let at = self.errors.iter().find(|error| error.step == step);
        at.map(|error| &error.text)
    }

    /// Returns the settings of a lane: its own, else the shared ones.
    pub fn lane_settings(&self, lane: usize) -> &KnobSettings {
        let own = self.lanes.get(lane).and_then(|l| l.own.as_ref());
        own.unwrap_or(&self.knobs)
    }

    /// Returns unique names of the lanes: `truncate`, `truncate 2`.
    pub fn lane_names(&self) -> Vec<String> {
        numbered(self.lanes.iter().map(|lane| lane.policy.as_str()))
    }

    /// Returns whether anything differs from the initial state.
    pub fn is_changed(&self) -> bool {
        !self.knobs.is_empty()
            || self.window.is_some()
            || self.lanes.iter().any(|l| l.own.is_some())
    }
}

/// Creates a lane of this policy with shared settings.
pub fn lane(policy: &str) -> LaneConfig {
    LaneConfig {
        policy: policy.to_owned(),
        own: None,
    }
}

/// Appends a number to repeated names.
pub fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for name in names {
        seen.push(name);
        all.push(match seen.iter().filter(|s| **s == name).count() {
            1 => name.to_owned(),
            nth => format!("{name} {nth}"),
        });
    }
    all
}

/// The selected items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Index of the step.
    pub step: usize,
    /// Index of a message.
    pub message: Option<usize>,
    /// Index of the message at the other end of a selected range.
    pub anchor: Option<usize>,
    /// Position of a written message, if one is selected instead of a message.
    pub written: Option<Place>,
    /// Index of the focused lane; `None` for the recorded one.
    pub lane: Option<usize>,
    /// An event; `None` if only a call is selected.
    pub event: Option<EventId>,
}

/// The state of the panels.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Unit of the timeline's axis.
    pub axis: Axis,
    /// Series of the timeline's area.
    pub area: Area,
    /// Open tab of the drawer.
    pub tab: Tab,
    /// Order of the message table.
    pub sort: Sort,
    /// Filter of the message table.
    pub filter: Filter,
    /// Filter of the event list.
    pub events: EventFilter,
    /// Filter of the insight list.
    pub insights: InsightFilter,
    /// The open insight; the first one if `None`.
    pub insight: Option<InsightKey>,
    /// State of the tab Cost.
    pub cost: CostView,
    /// State of the tab Loss.
    pub loss: LossView,
    /// State of the tab Tune.
    pub tune: TuneView,
    /// Text of the field that jumps to a message.
    pub jump: String,
    /// Text of the path field.
    pub path: String,
    /// The list of shortcuts is open.
    pub shows_keys: bool,
    /// The path dialog is open.
    pub asks_path: bool,
    /// State of the message detail.
    pub detail: Detail,
    /// Settings of the last export of this session.
    pub export: Option<Draft>,
    /// Messages whose folds are open in the lanes.
    pub unfolded: BTreeSet<u32>,
}

/// State of the message detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Selected aspect.
    pub aspect: Aspect,
    /// Page of a long text, from 0.
    pub page: usize,
}

/// An aspect of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aspect {
    /// Its parts.
    #[default]
    Parts,
    /// Its file records.
    Record,
    /// Its changes in the focused lane.
    Changes,
}

/// The series of the timeline's area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The recorded lane.
    Recorded,
    /// The focused lane.
    FocusedLane,
}

/// A tab of the drawer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// The message table and the selected message.
    Messages,
    /// Insights of the session and the lanes, worst first.
    Insights,
    /// Events of the policies and their causes.
    Events,
    /// References at risk.
    Loss,
    /// Costs of the session and the lanes.
    Cost,
    /// Sweep over settings.
    Tune,
    /// The focused policy and its sources.
    About,
    /// Import: parsing of the file.
    Import,
}

impl Default for View {
    fn default() -> Self {
        Self {
            axis: Axis::Calls,
            area: Area::Recorded,
            tab: Tab::Messages,
            sort: Sort::BY_NUMBER,
            filter: Filter::default(),
            events: EventFilter::default(),
            insights: InsightFilter::default(),
            insight: None,
            cost: CostView::default(),
            loss: LossView::default(),
            tune: TuneView::default(),
            jump: String::new(),
            path: String::new(),
            shows_keys: false,
            asks_path: false,
            detail: Detail::default(),
            export: None,
            unfolded: BTreeSet::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_one_policy_are_told_apart_by_number() {
        let names = ["truncate", "prune", "truncate", "truncate"];
        assert_eq!(
            numbered(names.into_iter()),
            ["truncate", "prune", "truncate 2", "truncate 3"]
        );
    }

    #[test]
    fn a_lane_with_knobs_of_its_own_does_not_follow_the_shared_ones() {
        let mut config = Config::new(&[]);
        config
            .knobs
            .insert(crate::app::policy_panel::knobs::output_reserve(), 1.0);
        config.lanes[1].own = Some(KnobSettings::new());
        assert_eq!(config.lane_settings(0).len(), 1);
        assert!(config.lane_settings(1).is_empty());
    }
}
