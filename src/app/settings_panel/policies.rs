//! All policies of a lane: saved presets, bundled presets, `none`, and policies named at startup.

use crate::app::options::LaneOption;
use crate::engine::Policy;
use crate::presets;
use crate::presets::native::Native;
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
    /// Collects bundled presets and `none`, saved presets, and policies from files (`own`). A policy replaces a bundled
    /// one of the same name.
    pub fn new(own: &[LaneOption], saved: Vec<Policy>) -> Self {
        // A preset named at startup is not a policy from a file.
        let is_of_file = |lane: &&LaneOption| {
            let name = &lane.policy.name;
            lane.word != *name || presets::by_name(name).is_none()
        };
        let own = own.iter().filter(is_of_file);
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
        let mut policies = Self {
            all,
            words,
            saved: BTreeSet::new(),
        };
        for policy in saved.into_iter().rev() {
            policies.keep(policy);
        }
        policies
    }

    /// Adds a saved preset, replacing one of the same name.
    pub fn keep(&mut self, policy: Policy) {
        let name = policy.name.clone();
        self.all.retain(|p| p.name != name);
        self.words.remove(&name);
        self.all.insert(self.words.len(), Arc::new(policy));
        self.saved.insert(name);
    }

    /// Returns whether a saved preset has this name.
    pub fn is_saved(&self, name: &str) -> bool {
        self.saved.contains(name)
    }

    /// Returns the policy with this name; `none` if there is no such policy.
    pub fn get(&self, name: &str) -> Arc<Policy> {
        self.find(name)
            .or_else(|| self.find(NONE))
            .unwrap_or_else(|| Arc::new(none()))
    }

    /// Returns the command-line name of a policy: the name of a preset, or a file.
    pub fn word<'a>(&'a self, name: &'a str) -> &'a str {
        self.words.get(name).map_or(name, String::as_str)
    }

    /// Returns all policies in display groups: saved, generic, and each system with its variants.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for policy in &self.all {
            let key = self.group_of(policy);
            match groups.iter_mut().find(|group| group.key == key) {
                Some(group) => group.policies.push(policy),
                None => groups.push(Group {
                    key,
                    title: title(key, policy),
                    policies: vec![policy],
                }),
            }
        }
        groups
    }

    fn group_of(&self, policy: &Policy) -> &'static str {
        if self.words.contains_key(&policy.name) {
            return OWN;
        }
        if self.is_saved(&policy.name) {
            return SAVED;
        }
        Native::of(&policy.name).map_or(GENERIC, |native| native.system)
    }

    /// Returns all policies in display order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Policy>> {
        self.all.iter()
    }

    fn find(&self, name: &str) -> Option<Arc<Policy>> {
        self.all.iter().find(|p| p.name == name).map(Arc::clone)
    }
}

/// A group of related policies.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    key: &'static str,
    /// Display name.
    pub title: String,
    /// The policies, in display order.
    pub policies: Vec<&'a Arc<Policy>>,
}

const OWN: &str = "From files";
const SAVED: &str = "Your own";
const GENERIC: &str = "Generic";

/// Returns the name of a group; for a system, the common start of its presets' labels.
fn title(key: &str, first: &Policy) -> String {
    if [OWN, SAVED, GENERIC].contains(&key) {
        return key.to_owned();
    }
    let end = first.label.find([',', '·', '(', ':']);
    first.label[..end.unwrap_or(first.label.len())]
        .trim()
        .to_owned()
}

/// Returns the policy without any action.
pub fn none() -> Policy {
    Policy {
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

    fn named(name: &str, label: &str) -> Arc<Policy> {
        let (name, label) = (name.to_owned(), label.to_owned());
        Arc::new(Policy {
            name,
            label,
            ..none()
        })
    }

    #[test]
    fn presets_are_grouped_by_system_and_others_are_generic() {
        let policies = Policies {
            all: vec![
                named("mine", "Mine"),
                named("truncate", "Truncate"),
                named("digitorn", "Digitorn · as shipped"),
                named("digitorn-document", "Digitorn · as its document says"),
                named("none", "None"),
            ],
            words: BTreeMap::from([("mine".to_owned(), "mine.toml".to_owned())]),
            saved: BTreeSet::new(),
        };
        let groups: Vec<_> = policies
            .groups()
            .iter()
            .map(|group| (group.title.clone(), group.policies.len()))
            .collect();
        let titles = [("From files", 1), ("Generic", 2), ("Digitorn", 2)];
        assert_eq!(groups, titles.map(|(title, n)| (title.to_owned(), n)));
    }

    #[test]
    fn saved_presets_precede_bundled_ones_and_replace_equal_names() {
        let mut policies = Policies::new(&[], Vec::new());
        let n = policies.iter().count();
        for label in ["First", "Second"] {
            policies.keep(Policy {
                name: "mine".to_owned(),
                label: label.to_owned(),
                ..none()
            });
        }
        assert_eq!(policies.iter().count(), n + 1);
        assert_eq!(policies.get("mine").label, "Second");
        let first = &policies.groups()[0];
        assert_eq!((&*first.title, first.policies.len()), ("Your own", 1));
        assert_eq!(policies.word("mine"), "mine");
    }
}
