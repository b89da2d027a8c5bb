//! The compared lanes and the assumptions of a comparison.

use crate::analysis::attribution::Selector;
use crate::analysis::rereads::RereadModel;
use crate::app::state::model::billing::{BillingChoice, PriceChoice};
use crate::app::state::model::knobs::KnobSettings;
use crate::engine::{ManualEdits, ProviderError};
use crate::exec::LoadOptions;
use crate::tokens;
use crate::units::Tokens;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of lanes.
pub const MAX_LANES: usize = 6;

/// The compared lanes and the assumptions. Undo restores an earlier state.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Up to [`MAX_LANES`] lanes, from left to right.
    pub lanes: Vec<LaneConfig>,
    /// Changed settings (`knobs`), shared by all lanes without settings of their own.
    pub knobs: KnobSettings,
    /// Context window; `None` for that of the model.
    pub window: Option<Tokens>,
    /// Name of the tokenizer.
    pub counter: &'static str,
    /// Indices of calls with a restart of the program before them, ascending.
    pub restarts: Vec<usize>,
    /// Assumed provider errors, by call.
    pub errors: Vec<ProviderError>,
    /// Sources without which everything is computed.
    pub without: Vec<Selector>,
    /// Pinned, cleared and dropped messages. A message has at most one of these marks.
    pub manual_edits: Arc<ManualEdits>,
    /// Notes on messages. They do not affect the runs.
    pub notes: Arc<BTreeMap<usize, String>>,
    /// Billing settings.
    pub billing: BillingChoice,
    /// The coefficients of expected re-reads.
    pub reread_model: Arc<RereadModel>,
}

/// The configuration of a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneConfig {
    /// Name of its policy: the setting `strategy`.
    pub policy: String,
    /// Settings of this lane only; `None` if it uses the shared ones.
    pub own: Option<KnobSettings>,
}

/// The presets that are compared by default.
pub const STRATEGIES: [&str; 3] = ["truncate", "prune", "summarize"];

impl Config {
    /// Creates lanes for `policies`, or for the generic presets if empty.
    pub fn new(policies: &[String]) -> Self {
        let named: Vec<_> = policies.iter().map(|p| LaneConfig::new(p)).take(MAX_LANES).collect();
        let lanes = if named.is_empty() { STRATEGIES.map(LaneConfig::new).to_vec() } else { named };
        Self {
            lanes,
            knobs: KnobSettings::new(),
            window: None,
            counter: tokens::default_counter().name,
            restarts: Vec::new(),
            errors: Vec::new(),
            without: Vec::new(),
            manual_edits: Arc::default(),
            notes: Arc::default(),
            billing: BillingChoice::default(),
            reread_model: Arc::new(RereadModel::bundled().clone()),
        }
    }

    /// Removes everything that applies to one session: context window, price, restarts, errors, manual edits and notes.
    pub fn reset_session(&mut self) {
        self.window = None;
        self.billing.price = PriceChoice::default();
        self.remove_marks();
    }

    /// Removes restarts, errors, manual edits and notes. Returns whether there were any.
    pub fn remove_marks(&mut self) -> bool {
        let had_any = !self.restarts.is_empty()
            || !self.errors.is_empty()
            || !self.without.is_empty()
            || !self.manual_edits.is_empty()
            || !self.notes.is_empty();
        self.restarts.clear();
        self.errors.clear();
        self.without.clear();
        self.manual_edits = Arc::default();
        self.notes = Arc::default();
        had_any
    }

    /// Adds or removes a restart mark before a call.
    pub fn toggle_restart(&mut self, call: usize) {
        match self.restarts.binary_search(&call) {
            Ok(at) => drop(self.restarts.remove(at)),
            Err(at) => self.restarts.insert(at, call),
        }
    }

    /// Sets the provider error at a call; `None` removes it.
    pub fn set_error(&mut self, call: usize, text: Option<Arc<str>>) {
        self.errors.retain(|error| error.call != call);
        self.errors.extend(text.map(|text| ProviderError { call, text }));
        self.errors.sort_by_key(|error| error.call);
    }

    /// Returns the error at a call.
    pub fn error_at(&self, call: usize) -> Option<&Arc<str>> {
        let at = self.errors.iter().find(|error| error.call == call);
        at.map(|error| &error.text)
    }

    /// Returns the settings of a lane: its own, else the shared ones.
    pub fn lane_settings(&self, lane: usize) -> &KnobSettings {
        let own = self.lanes.get(lane).and_then(|l| l.own.as_ref());
        own.unwrap_or(&self.knobs)
    }

    /// Returns the options for loading the conversation with this index (from 0), counted by the selected tokenizer.
    pub fn load_options(&self, conversation: usize) -> LoadOptions {
        LoadOptions {
            counter: tokens::by_name(self.counter).unwrap_or_else(tokens::default_counter),
            window: None,
            conversation,
        }
    }

    /// Returns unique names of the lanes: `truncate`, `truncate 2`.
    pub fn lane_names(&self) -> Vec<String> {
        numbered(self.lanes.iter().map(|lane| lane.policy.as_str()))
    }

    /// Returns whether a setting of a policy or the context window differs from its default.
    pub fn has_changed_settings(&self) -> bool {
        !self.knobs.is_empty()
            || self.window.is_some()
            || self.lanes.iter().any(|l| l.own.is_some())
    }
}

impl LaneConfig {
    /// Creates a lane of this policy with shared settings.
    pub fn new(policy: &str) -> Self {
        Self { policy: policy.to_owned(), own: None }
    }
}

/// Appends a number to repeated names, so that all are unique.
pub fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let mut all: Vec<String> = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let is_repeated = names[..at].contains(name);
        let is_free = |new: &String| !all.contains(new) && !names.contains(&new.as_str());
        let mut others = (2..).map(|nth| format!("{name} {nth}"));
        let other = is_repeated.then(|| others.find(is_free)).flatten();
        all.push(other.unwrap_or_else(|| (*name).to_owned()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_one_policy_are_numbered() {
        let names = ["truncate", "prune", "truncate", "truncate"];
        assert_eq!(numbered(names.into_iter()), ["truncate", "prune", "truncate 2", "truncate 3"]);
        let names = ["prune 2", "prune", "prune", "prune"];
        assert_eq!(numbered(names.into_iter()), ["prune 2", "prune", "prune 3", "prune 4"]);
    }

    #[test]
    fn a_lane_with_its_own_knobs_ignores_the_shared_ones() {
        let mut config = Config::new(&[]);
        config.knobs.insert(crate::app::state::model::knobs::output_reserve(), 1.0);
        config.lanes[1].own = Some(KnobSettings::new());
        assert_eq!(config.lane_settings(0).len(), 1);
        assert!(config.lane_settings(1).is_empty());
    }
}
