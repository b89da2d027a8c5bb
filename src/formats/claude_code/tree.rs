//! Which records are the conversation: the file is a forest of records, and a person may have gone back.
//!
//! Records branch all the time without anybody going back: parallel tool calls, hooks, progress. So whatever is
//! not on the way from the first record to the last is left out only where it is another course of the
//! conversation: another prompt or another answer at the same place, and all that follows from it.

use super::entry::{Beside, Entry, What};
use super::id::Id;
use super::records;
use crate::formats::title;
use crate::session::Body;
use std::collections::hash_map::Entry::Occupied;
use std::collections::{HashMap, HashSet};

/// What a record is to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Part of it.
    Main,
    /// On a branch that was left.
    Abandoned,
    /// A copy of a record before it.
    Copy,
    /// Of another conversation (a sub-agent's), or none.
    Aside,
}

/// One course of the conversation.
#[derive(Debug)]
pub(super) struct Course {
    /// The place of every record in it.
    pub places: Vec<Place>,
    /// What a person first said that the main course lacks; none for the main course.
    pub words: Option<String>,
}

/// No more branches than this are conversations of their own.
const MOST_BRANCHES: usize = 50;
/// The courses of the conversation: the main one, then those that a person went back from, in order of their ends.
pub(super) fn courses(entries: &[Entry]) -> Vec<Course> {
    let is_sidechain = !entries.iter().any(|e| speaks(e) && is_in(e, false));
    let mut places = vec![Place::Aside; entries.len()];
    let mut tree = Tree::of_most(entries.len());
    for (at, entry) in entries
        .iter()
        .enumerate()
        .filter(|(_, e)| is_in(e, is_sidechain))
    {
        if tree.add(at, entry, entries) {
            places[at] = Place::Main;
        } else {
            places[at] = Place::Copy;
        }
    }
    tree.link(entries);
    let Some(leaf) = tree.leaf(entries) else {
        let words = None;
        return vec![Course { places, words }];
    };
    let main = tree.kept(entries, leaf);
    let branches = tree.branches(entries, &main);
    let course = |kept: &[bool], words| {
        let mut places = places.clone();
        for (node, _) in kept.iter().enumerate().filter(|(_, is_kept)| !**is_kept) {
            places[tree.entries[node]] = Place::Abandoned;
        }
        Course { places, words }
    };
    let branches = branches.into_iter();
    let branches = branches.map(|(kept, words)| course(&kept, Some(words)));
    std::iter::once(course(&main, None))
        .chain(branches)
        .collect()
}

fn is_in(entry: &Entry, is_sidechain: bool) -> bool {
    entry
        .node
        .as_ref()
        .is_some_and(|n| n.is_sidechain == is_sidechain)
}

/// A message of either side, rather than an attachment.
pub(super) fn speaks(entry: &Entry) -> bool {
    match &entry.what {
        What::Said(said) => said.beside != Beside::Attachment,
        What::Answered(_) => true,
        _ => false,
    }
}

pub(super) fn uuid(entry: &Entry) -> Option<&Id> {
    entry.node.as_ref().and_then(|n| n.uuid.as_ref())
}

fn is_aside(entry: &Entry) -> bool {
    matches!(entry.what, What::Aside)
}

/// The records that have a place in the conversation, in file order.
struct Tree<'a> {
    /// Index of the entry, by node.
    entries: Vec<usize>,
    /// Index of the node before it, by node.
    parents: Vec<Option<usize>>,
    by_uuid: HashMap<&'a Id, usize>,
}

impl<'a> Tree<'a> {
    /// Room for so many records.
    fn of_most(records: usize) -> Self {
        Self {
            entries: Vec::with_capacity(records),
            parents: Vec::new(),
            by_uuid: HashMap::with_capacity(records),
        }
    }

    /// Adds a record; false if it is a copy of one that says something.
    fn add(&mut self, at: usize, entry: &'a Entry, entries: &[Entry]) -> bool {
        if let Some(uuid) = uuid(entry) {
            let place = self.by_uuid.entry(uuid);
            if let Occupied(first) = &place
                && !is_aside(&entries[self.entries[*first.get()]])
            {
                return false;
            }
            place.insert_entry(self.entries.len());
        }
        self.entries.push(at);
        true
    }

    /// Parents may stand behind their children. One that is nowhere is taken to be the record before.
    fn link(&mut self, entries: &[Entry]) {
        let parent = |node: usize| {
            let named = entries[self.entries[node]]
                .node
                .as_ref()
                .and_then(|n| n.parent.as_ref());
            let before = node.checked_sub(1);
            // Mostly it is the record before; one that says nothing may have a second that does.
            let is_parent = |before: &Entry| uuid(before) == named && !is_aside(before);
            if before.is_some_and(|before| is_parent(&entries[self.entries[before]])) {
                return before;
            }
            let found = named.and_then(|uuid| self.by_uuid.get(uuid).copied());
            found.filter(|p| *p != node).or(before)
        };
        self.parents = (0..self.entries.len()).map(parent).collect();
    }

    /// The last record of the conversation: the last one that speaks, unless the file says later that the
    /// conversation stands on another branch.
    fn leaf(&self, entries: &[Entry]) -> Option<usize> {
        let last = (0..self.entries.len())
            .rev()
            .find(|node| speaks(&entries[self.entries[*node]]))?;
        let said = entries
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, entry)| match &entry.what {
                What::Leaf(uuid) => Some((at, self.by_uuid.get(uuid).copied())),
                _ => None,
            });
        match said {
            Some((at, Some(leaf))) if at > self.entries[last] && !self.path(last)[leaf] => {
                Some(leaf)
            }
            _ => Some(last),
        }
    }

    /// Which nodes lie on the way to this one.
    fn path(&self, leaf: usize) -> Vec<bool> {
        let mut is_on = vec![false; self.entries.len()];
        let mut next = Some(leaf);
        while let Some(node) = next.filter(|node| !is_on[*node]) {
            is_on[node] = true;
            next = self.parents[node];
        }
        is_on
    }

    /// The branches that a person spoke on and was answered on: which nodes belong to each, and the person's first words
    /// on it. Everything else that is left out was only tried again.
    fn branches(&self, entries: &[Entry], main: &[bool]) -> Vec<(Vec<bool>, String)> {
        let mut seen = main.to_vec();
        let mut found = Vec::new();
        for leaf in (0..seen.len()).rev() {
            if seen[leaf] || !speaks(&entries[self.entries[leaf]]) {
                continue;
            }
            let (mut words, mut is_answered) = (None, false);
            let mut next = Some(leaf);
            while let Some(node) = next.filter(|node| !seen[*node]) {
                seen[node] = true;
                let what = &entries[self.entries[node]].what;
                words = persons_words(what).or(words);
                is_answered |= matches!(what, What::Answered(_));
                next = self.parents[node];
            }
            let Some(words) = words.filter(|_| is_answered) else {
                continue;
            };
            let kept = self.kept(entries, leaf);
            for (seen, kept) in seen.iter_mut().zip(&kept) {
                *seen |= kept;
            }
            found.push((kept, words));
            if found.len() == MOST_BRANCHES {
                break;
            }
        }
        found.reverse();
        found
    }

    /// Which nodes belong to the conversation that leads to this one.
    fn kept(&self, entries: &[Entry], leaf: usize) -> Vec<bool> {
        let path = self.path(leaf);
        if path.iter().all(|on| *on) {
            return path;
        }
        let course = Calls::new(
            path.iter()
                .zip(&self.entries)
                .filter(|(on, _)| **on)
                .map(|(_, at)| &entries[*at]),
            entries,
        );
        let mut kept: Vec<Option<bool>> = path.iter().map(|on| on.then_some(true)).collect();
        for node in 0..kept.len() {
            let mut way = Vec::new();
            let mut next = Some(node);
            while let Some(node) = next.filter(|node| kept[*node].is_none()) {
                // Until it is known; a ring of parents leads nowhere.
                kept[node] = Some(false);
                way.push(node);
                next = self.parents[node];
            }
            let mut is_kept = next.is_none_or(|node| kept[node] == Some(true));
            for node in way.into_iter().rev() {
                is_kept = is_kept && course.holds(&entries[self.entries[node]]);
                kept[node] = Some(is_kept);
            }
        }
        kept.into_iter().map(|kept| kept == Some(true)).collect()
    }
}

/// The answers of the conversation and the calls in them, by which its side branches are told.
struct Calls<'a> {
    groups: HashSet<&'a str>,
    calls: HashSet<&'a str>,
}

impl<'a> Calls<'a> {
    fn new(path: impl Iterator<Item = &'a Entry>, entries: &'a [Entry]) -> Self {
        let groups: HashSet<_> = path.filter_map(group).collect();
        let lines = entries
            .iter()
            .filter(|entry| group(entry).is_some_and(|g| groups.contains(g)));
        let calls = lines
            .filter_map(|entry| {
                if let What::Answered(answer) = &entry.what {
                    Some(&answer.parts)
                } else {
                    None
                }
            })
            .flatten()
            .filter_map(|part| {
                if let Body::ToolCall { call, .. } = &part.body {
                    Some(&**call)
                } else {
                    None
                }
            })
            .collect();
        Self { groups, calls }
    }

    /// Whether a record that branches off here belongs to the conversation all the same.
    fn holds(&self, entry: &Entry) -> bool {
        match &entry.what {
            What::Answered(_) => group(entry).is_some_and(|g| self.groups.contains(g)),
            What::Said(said) if said.beside == Beside::Nothing => said
                .parts
                .iter()
                .any(|part| matches!(&part.body, Body::ToolResult { call, .. } if self.calls.contains(&**call))),
            _ => true,
        }
    }
}

/// What a person said for its own sake.
fn persons_words(what: &What) -> Option<String> {
    match what {
        What::Said(said) if !said.is_injected && !said.is_summary => {
            records::own_words(&said.parts).and_then(title::of)
        }
        _ => None,
    }
}

fn group(entry: &Entry) -> Option<&str> {
    if let What::Answered(answer) = &entry.what {
        answer.group.as_deref()
    } else {
        None
    }
}
