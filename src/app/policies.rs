//! Every policy a lane can be switched to: the bundled presets, `none`, and what was named when the program started.

use crate::app::options::LaneOption;
use crate::engine::Policy;
use crate::presets;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the policy that does nothing.
pub const NONE: &str = "none";

/// All policies, parsed once.
#[derive(Clone, Debug)]
pub struct Policies {
    all: Vec<Arc<Policy>>,
    /// The files of those that are not bundled, by name.
    words: BTreeMap<String, String>,
}

impl Policies {
    /// The bundled presets and `none`, with `own` policies first; a policy of the same name replaces a bundled one.
    pub fn new(own: &[LaneOption]) -> Self {
        // A preset that was named is no policy of one's own.
        let own = own.iter().filter(|lane| lane.word != lane.policy.name);
        let mut words = BTreeMap::new();
        let mut all: Vec<Arc<Policy>> = Vec::new();
        for lane in own {
            let (name, word) = (lane.policy.name.clone(), lane.word.clone());
            if words.insert(name, word).is_none() {
                all.push(Arc::new(lane.policy.clone()));
            }
        }
        let bundled = presets::PRESETS
            .iter()
            .filter_map(|p| presets::by_name(p.name));
        for policy in bundled.chain([none()]) {
            if !all.iter().any(|p| p.name == policy.name) {
                all.push(Arc::new(policy));
            }
        }
        Self { all, words }
    }

    /// The policy of this name; `none` where there is no such policy.
    pub fn get(&self, name: &str) -> Arc<Policy> {
        self.find(name)
            .or_else(|| self.find(NONE))
            .unwrap_or_else(|| Arc::new(none()))
    }

    /// How the command line calls the policy of this name: a preset by its name, any other by its file.
    pub fn word<'a>(&'a self, name: &'a str) -> &'a str {
        self.words.get(name).map_or(name, String::as_str)
    }

    /// All of them, in the order to offer them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Policy>> {
        self.all.iter()
    }

    fn find(&self, name: &str) -> Option<Arc<Policy>> {
        self.all.iter().find(|p| p.name == name).map(Arc::clone)
    }
}

/// The policy that does nothing.
pub fn none() -> Policy {
    Policy {
        meter: crate::engine::Meter::TRUE,
        name: NONE.to_owned(),
        label: "None".to_owned(),
        help: "No management: every message stays until the window overflows.".to_owned(),
        knobs: Vec::new(),
        lets: Vec::new(),
        stages: Vec::new(),
        sources: Vec::new(),
        unknowns: Vec::new(),
        differences: Vec::new(),
    }
}
