//! What the window is a function of, beside the document: Config (can be undone), View and Selection.

use crate::app::billing::BillingChoice;
use crate::app::cost_view::CostView;
use crate::app::event_table::EventFilter;
use crate::app::insight_list::{InsightFilter, InsightKey};
use crate::app::knobs::KnobSettings;
use crate::app::lane_rows::Place;
use crate::app::loss_view::LossView;
use crate::app::managed_export::Draft;
use crate::app::message_table::{Filter, Sort};
use crate::app::plots::timeline::Axis;
use crate::app::runs::EventId;
use crate::app::tune_view::TuneView;
use crate::engine::{ByHand, ProviderError};
use crate::tokens;
use crate::units::Tokens;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Lanes that fit beside each other.
pub const MAX_LANES: usize = 6;

/// What is compared and under which assumptions. Undo goes back to an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Up to [`MAX_LANES`] lanes, from left to right.
    pub lanes: Vec<LaneConfig>,
    /// Knobs that do not stand at their defaults, in all lanes that have none of their own.
    pub knobs: KnobSettings,
    /// A context window set by hand.
    pub window: Option<Tokens>,
    /// Name of the counter.
    pub counter: &'static str,
    /// Calls before which the program is taken to have been started again (indices, ascending).
    pub restarts: Vec<usize>,
    /// Errors that the provider is taken to have answered calls with first, by step.
    pub errors: Vec<ProviderError>,
    /// Messages that are pinned, cleared or dropped by hand: each has one mark.
    pub by_hand: Arc<ByHand>,
    /// How calls are billed.
    pub billing: BillingChoice,
}

/// One lane.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneConfig {
    /// What it plays, by the name of a policy: the setting `strategy`.
    pub policy: String,
    /// Knobs that only this lane has; none where it follows those that all lanes share.
    pub own: Option<KnobSettings>,
}

/// The generic strategies that a new window compares.
pub const STRATEGIES: [&str; 3] = ["truncate", "prune", "summarize"];

impl Config {
    /// The generic strategies, or `policies` where some were named.
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

    /// Places a restart mark before a call, or takes it away.
    pub fn toggle_restart(&mut self, step: usize) {
        match self.restarts.binary_search(&step) {
            Ok(at) => drop(self.restarts.remove(at)),
            Err(at) => self.restarts.insert(at, step),
        }
    }

    /// Places an error of the provider at a call, in the place of any that is there; nothing takes it away.
    pub fn set_error(&mut self, step: usize, text: Option<Arc<str>>) {
        self.errors.retain(|error| error.step != step);
        self.errors
            .extend(text.map(|text| ProviderError { step, text }));
        self.errors.sort_by_key(|error| error.step);
    }

    /// The error at a call.
    pub fn error_at(&self, step: usize) -> Option<&Arc<str>> {
        let at = self.errors.iter().find(|error| error.step == step);
        at.map(|error| &error.text)
    }

    /// The settings that a lane runs with: its own, else the shared ones.
    pub fn lane_settings(&self, lane: usize) -> &KnobSettings {
        let own = self.lanes.get(lane).and_then(|l| l.own.as_ref());
        own.unwrap_or(&self.knobs)
    }

    /// Names of the lanes, each once: `truncate`, `truncate 2`.
    pub fn lane_names(&self) -> Vec<String> {
        numbered(self.lanes.iter().map(|lane| lane.policy.as_str()))
    }

    /// Anything stands elsewhere than it began.
    pub fn is_changed(&self) -> bool {
        !self.knobs.is_empty()
            || self.window.is_some()
            || self.lanes.iter().any(|l| l.own.is_some())
    }
}

/// A lane of this policy that shares its knobs.
pub fn lane(policy: &str) -> LaneConfig {
    LaneConfig {
        policy: policy.to_owned(),
        own: None,
    }
}

/// Names with a number behind those that stood before.
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

/// What is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Index of the step.
    pub step: usize,
    /// Index of a message.
    pub message: Option<usize>,
    /// Index of the message at the other end, where a stretch of the message table is selected.
    pub anchor: Option<usize>,
    /// The place of a message that a lane wrote, in the place of a message.
    pub written: Option<Place>,
    /// Index of the lane whose knobs are shown; none for what was recorded.
    pub lane: Option<usize>,
    /// An event; none where only a call was chosen.
    pub event: Option<EventId>,
}

/// How it is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What the timeline counts.
    pub axis: Axis,
    /// What the timeline's area shows.
    pub area: Area,
    /// Open tab of the drawer.
    pub tab: Tab,
    /// Order of the message table.
    pub sort: Sort,
    /// What the message table leaves out.
    pub filter: Filter,
    /// Which events are listed.
    pub events: EventFilter,
    /// Which insights are listed.
    pub insights: InsightFilter,
    /// The insight that stands open; the first if none.
    pub insight: Option<InsightKey>,
    /// What the tab Cost shows.
    pub cost: CostView,
    /// What the tab Loss shows.
    pub loss: LossView,
    /// What the tab Tune tries.
    pub tune: TuneView,
    /// What stands in the field that jumps to a message.
    pub jump: String,
    /// What stands in the field for a path.
    pub path: String,
    /// The sheet of shortcuts is open.
    pub shows_keys: bool,
    /// The dialog for the path of a file lies over everything.
    pub asks_path: bool,
    /// How the detail shows the selected message.
    pub detail: Detail,
    /// What was asked for in the last export of this session.
    pub export: Option<Draft>,
    /// Messages whose folded rows stand open in the lanes.
    pub unfolded: BTreeSet<u32>,
}

/// How the detail shows a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// What of it.
    pub aspect: Aspect,
    /// Page of a long text, from 0.
    pub page: usize,
}

/// What is shown of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aspect {
    /// Its parts.
    #[default]
    Parts,
    /// As it stands in the file.
    Record,
    /// What the focused lane has in its place.
    Changes,
}

/// What the timeline's area shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// What really happened.
    Recorded,
    /// The lane whose knobs are shown.
    FocusedLane,
}

/// A tab of the drawer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// The message table and the selected message.
    Messages,
    /// What there is to know about the session and the lanes, worst first.
    Insights,
    /// What the policies did and why.
    Events,
    /// What the lanes lacked of what the agent went on to use.
    Loss,
    /// What the session and the lanes cost.
    Cost,
    /// Which settings would have been better.
    Tune,
    /// What is known about the focused policy, and where it comes from.
    About,
    /// How the file was understood.
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
            .insert(crate::app::knobs::output_reserve(), 1.0);
        config.lanes[1].own = Some(KnobSettings::new());
        assert_eq!(config.lane_settings(0).len(), 1);
        assert!(config.lane_settings(1).is_empty());
    }
}
