//! The sessions of a row: those with a call in it, and their sub-agents.

use crate::analysis::usage::{UsageKey, UsageQuery, UsageTable, UsedSession};
use crate::exec::stores::{ListUsage, ListedSession, Listing};
use crate::units::Millis;
use jiff::civil::DateTime;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// Length of a block in milliseconds.
const BLOCK: i64 = 5 * 3_600_000;

/// The sessions of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSessions {
    /// Name of the row.
    pub name: String,
    /// Their files, with the conversation in a file with several.
    sessions: HashSet<(PathBuf, Option<usize>)>,
}

impl RowSessions {
    /// Finds the sessions with a call in the row with this key. `name` is the name of the row.
    pub(crate) fn new(listing: &Listing, query: &UsageQuery, key: &str, name: String) -> Self {
        let used = ListUsage::new(listing);
        let mut trees: BTreeMap<usize, Vec<UsedSession<'_>>> = BTreeMap::new();
        for session in used.sessions(listing) {
            trees.entry(session.session).or_default().push(session);
        }
        let has_call = |tree: &[UsedSession<'_>]| match query.key {
            UsageKey::Block => has_call_in_block(tree, query, key),
            _ => UsageTable::new(tree, query).rows.iter().any(|row| row.key == key),
        };
        trees.retain(|_, tree| has_call(tree));
        let starters = listing.starters().into_iter().zip(&listing.sessions);
        let sessions = starters.filter(|(starter, _)| trees.contains_key(starter));
        Self { name, sessions: sessions.map(|(_, listed)| id(listed)).collect() }
    }

    /// Returns whether a listed session is one of them.
    pub fn contains(&self, listed: &ListedSession) -> bool {
        self.sessions.contains(&id(listed))
    }
}

fn id(listed: &ListedSession) -> (PathBuf, Option<usize>) {
    (listed.found.path.clone(), listed.conversation)
}

/// Returns whether sessions have a call in the block that starts at this local time. Their own blocks may start at others.
fn has_call_in_block(tree: &[UsedSession<'_>], query: &UsageQuery, start: &str) -> bool {
    let start = DateTime::strptime("%Y-%m-%d %H:%M", start).ok();
    let start = start.and_then(|start| start.to_zoned(query.zone.clone()).ok());
    let start = start.map(|start| start.timestamp().as_millisecond());
    let is_in_block = |time: Option<Millis>| match (start, time) {
        (Some(start), Some(time)) => (start..start + BLOCK).contains(&time.0),
        (start, time) => start.is_none() && time.is_none(),
    };
    let mut calls = tree.iter().flat_map(|of| of.usage.calls.iter().map(|c| c.time.or(of.time)));
    calls.any(is_in_block)
}
