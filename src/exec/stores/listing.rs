//! Lists sessions, those with the newest call first. Files are read on all cores, except those with a cached summary.

use super::copies::{ComparedCalls, RepeatedCalls, copies};
use super::{Cache, FileUsage, FoundFile, SessionSummary, UsageCache};
use crate::exec::database::{Snapshot, is_database};
use crate::exec::load::{FileSessions, parent_name};
use crate::figure::counted;
use crate::progress::{Cancelled, Progress};
use crate::units::{Bytes, Millis, Tokens};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Size of the first batch. The newest sessions are reported after each batch. Batches grow, so that cores seldom wait
/// for each other.
const FIRST_BATCH: usize = 8;
/// Maximum size of a batch. At larger ones, the list would grow in visible jumps; 200 files of 0.5 MB take 0.12 s in
/// all.
const MAX_BATCH: usize = 64;

/// A session of a list.
#[derive(Clone, Debug)]
pub struct ListedSession {
    /// The file.
    pub found: FoundFile,
    /// Index of the conversation in a file with several listed conversations.
    pub conversation: Option<usize>,
    /// Summary, or the reason why the session cannot be opened in one line.
    pub summary: Result<SessionSummary, String>,
    /// The session that started it, if it belongs to a sub-agent.
    pub parent: Option<Parent>,
    /// Its calls that an earlier session has too.
    pub repeats: Option<RepeatedCalls>,
    /// Usage of its calls, if the list has a cache of it.
    pub usage: Option<Arc<FileUsage>>,
}

impl ListedSession {
    /// Returns the name of the agent: that of its store, else that of the format.
    pub fn agent_name(&self) -> &str {
        let format = || self.summary.as_ref().map_or("", SessionSummary::format_label);
        self.found.agent.unwrap_or_else(format)
    }

    /// Returns the time of its last call in milliseconds since 1970; `None` if not recorded.
    pub fn ended(&self) -> Option<i64> {
        self.summary.as_ref().ok()?.ended
    }

    /// Returns `repeats 10 of 11 calls of a.jsonl` for a session that repeats another's calls.
    pub fn repeats_text(&self) -> Option<String> {
        let (repeats, summary) = self.repeats.as_ref().zip(self.summary.as_ref().ok())?;
        Some(format!(
            "repeats {} of {} of {}",
            repeats.calls,
            counted(summary.calls, "call"),
            repeats.file
        ))
    }
}

/// The session that started a sub-agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Id of the session.
    pub id: String,
    /// Title of the session, if known.
    pub title: Option<String>,
}

impl Parent {
    /// Returns the title, or else the id.
    pub fn name(&self) -> &str {
        self.title.as_ref().unwrap_or(&self.id)
    }
}

/// The result of listing.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Readable sessions, newest first.
    pub sessions: Vec<ListedSession>,
    /// Sessions that cannot be opened.
    pub unread: Vec<ListedSession>,
    /// Number of older sessions that were not read.
    pub left: usize,
}

impl Listing {
    /// Returns whether the `most` newest sessions are listed. All other files were written at this time or before, so their
    /// calls are not later.
    fn has_newest(&self, most: usize, others: Option<SystemTime>) -> bool {
        let is_newer = |listed: &&ListedSession| {
            if listed.parent.is_some() {
                return false;
            }
            let ended = listed.ended().and_then(|time| moment(Millis(time)));
            ended.is_some_and(|ended| others.is_none_or(|others| ended >= others))
        };
        self.sessions.len() >= most && self.sessions.iter().filter(is_newer).count() >= most
    }

    /// Returns the number of calls of all sessions, and without those that a session repeats.
    pub fn calls(&self) -> (usize, usize) {
        let calls = |listed: &ListedSession| listed.summary.as_ref().map_or(0, |s| s.calls);
        let repeated = |listed: &ListedSession| listed.repeats.as_ref().map_or(0, |r| r.calls);
        let all: usize = self.sessions.iter().map(calls).sum();
        let repeated: usize = self.sessions.iter().map(repeated).sum();
        (all, all - repeated)
    }
}

/// Caches of a list.
#[derive(Debug)]
pub struct ListCaches<'a> {
    /// Cached summaries.
    pub summaries: &'a mut Cache,
    /// Cached usage; `None` for a list without it.
    pub usage: Option<&'a mut UsageCache>,
}

/// Summarizes files until the `most` newest sessions are among them, and reports each to `on_listed`. A session is as new
/// as its last call. A session that repeats calls of another one is reported again at the end. `progress` counts sessions.
/// Blocks.
///
/// # Errors
/// Returns [`Cancelled`] if `progress` is cancelled. Summaries made by then are in the cache.
pub fn list(
    files: &[FoundFile],
    most: usize,
    caches: ListCaches<'_>,
    progress: &Progress,
    mut on_listed: impl FnMut(&ListedSession),
) -> Result<Listing, Cancelled> {
    let ListCaches { summaries: cache, usage: mut usages } = caches;
    let items = items(files, progress)?;
    progress.total.store(items.len() as u64, Ordering::Relaxed);
    let mut listing = Listing::default();
    // Titles of the sessions read so far, by id.
    let mut titles: HashMap<String, String> = HashMap::new();
    let (mut rest, mut size) = (&items[..], FIRST_BATCH);
    while !rest.is_empty() && !listing.has_newest(most, rest[0].found.modified) {
        progress.check_cancelled()?;
        let (batch, others) = rest.split_at(size.min(rest.len()));
        (rest, size) = (others, MAX_BATCH.min(2 * size));
        let known_usages = usages.as_deref();
        let read = |item: &ListingItem| item.read(cache, known_usages);
        let read: Vec<_> = batch.par_iter().with_max_len(1).map(read).collect();
        for read in &read {
            titles.extend(read.summary.as_ref().ok().and_then(named_by_id));
        }
        for (item, ReadItem { summary, usage, is_new }) in batch.iter().zip(read) {
            // Permissions change without a trace in the file's state.
            let can_open = || File::open(&item.found.path).is_ok();
            if is_new && (summary.is_ok() || can_open()) {
                let id = (&*item.id(), item.version());
                cache.put(&item.found, id, &summary);
                if let (Some(usages), Some(usage)) = (&mut usages, &usage) {
                    usages.put(&item.found, id, usage);
                }
            }
            let parent = item.parent(&summary, &titles);
            let listed = ListedSession { parent, usage, ..item.listed(summary) };
            on_listed(&listed);
            let list = match listed.summary {
                Ok(_) => &mut listing.sessions,
                Err(_) => &mut listing.unread,
            };
            list.push(listed);
        }
        progress.advance(batch.len() as u64);
    }
    listing.left = items.len() - listing.sessions.len() - listing.unread.len();
    // Sessions without a recorded time are last: the time of a file is not that of its session.
    listing.sessions.sort_by(|a, b| {
        let ended = |listed: &ListedSession| Reverse(listed.ended());
        ended(a).cmp(&ended(b)).then_with(|| a.found.path.cmp(&b.found.path))
    });
    // A parent may follow its child.
    for parent in listing.sessions.iter_mut().filter_map(|s| s.parent.as_mut()) {
        parent.title = parent.title.take().or_else(|| titles.get(&parent.id).cloned());
    }
    for (copy, repeats) in copies(&compared(&listing.sessions)) {
        listing.sessions[copy].repeats = Some(repeats);
        on_listed(&listing.sessions[copy]);
    }
    Ok(listing)
}

impl Listing {
    /// Sets the context window of all calls.
    pub fn set_window(&mut self, window: Tokens) {
        for listed in &mut self.sessions {
            if let Ok(summary) = &mut listed.summary {
                summary.set_window(window);
            }
            if let Some(usage) = &mut listed.usage {
                *usage = Arc::new(usage.with_window(window));
            }
        }
    }
}

/// Returns the calls of sessions, to find copies.
fn compared(sessions: &[ListedSession]) -> Vec<ComparedCalls<'_>> {
    fn calls(listed: &ListedSession) -> ComparedCalls<'_> {
        let summary = listed.summary.as_ref().ok();
        ComparedCalls {
            begun: summary.and_then(|summary| summary.begun),
            modified: listed.found.modified,
            path: &listed.found.path,
            ids: summary.map_or(&[], |summary| &summary.call_ids),
        }
    }
    sessions.iter().map(calls).collect()
}

/// Returns the id and the title of a session.
fn named_by_id(summary: &SessionSummary) -> Option<(String, String)> {
    Some((summary.id.clone()?, summary.title.clone()))
}

/// A summary with usage, read or from the cache.
struct ReadItem {
    summary: Result<SessionSummary, String>,
    usage: Option<Arc<FileUsage>>,
    is_new: bool,
}

/// A file, or a session in a file, to summarize.
#[derive(Debug)]
struct ListingItem {
    found: FoundFile,
    content: ListingContent,
}

#[derive(Debug)]
enum ListingContent {
    File,
    Entry(Arc<Snapshot>, usize),
    /// A session of a file that the user named.
    Session(Arc<FileSessions>, usize),
    /// Reason why the file cannot be opened.
    Unreadable(String),
}

/// Returns files and the sessions of databases, newest first. A session that its program migrated from files to a
/// database is listed once, even if the files still exist.
fn items(files: &[FoundFile], progress: &Progress) -> Result<Vec<ListingItem>, Cancelled> {
    let (mut items, mut ids) = (Vec::with_capacity(files.len()), HashSet::new());
    for found in files {
        progress.check_cancelled()?;
        let item = |content| ListingItem { found: found.clone(), content };
        if !is_database(&found.path) {
            if found.is_named {
                items.extend(named(found, progress));
            } else {
                items.push(item(ListingContent::File));
            }
            continue;
        }
        match Snapshot::open(&found.path, progress) {
            Err(why) => items.push(item(ListingContent::Unreadable(why.to_string()))),
            Ok(snapshot) => {
                ids.extend(snapshot.entries().iter().map(|entry| entry.id.clone()));
                items.extend(entries(found, &Arc::new(snapshot)));
            }
        }
    }
    items.retain(|item| {
        !matches!(item.content, ListingContent::File) || !item.found.is_migrated(&ids)
    });
    items.sort_by_key(|item| Reverse(item.found.modified));
    Ok(items)
}

/// Returns the sessions of a file that the user named.
fn named(found: &FoundFile, progress: &Progress) -> Vec<ListingItem> {
    let item = |content| ListingItem { found: found.clone(), content };
    match FileSessions::open(&found.path, progress) {
        Err(why) => vec![item(ListingContent::Unreadable(why.to_string()))],
        Ok(sessions) if !sessions.are_numbered() => vec![item(ListingContent::File)],
        Ok(sessions) => {
            let sessions = Arc::new(sessions);
            let numbers = sessions.numbers().iter();
            let one =
                |number: &usize| item(ListingContent::Session(Arc::clone(&sessions), *number));
            numbers.map(one).collect()
        }
    }
}

fn entries(found: &FoundFile, snapshot: &Arc<Snapshot>) -> Vec<ListingItem> {
    let item = |idx: usize| {
        let entry = &snapshot.entries()[idx];
        ListingItem {
            found: FoundFile {
                size: Bytes(entry.bytes),
                modified: entry.updated.and_then(moment).or(found.modified),
                ..found.clone()
            },
            content: ListingContent::Entry(Arc::clone(snapshot), idx),
        }
    };
    (0..snapshot.entries().len()).map(item).collect()
}

/// Converts a recorded time; `None` if it is out of range.
pub(crate) fn moment(time: Millis) -> Option<SystemTime> {
    let time = Duration::from_millis(u64::try_from(time.0).ok()?);
    UNIX_EPOCH.checked_add(time)
}

impl ListingItem {
    /// Returns the id within the file; empty for the file itself.
    fn id(&self) -> String {
        match &self.content {
            ListingContent::Entry(snapshot, idx) => {
                let entry = &snapshot.entries()[*idx];
                format!("{}/{}", entry.owner, entry.id)
            }
            ListingContent::Session(_, number) => format!("#{number}"),
            ListingContent::File | ListingContent::Unreadable(_) => String::new(),
        }
    }

    /// Returns the version of a session in a database.
    fn version(&self) -> u64 {
        match &self.content {
            ListingContent::Entry(snapshot, idx) => snapshot.entries()[*idx].version,
            _ => 0,
        }
    }

    /// Returns the cached summary and usage, or else reads the file.
    fn read(&self, cache: &Cache, usages: Option<&UsageCache>) -> ReadItem {
        let (id, version) = (self.id(), self.version());
        let summary = cache.get(&self.found, (&id, version));
        let usage = usages.map(|usages| usages.get(&self.found, (&id, version)));
        match (summary, usage) {
            // A file that cannot be opened used nothing.
            (Some(known), None) | (Some(known @ Err(_)), _) => {
                ReadItem { summary: known.clone(), usage: None, is_new: false }
            }
            (Some(known), Some(Some(usage))) => {
                ReadItem { summary: known.clone(), usage: Some(usage), is_new: false }
            }
            _ => match self.summarize(usages.is_some()) {
                Ok((summary, usage)) => {
                    ReadItem { summary: Ok(summary), usage: usage.map(Arc::new), is_new: true }
                }
                Err(why) => ReadItem { summary: Err(why), usage: None, is_new: true },
            },
        }
    }

    fn summarize(&self, has_usage: bool) -> Result<(SessionSummary, Option<FileUsage>), String> {
        // With a progress of its own, since the other one counts sessions.
        let (path, progress) = (&self.found.path, Progress::default());
        match &self.content {
            ListingContent::File if has_usage => {
                let (summary, usage) = SessionSummary::read_with_usage(path, &progress)?;
                Ok((summary, Some(usage)))
            }
            ListingContent::File => Ok((SessionSummary::read(path, &progress)?, None)),
            ListingContent::Entry(snapshot, idx) => {
                SessionSummary::of_entry(snapshot, path, *idx, has_usage)
            }
            ListingContent::Session(sessions, number) => {
                SessionSummary::of_session(sessions, *number, has_usage)
            }
            ListingContent::Unreadable(why) => Err(why.clone()),
        }
    }

    fn listed(&self, summary: Result<SessionSummary, String>) -> ListedSession {
        let mut found = self.found.clone();
        let conversation =
            if let ListingContent::Entry(_, idx) | ListingContent::Session(_, idx) = self.content {
                found.size = summary.as_ref().map_or(found.size, |summary| Bytes(summary.bytes));
                Some(idx)
            } else {
                None
            };
        ListedSession { found, conversation, summary, parent: None, repeats: None, usage: None }
    }

    /// Returns the session that started this one, with its title from the sessions read so far, the database, or a file
    /// next to it.
    fn parent(
        &self,
        summary: &Result<SessionSummary, String>,
        titles: &HashMap<String, String>,
    ) -> Option<Parent> {
        let summary = summary.as_ref().ok()?;
        let id = summary.parent.clone()?;
        let in_database = || match &self.content {
            ListingContent::Entry(snapshot, _) => {
                let mut entries = snapshot.entries().iter();
                entries.find(|entry| entry.id == id).map(|entry| entry.title.clone())
            }
            _ => None,
        };
        let title = titles.get(&id).cloned().or_else(in_database);
        let title = title.or_else(|| parent_name(&self.found.path, &summary.format, &id));
        let title = title.filter(|title| !title.trim().is_empty());
        Some(Parent { id, title })
    }
}
