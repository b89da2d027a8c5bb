//! Finds the conversations that a call may continue, without comparing it with all of them.

use std::collections::{HashMap, HashSet};

/// Maximum number of conversations that a call is compared with.
// Chosen: an agent and its sub-agents hold a few conversations at a time. Logs of unrelated requests that share a text
// have any number, which would make the time quadratic.
pub(super) const MAX_CANDIDATES: usize = 64;

/// Conversations by the messages in their contexts.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Indices of the conversations whose context contained a message with this key, ascending.
    by_key: HashMap<u64, Vec<usize>>,
    /// The latest conversation of a group and an agent.
    latest: HashMap<(Box<str>, Option<Box<str>>), usize>,
}

impl Candidates {
    /// Notes the messages of a call's context.
    pub(super) fn add(&mut self, keys: impl Iterator<Item = u64>, track: usize) {
        for key in keys {
            let tracks = self.by_key.entry(key).or_default();
            if tracks.last().is_none_or(|last| *last != track) {
                tracks.push(track);
            }
        }
    }

    /// Notes that an agent holds a conversation.
    pub(super) fn add_agent(&mut self, group: &str, caller: Option<&str>, track: usize) {
        self.latest.insert((group.into(), caller.map(Into::into)), track);
    }

    /// Returns the latest conversation of an agent.
    pub(super) fn of_agent(&self, group: &str, caller: Option<&str>) -> Option<usize> {
        self.latest.get(&(group.into(), caller.map(Into::into))).copied()
    }

    /// Returns conversations that contained one of these messages, ascending. Later messages are searched first,
    /// because earlier ones are shared by more conversations.
    pub(super) fn with_any(&self, keys: &[u64]) -> Vec<usize> {
        let mut found = HashSet::new();
        for key in keys.iter().rev() {
            let tracks = self.by_key.get(key).map_or(&[][..], |tracks| &tracks[..]);
            for track in tracks.iter().rev().take(MAX_CANDIDATES) {
                if found.len() >= MAX_CANDIDATES {
                    break;
                }
                found.insert(*track);
            }
        }
        let mut found: Vec<usize> = found.into_iter().collect();
        found.sort_unstable();
        found
    }
}
