//! Finds the records of the conversation. A file is a forest of records, and the user may have rewound it.
//!
//! The parent of each record is found first, then the path from the last message to the root. A record outside of that
//! path is kept if the path from it leads into the conversation through records that belong to it.
//!
//! Records also branch for other reasons: parallel tool calls, hooks, progress. Records outside the path from the first
//! to the last record are therefore left out only if they belong to another course of the conversation: another prompt
//! or answer at the same position, with all that follows it.

use super::entry::{ClaudeEntry, EntryKind, MessageOrigin};
use super::id::Id;
use super::records;
use crate::formats::title;
use crate::session::Body;
use std::collections::hash_map::Entry::Occupied;
use std::collections::{HashMap, HashSet};

/// Place of a record in relation to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordPlace {
    /// In the conversation.
    Main,
    /// On a branch that was rewound.
    Abandoned,
    /// A copy of an earlier record.
    Copy,
    /// In another conversation (a sub-agent's) or none.
    Other,
}

/// A course of the conversation.
#[derive(Debug)]
pub(super) struct Course {
    /// Place of every record.
    pub places: Vec<RecordPlace>,
    /// First user text that the main course lacks, or `None` for the main course.
    pub user_text: Option<String>,
    /// Number of its messages that the program would skip if it resumed the main course, because the record after them
    /// names an earlier one as its parent.
    pub n_skipped: usize,
}

/// Label of a hook's progress. Versions 2.1.78 to 2.1.88 write it after later records, which continue it.
const HOOK_PROGRESS: &str = "progress/hook_progress";

/// Maximum number of records between an answer and the progress of its hook. A hook ends within the turn; the limit
/// keeps the time linear for files that name distant records.
// Chosen: a turn with parallel calls and hooks has some hundred records.
const MAX_HOOK_DISTANCE: usize = 1_000;

/// Maximum number of branches with separate conversations.
// Chosen: each branch takes a pass over all records and a conversation in memory. The oldest are left out.
const MAX_BRANCHES: usize = 50;

/// Returns the courses of the conversation: the main one, then the rewound branches in order of their last records.
pub(super) fn courses(entries: &[ClaudeEntry]) -> Vec<Course> {
    let is_sidechain = !entries.iter().any(|e| is_message(e) && is_in(e, false));
    let mut places = vec![RecordPlace::Other; entries.len()];
    let mut tree = EntryTree::of_most(entries.len());
    for (at, entry) in entries.iter().enumerate().filter(|(_, e)| is_in(e, is_sidechain)) {
        if tree.add(at, entry, entries) {
            places[at] = RecordPlace::Main;
        } else {
            places[at] = RecordPlace::Copy;
        }
    }
    tree.link(entries);
    let Some(leaf) = tree.leaf(entries) else {
        return vec![Course { places, user_text: None, n_skipped: 0 }];
    };
    let main = tree.kept(entries, leaf);
    let branches = tree.branches(entries, &main);
    let course = |kept: &[bool], user_text| {
        let mut places = places.clone();
        for (node, _) in kept.iter().enumerate().filter(|(_, is_kept)| !**is_kept) {
            places[tree.entries[node]] = RecordPlace::Abandoned;
        }
        Course { places, user_text, n_skipped: 0 }
    };
    let branches = branches.into_iter();
    let branches = branches.map(|(kept, user_text)| course(&kept, Some(user_text)));
    let main = Course { n_skipped: tree.n_skipped(entries, leaf), ..course(&main, None) };
    std::iter::once(main).chain(branches).collect()
}

fn is_in(entry: &ClaudeEntry, is_sidechain: bool) -> bool {
    entry.node.as_ref().is_some_and(|n| n.is_sidechain == is_sidechain)
}

/// Returns whether the record is a message rather than an attachment.
pub(super) fn is_message(entry: &ClaudeEntry) -> bool {
    match &entry.kind {
        EntryKind::Message(message) => !message.origin.is_attachment(),
        EntryKind::Answer(_) => true,
        _ => false,
    }
}

pub(super) fn uuid(entry: &ClaudeEntry) -> Option<&Id> {
    entry.node.as_ref().and_then(|n| n.uuid.as_ref())
}

fn is_other(entry: &ClaudeEntry) -> bool {
    matches!(entry.kind, EntryKind::Other | EntryKind::Rejection(_))
}

/// Records of the conversation's forest, in file order.
struct EntryTree<'a> {
    /// Index of the entry, by node.
    entries: Vec<usize>,
    /// Index of the parent node, by node.
    parents: Vec<Option<usize>>,
    by_uuid: HashMap<&'a Id, usize>,
    /// Records of hooks that continue later records than the one that they name, with both.
    moved_hooks: Vec<(usize, usize, usize)>,
}

impl<'a> EntryTree<'a> {
    /// Creates an empty tree with capacity for this number of records.
    fn of_most(records: usize) -> Self {
        Self {
            entries: Vec::with_capacity(records),
            parents: Vec::new(),
            by_uuid: HashMap::with_capacity(records),
            moved_hooks: Vec::new(),
        }
    }

    /// Adds a record. Returns false if it is a copy of one with content.
    fn add(&mut self, at: usize, entry: &'a ClaudeEntry, entries: &[ClaudeEntry]) -> bool {
        if let Some(uuid) = uuid(entry) {
            let place = self.by_uuid.entry(uuid);
            if let Occupied(first) = &place
                && !is_other(&entries[self.entries[*first.get()]])
            {
                return false;
            }
            place.insert_entry(self.entries.len());
        }
        self.entries.push(at);
        true
    }

    /// Sets the parents, which may follow their children in the file. A missing parent is replaced by the previous
    /// record.
    fn link(&mut self, entries: &[ClaudeEntry]) {
        // The last record that is not the progress of a hook.
        let mut last = None;
        for node in 0..self.entries.len() {
            let named = self.parent(node, entries);
            let is_hook = entries[self.entries[node]].label == HOOK_PROGRESS;
            let parent = if is_hook {
                let latest = named.and_then(|named| self.latest_after(named, last));
                if let (Some(named), Some(latest)) = (named, latest)
                    && named != latest
                {
                    self.moved_hooks.push((node, named, latest));
                }
                latest.or(named)
            } else {
                last = Some(node);
                named
            };
            self.parents.push(parent);
        }
    }

    /// Returns the named parent of a record, or the previous record if the named one is missing.
    fn parent(&self, node: usize, entries: &[ClaudeEntry]) -> Option<usize> {
        let entry = |node: usize| &entries[self.entries[node]];
        let named = entry(node).node.as_ref().and_then(|n| n.parent.as_ref());
        let before = node.checked_sub(1);
        // Usually it is the previous record. A record without content may have a copy with content.
        let is_parent = |before: &ClaudeEntry| uuid(before) == named && !is_other(before);
        if before.is_some_and(|before| is_parent(entry(before))) {
            return before;
        }
        let find = |named: &Id| self.by_uuid.get(named).copied().filter(|p| *p != node);
        if let Some(parent) = named.and_then(find) {
            return Some(parent);
        }
        // A prompt without a parent starts anew if the records before it are linked.
        let is_linked = |before: usize| {
            let parent = entry(before).node.as_ref().and_then(|n| n.parent.as_ref());
            parent.is_some_and(|parent| self.by_uuid.contains_key(parent))
        };
        let starts = named.is_none() && first_user_text(&entry(node).kind).is_some();
        before.filter(|before| !(starts && is_linked(*before)))
    }

    /// Returns `last` if the conversation leads from `named` to it. A hook names the answer that it belongs to, but later
    /// records continue after its record.
    fn latest_after(&self, named: usize, last: Option<usize>) -> Option<usize> {
        let mut next = last;
        for _ in 0..MAX_HOOK_DISTANCE {
            match next? {
                node if node == named => return last,
                node => next = *self.parents.get(node)?,
            }
        }
        None
    }

    /// Returns the last record of the conversation: the last message, unless the file names a record on another branch
    /// later.
    fn leaf(&self, entries: &[ClaudeEntry]) -> Option<usize> {
        let last =
            (0..self.entries.len()).rev().find(|node| is_message(&entries[self.entries[*node]]))?;
        let named = entries.iter().enumerate().rev().find_map(|(at, entry)| match &entry.kind {
            EntryKind::Leaf(uuid) => Some((at, self.by_uuid.get(uuid).copied())),
            _ => None,
        });
        match named {
            Some((at, Some(leaf))) if at > self.entries[last] && !self.path(last)[leaf] => {
                Some(leaf)
            }
            _ => Some(last),
        }
    }

    /// Returns the number of messages on the path to this node that precede a hook's record and follow the record that
    /// it names.
    fn n_skipped(&self, entries: &[ClaudeEntry], leaf: usize) -> usize {
        if self.moved_hooks.is_empty() {
            return 0;
        }
        let path = self.path(leaf);
        let mut skipped = HashSet::new();
        for (_, named, latest) in self.moved_hooks.iter().filter(|(hook, ..)| path[*hook]) {
            let mut next = Some(*latest);
            while let Some(node) = next.filter(|node| node != named && skipped.insert(*node)) {
                next = self.parents[node];
            }
        }
        skipped.iter().filter(|node| is_message(&entries[self.entries[**node]])).count()
    }

    /// Returns whether each node is on the path to this one.
    fn path(&self, leaf: usize) -> Vec<bool> {
        let mut is_on = vec![false; self.entries.len()];
        let mut next = Some(leaf);
        while let Some(node) = next.filter(|node| !is_on[*node]) {
            is_on[node] = true;
            next = self.parents[node];
        }
        is_on
    }

    /// Returns the branches with user messages and answers: whether each node belongs to the branch, and its first user
    /// text. Other branches are mere retries and are left out.
    fn branches(&self, entries: &[ClaudeEntry], main: &[bool]) -> Vec<(Vec<bool>, String)> {
        let mut visited = main.to_vec();
        let mut found = Vec::new();
        for leaf in (0..visited.len()).rev() {
            if visited[leaf] || !is_message(&entries[self.entries[leaf]]) {
                continue;
            }
            let (mut user_text, mut is_answered) = (None, false);
            let mut next = Some(leaf);
            while let Some(node) = next.filter(|node| !visited[*node]) {
                visited[node] = true;
                let kind = &entries[self.entries[node]].kind;
                user_text = first_user_text(kind).or(user_text);
                is_answered |= matches!(kind, EntryKind::Answer(_));
                next = self.parents[node];
            }
            let Some(user_text) = user_text.filter(|_| is_answered) else {
                continue;
            };
            let kept = self.kept(entries, leaf);
            for (visited, kept) in visited.iter_mut().zip(&kept) {
                *visited |= kept;
            }
            found.push((kept, user_text));
            if found.len() == MAX_BRANCHES {
                break;
            }
        }
        found.reverse();
        found
    }

    /// Returns whether each node belongs to the conversation that leads to this one.
    fn kept(&self, entries: &[ClaudeEntry], leaf: usize) -> Vec<bool> {
        let path = self.path(leaf);
        if path.iter().all(|on| *on) {
            return path;
        }
        let course = CourseCalls::new(
            path.iter().zip(&self.entries).filter(|(on, _)| **on).map(|(_, at)| &entries[*at]),
            entries,
        );
        let mut kept: Vec<Option<bool>> = path.iter().map(|on| on.then_some(true)).collect();
        for node in 0..kept.len() {
            let mut path_nodes = Vec::new();
            let mut next = Some(node);
            while let Some(node) = next.filter(|node| kept[*node].is_none()) {
                // Until it is known. A cycle of parents is left out.
                kept[node] = Some(false);
                path_nodes.push(node);
                next = self.parents[node];
            }
            let mut is_kept = next.is_none_or(|node| kept[node] == Some(true));
            for node in path_nodes.into_iter().rev() {
                is_kept = is_kept && course.holds(&entries[self.entries[node]]);
                kept[node] = Some(is_kept);
            }
        }
        kept.into_iter().map(|kept| kept == Some(true)).collect()
    }
}

/// Answers of a conversation and their calls, which decide which side branches belong to it.
struct CourseCalls<'a> {
    groups: HashSet<&'a str>,
    calls: HashSet<&'a str>,
}

impl<'a> CourseCalls<'a> {
    fn new(path: impl Iterator<Item = &'a ClaudeEntry>, entries: &'a [ClaudeEntry]) -> Self {
        let groups: HashSet<_> = path.filter_map(group).collect();
        let lines = entries.iter().filter(|entry| group(entry).is_some_and(|g| groups.contains(g)));
        let calls = lines
            .filter_map(|entry| {
                if let EntryKind::Answer(answer) = &entry.kind { Some(&answer.parts) } else { None }
            })
            .flatten()
            .filter_map(|part| {
                if let Body::ToolCall { call, .. } = &part.body { Some(&**call) } else { None }
            })
            .collect();
        Self { groups, calls }
    }

    /// Returns whether a record on a side branch belongs to the conversation.
    fn holds(&self, entry: &ClaudeEntry) -> bool {
        match &entry.kind {
            EntryKind::Answer(_) => group(entry).is_some_and(|g| self.groups.contains(g)),
            EntryKind::Message(message) if message.origin == MessageOrigin::Own => message
                .parts
                .iter()
                .any(|part| matches!(&part.body, Body::ToolResult { call, .. } if self.calls.contains(&**call))),
            _ => true,
        }
    }
}

/// Returns the user's own text of a record.
fn first_user_text(kind: &EntryKind) -> Option<String> {
    match kind {
        EntryKind::Message(message) if !message.is_injected && !message.is_summary => {
            records::user_text(&message.parts).and_then(title::first_line)
        }
        _ => None,
    }
}

fn group(entry: &ClaudeEntry) -> Option<&str> {
    if let EntryKind::Answer(answer) = &entry.kind { answer.group.as_deref() } else { None }
}
