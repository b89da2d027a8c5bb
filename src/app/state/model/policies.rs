//! All policies of a lane: saved presets, bundled presets, `none`, and policies named at startup.

use crate::app::state::model::lane_option::LaneOption;
use crate::engine::{Policy, PolicyKind};
use crate::presets;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Name of the policy without any action.
pub const NONE: &str = "none";

/// All policies, parsed once.
#[derive(Clone, Debug)]
pub struct Policies {
    all: Vec<Arc<Policy>>,
    /// Files of the policies that are not bundled, by name.
    words: BTreeMap<String, String>,
    /// Names of the saved presets.
    saved: BTreeSet<String>,
}

impl Policies {
    /// Collects saved presets, the policies from files among the lanes chosen at startup, bundled presets, and `none`. A
    /// policy replaces a bundled one of the same name.
    pub fn new(lanes: &[LaneOption], saved: Vec<Policy>) -> Self {
        let is_of_file = |lane: &&LaneOption| {
            let name = &lane.policy.name;
            lane.word != *name || presets::by_name(name).is_none()
        };
        let mut words = BTreeMap::new();
        let mut all: Vec<Arc<Policy>> = Vec::new();
        for lane in lanes.iter().filter(is_of_file) {
            let (name, word) = (lane.policy.name.clone(), lane.word.clone());
            if words.insert(name, word).is_none() {
                all.push(Arc::new(lane.policy.clone()));
            }
        }
        let bundled = presets::PRESETS.iter().filter_map(|p| presets::by_name(p.name));
        for policy in bundled.chain([none()]) {
            if !all.iter().any(|p| p.name == policy.name) {
                all.push(Arc::new(policy));
            }
        }
        let mut policies = Self { all, words, saved: BTreeSet::new() };
        for policy in saved.into_iter().rev() {
            policies.add_saved(policy);
        }
        policies
    }

    /// Adds a saved preset, replacing one of the same name.
    pub fn add_saved(&mut self, policy: Policy) {
        let name = policy.name.clone();
        self.all.retain(|p| p.name != name);
        self.words.remove(&name);
        self.all.insert(self.words.len(), Arc::new(policy));
        self.saved.insert(name);
    }

    /// Adds a policy of a workspace. Returns `false` if a different policy has its name, which lanes then use.
    pub fn add_from_workspace(&mut self, policy: Policy) -> bool {
        if let Some(known) = self.find(&policy.name) {
            // `Policy` is not comparable; its debug output contains every rule.
            return format!("{known:?}") == format!("{policy:?}");
        }
        self.all.push(Arc::new(policy));
        true
    }

    /// Returns whether a policy has this name.
    pub fn has(&self, name: &str) -> bool {
        self.all.iter().any(|policy| policy.name == name)
    }

    /// Returns whether a saved preset has this name.
    pub fn is_saved(&self, name: &str) -> bool {
        self.saved.contains(name)
    }

    /// Returns the policy with this name; `none` if there is no such policy.
    pub fn get(&self, name: &str) -> Arc<Policy> {
        self.find(name).or_else(|| self.find(NONE)).unwrap_or_else(|| Arc::new(none()))
    }

    /// Returns the command-line name of a policy: the name of a preset, or a file.
    pub fn command_line_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.words.get(name).map_or(name, String::as_str)
    }

    /// Returns the policies that contain all these words, in groups: from files, saved, then by kind.
    pub fn groups(&self, words: &[&str]) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = [FILES, SAVED]
            .into_iter()
            .chain(PolicyKind::ALL.map(PolicyKind::title))
            .map(|title| Group { title, policies: Vec::new() })
            .collect();
        for policy in self.all.iter().filter(|policy| policy.matches(words)) {
            let title = self.group_of(policy);
            let group = groups.iter_mut().find(|group| group.title == title);
            if let Some(group) = group {
                group.policies.push(policy);
            }
        }
        groups.retain(|group| !group.policies.is_empty());
        groups
    }

    fn group_of(&self, policy: &Policy) -> &'static str {
        if self.words.contains_key(&policy.name) {
            return FILES;
        }
        if self.is_saved(&policy.name) {
            return SAVED;
        }
        policy.kind.unwrap_or(PolicyKind::Strategy).title()
    }

    /// Returns all policies in display order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Policy>> {
        self.all.iter()
    }

    fn find(&self, name: &str) -> Option<Arc<Policy>> {
        self.all.iter().find(|p| p.name == name).map(Arc::clone)
    }
}

/// A group of policies in a list.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Title.
    pub title: &'static str,
    /// The policies, in display order.
    pub policies: Vec<&'a Arc<Policy>>,
}

const FILES: &str = "From files";
const SAVED: &str = "Your own";

/// Returns the bundled policy without any action, which has the shared settings.
pub fn bundled_none() -> Policy {
    presets::by_name(NONE).unwrap_or_else(none)
}

/// Returns a policy without any action and settings.
pub fn none() -> Policy {
    Policy {
        kind: Some(PolicyKind::Strategy),
        proof: None,
        meter: crate::engine::Meter::TRUE,
        believed_fill: None,
        reserve: None,
        window: None,
        name: NONE.to_owned(),
        label: "None".to_owned(),
        help: "No management: every message stays until the window overflows.".to_owned(),
        knobs: Vec::new(),
        lets: Vec::new(),
        stages: Vec::new(),
        sources: Vec::new(),
        unknowns: Vec::new(),
        documentation_differences: Vec::new(),
        differences: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_grouped_by_kind_and_found_by_words() {
        let mut policies = Policies::new(&[], Vec::new());
        policies.add_saved(Policy { name: "mine".to_owned(), ..none() });
        let titles: Vec<_> = policies.groups(&[]).iter().map(|g| g.title).collect();
        let kinds = PolicyKind::ALL.map(PolicyKind::title);
        assert_eq!(titles, [&["Your own"], &kinds[..]].concat());
        let found = policies.groups(&["CODING", "pi"]);
        let names = found.iter().flat_map(|g| &g.policies).map(|p| &*p.name);
        assert!(names.clone().any(|name| name == "pi"));
        assert!(!names.clone().any(|name| name == "picoclaw"));
        assert!(policies.groups(&["no such policy"]).is_empty());
    }

    #[test]
    fn saved_presets_precede_bundled_ones_and_replace_equal_names() {
        let mut policies = Policies::new(&[], Vec::new());
        let n = policies.iter().count();
        for label in ["First", "Second"] {
            policies.add_saved(Policy {
                name: "mine".to_owned(),
                label: label.to_owned(),
                ..none()
            });
        }
        assert_eq!(policies.iter().count(), n + 1);
        assert_eq!(policies.get("mine").label, "Second");
        let first = &policies.groups(&[])[0];
        assert_eq!((first.title, first.policies.len()), ("Your own", 1));
        assert_eq!(policies.command_line_name("mine"), "mine");
    }
}
