//! Lists sessions: the newest first, what is known at once, the rest as it is read, on all cores.

use super::{Cache, Found, SessionSummary};
use crate::exec::database::Snapshot;
use crate::exec::sub_agents::parent_name;
use crate::exec::{Several, is_database};
use crate::progress::{Cancelled, Progress};
use crate::units::{Bytes, Millis};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Files read at first: between two bunches the newest are already told. The next bunches are larger, so that cores seldom
/// wait for one another.
const BUNCH: usize = 8;
/// And at most.
const MOST_AT_ONCE: usize = 64;

/// A session of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its file.
    pub found: Found,
    /// Which conversation of the file, from 0, where each is listed by itself.
    pub conversation: Option<usize>,
    /// What it holds, or why it cannot be opened, in one line.
    pub summary: Result<SessionSummary, String>,
    /// The session that started it, where it is a sub-agent's.
    pub parent: Option<Parent>,
}

/// The session that started a sub-agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Its id.
    pub id: String,
    /// What it is called, where that is known.
    pub title: Option<String>,
}

impl Parent {
    /// What to call it: its title, or its id.
    pub fn name(&self) -> &str {
        self.title.as_ref().unwrap_or(&self.id)
    }
}

/// What became of a search.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Files that hold a conversation, and conversations of databases, newest first.
    pub sessions: Vec<Listed>,
    /// Those that cannot be opened.
    pub unread: Vec<Listed>,
    /// How many older ones were not looked at.
    pub left: usize,
}

/// Reads files in order, up to about so many sessions, and tells of each; `progress` counts them. Blocks.
///
/// # Errors
/// [`Cancelled`] when `progress` says to stop; what was read by then is in the cache.
pub fn list(
    files: &[Found],
    most: usize,
    cache: &mut Cache,
    progress: &Progress,
    mut tell: impl FnMut(&Listed),
) -> Result<Listing, Cancelled> {
    let items = items(files, progress)?;
    progress.total.store(items.len() as u64, Ordering::Relaxed);
    let mut listing = Listing::default();
    // What the sessions read so far are called, by their ids.
    let mut titles: HashMap<String, String> = HashMap::new();
    let (mut rest, mut at_once) = (&items[..], BUNCH);
    while !rest.is_empty() && listing.sessions.len() < most {
        progress.go_on()?;
        let (bunch, others) = rest.split_at(at_once.min(rest.len()));
        (rest, at_once) = (others, MOST_AT_ONCE.min(2 * at_once));
        let summary = |item: &Item| match cache.get(&item.found, &item.id()) {
            Some(known) => (known.clone(), false),
            None => (item.summary(), true),
        };
        let read: Vec<_> = bunch.par_iter().with_max_len(1).map(summary).collect();
        for (summary, _) in &read {
            titles.extend(summary.as_ref().ok().and_then(named_by_id));
        }
        for (item, (summary, is_new)) in bunch.iter().zip(read) {
            if is_new {
                cache.put(&item.found, &item.id(), &summary);
            }
            let parent = item.parent(&summary, &titles);
            let listed = Listed {
                parent,
                ..item.listed(summary)
            };
            tell(&listed);
            let of = match listed.summary {
                Ok(_) => &mut listing.sessions,
                Err(_) => &mut listing.unread,
            };
            of.push(listed);
        }
        progress.advance(bunch.len() as u64);
    }
    listing.left = items.len() - listing.sessions.len() - listing.unread.len();
    // A parent may stand behind its child.
    for parent in listing
        .sessions
        .iter_mut()
        .filter_map(|s| s.parent.as_mut())
    {
        parent.title = parent
            .title
            .take()
            .or_else(|| titles.get(&parent.id).cloned());
    }
    Ok(listing)
}

/// A session's id, and what it is called.
fn named_by_id(summary: &SessionSummary) -> Option<(String, String)> {
    Some((summary.id.clone()?, summary.title.clone()))
}

/// What is to be read: a file, or one of its sessions.
#[derive(Debug)]
struct Item {
    found: Found,
    of: Of,
}

#[derive(Debug)]
enum Of {
    File,
    Entry(Arc<Snapshot>, usize),
    /// One of the sessions of a file that a person named.
    One(Arc<Several>, usize),
    /// What cannot be opened, and why.
    Refused(String),
}

/// Files, with the sessions of databases in their places, newest first. A session that its program moved from files into
/// its database, and left them there, is listed once.
fn items(files: &[Found], progress: &Progress) -> Result<Vec<Item>, Cancelled> {
    let (mut items, mut ids) = (Vec::with_capacity(files.len()), HashSet::new());
    for found in files {
        progress.go_on()?;
        let item = |of| Item {
            found: found.clone(),
            of,
        };
        if !is_database(&found.path) {
            if found.is_named {
                items.extend(named(found, progress));
            } else {
                items.push(item(Of::File));
            }
            continue;
        }
        match Snapshot::open(&found.path, progress) {
            Err(why) => items.push(item(Of::Refused(why.to_string()))),
            Ok(snapshot) => {
                ids.extend(snapshot.entries().iter().map(|entry| entry.id.clone()));
                items.extend(entries(found, &Arc::new(snapshot)));
            }
        }
    }
    let is_twin = |item: &Item| {
        let stem = item.found.path.file_stem().and_then(|stem| stem.to_str());
        let is_stored = item.found.agent.is_some() && matches!(item.of, Of::File);
        is_stored && stem.is_some_and(|stem| ids.contains(stem))
    };
    items.retain(|item| !is_twin(item));
    items.sort_by_key(|item| Reverse(item.found.modified));
    Ok(items)
}

/// What a file holds that a person named.
fn named(found: &Found, progress: &Progress) -> Vec<Item> {
    let item = |of| Item {
        found: found.clone(),
        of,
    };
    match Several::open(&found.path, progress) {
        Err(why) => vec![item(Of::Refused(why.to_string()))],
        Ok(several) if !several.are_numbered() => vec![item(Of::File)],
        Ok(several) => {
            let several = Arc::new(several);
            let numbers = several.numbers().iter();
            let one = |number: &usize| item(Of::One(Arc::clone(&several), *number));
            numbers.map(one).collect()
        }
    }
}

fn entries(found: &Found, snapshot: &Arc<Snapshot>) -> Vec<Item> {
    let item = |idx: usize| {
        let entry = &snapshot.entries()[idx];
        Item {
            found: Found {
                size: Bytes(entry.bytes),
                modified: entry.updated.and_then(moment).or(found.modified),
                ..found.clone()
            },
            of: Of::Entry(Arc::clone(snapshot), idx),
        }
    };
    (0..snapshot.entries().len()).map(item).collect()
}

fn moment(time: Millis) -> Option<SystemTime> {
    let since = Duration::from_millis(u64::try_from(time.0).ok()?);
    UNIX_EPOCH.checked_add(since)
}

impl Item {
    /// What tells it from others of its file; empty for the file itself.
    fn id(&self) -> String {
        match &self.of {
            Of::Entry(snapshot, idx) => {
                let entry = &snapshot.entries()[*idx];
                format!("{}/{}", entry.owner, entry.id)
            }
            Of::One(_, number) => format!("#{number}"),
            Of::File | Of::Refused(_) => String::new(),
        }
    }

    fn summary(&self) -> Result<SessionSummary, String> {
        match &self.of {
            // Its own progress: bytes are no files.
            Of::File => SessionSummary::read(&self.found.path, &Progress::default()),
            Of::Entry(snapshot, idx) => SessionSummary::of_entry(snapshot, &self.found.path, *idx),
            Of::One(several, number) => SessionSummary::of_one(several, *number),
            Of::Refused(why) => Err(why.clone()),
        }
    }

    fn listed(&self, summary: Result<SessionSummary, String>) -> Listed {
        let mut found = self.found.clone();
        let conversation = if let Of::Entry(_, idx) | Of::One(_, idx) = self.of {
            found.size = summary
                .as_ref()
                .map_or(found.size, |summary| Bytes(summary.bytes));
            Some(idx)
        } else {
            None
        };
        Listed {
            found,
            conversation,
            summary,
            parent: None,
        }
    }

    /// The session that started this one, by its database, by those read so far, or by the file beside it.
    fn parent(
        &self,
        summary: &Result<SessionSummary, String>,
        titles: &HashMap<String, String>,
    ) -> Option<Parent> {
        let summary = summary.as_ref().ok()?;
        let id = summary.parent.clone()?;
        let in_database = || match &self.of {
            Of::Entry(snapshot, _) => {
                let mut entries = snapshot.entries().iter();
                entries
                    .find(|entry| entry.id == id)
                    .map(|entry| entry.title.clone())
            }
            _ => None,
        };
        let title = titles.get(&id).cloned().or_else(in_database);
        let title = title.or_else(|| parent_name(&self.found.path, &summary.format, &id));
        let title = title.filter(|title| !title.trim().is_empty());
        Some(Parent { id, title })
    }
}
