//! Every policy a lane can be switched to: the bundled presets, `none`, and what was named when the program started.

use crate::engine::Policy;
use crate::presets;
use std::sync::Arc;

/// Name of the policy that does nothing.
pub const NONE: &str = "none";

/// All policies, parsed once.
#[derive(Clone, Debug)]
pub struct Policies(Vec<Arc<Policy>>);

impl Policies {
    /// The bundled presets and `none`, with `own` policies first; a policy of the same name replaces a bundled one.
    pub fn new(own: &[Policy]) -> Self {
        let mut all: Vec<Arc<Policy>> = own.iter().cloned().map(Arc::new).collect();
        let bundled = presets::PRESETS
            .iter()
            .filter_map(|p| presets::by_name(p.name));
        for policy in bundled.chain([none()]) {
            if !all.iter().any(|p| p.name == policy.name) {
                all.push(Arc::new(policy));
            }
        }
        Self(all)
    }

    /// The policy of this name; `none` where there is no such policy.
    pub fn get(&self, name: &str) -> Arc<Policy> {
        self.find(name)
            .or_else(|| self.find(NONE))
            .unwrap_or_else(|| Arc::new(none()))
    }

    /// All of them, in the order to offer them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Policy>> {
        self.0.iter()
    }

    fn find(&self, name: &str) -> Option<Arc<Policy>> {
        self.0.iter().find(|p| p.name == name).map(Arc::clone)
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
