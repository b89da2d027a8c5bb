//! The sessions of a row: those with a call in it, and those that started them.

use crate::analysis::usage::{UsageKey, UsageQuery, UsageTable, UsedSession};
use crate::exec::stores::{ListUsage, ListedSession, Listing};
use crate::units::Millis;
use jiff::civil::DateTime;
use std::collections::HashSet;
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
        let mut used = used.sessions(listing);
        // The conversations are in the order of the sessions.
        let mut conversations = used.drain(..);
        let has_call = |listed: &ListedSession| {
            let n = listed.usage.as_ref().map_or(0, |usage| usage.conversations.len());
            let own: Vec<UsedSession<'_>> = conversations.by_ref().take(n).collect();
            match query.key {
                UsageKey::Block => has_call_in_block(&own, query, key),
                _ => UsageTable::new(&own, query).rows.iter().any(|row| row.key == key),
            }
        };
        let has_call: Vec<bool> = listing.sessions.iter().map(has_call).collect();
        let starters = listing.starters().into_iter().enumerate();
        let with_starters = starters.filter(|(idx, _)| has_call[*idx]).flat_map(<[usize; 2]>::from);
        let sessions = with_starters.map(|idx| id(&listing.sessions[idx])).collect();
        Self { name, sessions }
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
fn has_call_in_block(sessions: &[UsedSession<'_>], query: &UsageQuery, start: &str) -> bool {
    let start = DateTime::strptime("%Y-%m-%d %H:%M", start).ok();
    let start = start.and_then(|start| start.to_zoned(query.zone.clone()).ok());
    let start = start.map(|start| start.timestamp().as_millisecond());
    let is_in_block = |time: Option<Millis>| match (start, time) {
        (Some(start), Some(time)) => (start..start + BLOCK).contains(&time.0),
        (start, time) => start.is_none() && time.is_none(),
    };
    let mut calls =
        sessions.iter().flat_map(|of| of.usage.calls.iter().map(|c| c.time.or(of.time)));
    calls.any(is_in_block)
}
