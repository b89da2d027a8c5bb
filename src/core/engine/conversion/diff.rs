//! Differences that a named action made, computed from the messages before and after, so that only changed entries are
//! updated.
//!
//! Both lists are walked together while their messages are equal. A message that differs is looked up by the part that
//! its first piece came from; everything between the two positions was removed.

use crate::chat::{ChatMessage, Content, Text};
use crate::engine::agent_messages::pieces::{Origin, PieceContent, each_origin, each_piece};
use crate::engine::case::Case;
use std::collections::{HashMap, HashSet};

/// Differences between two lists of messages.
#[derive(Debug)]
pub(crate) struct Diff<'a> {
    case: &'a Case,
    after: &'a [ChatMessage],
    /// Ids of entries that may differ; those from `next_id` on are new.
    touched: HashSet<u32>,
    next_id: u32,
    /// Whether each message afterwards was in the list before, by position.
    is_same: Vec<bool>,
    /// Previous content of the changed entries.
    was: PieceContents<'a>,
}

impl<'a> Diff<'a> {
    /// Compares the messages before and after. Existing entries have ids below `next_id`.
    pub(crate) fn new(
        case: &'a Case,
        (before, after): (&'a [ChatMessage], &'a [ChatMessage]),
        next_id: u32,
    ) -> Self {
        let mut diff = Self {
            case,
            after,
            touched: HashSet::new(),
            next_id,
            is_same: vec![false; after.len()],
            was: PieceContents::indexed(),
        };
        let changed = diff.compare(before);
        for message in after.iter().zip(&diff.is_same).filter(|(_, same)| !**same) {
            touch(case, &mut diff.touched, message.0);
        }
        for message in changed.iter().map(|idx| &before[*idx]) {
            touch(case, &mut diff.touched, message);
            diff.was.take_in(message);
        }
        diff
    }

    /// Returns whether an entry may differ afterwards.
    pub(crate) fn touches(&self, id: u32) -> bool {
        id >= self.next_id || self.touched.contains(&id)
    }

    /// Records which messages are unchanged. Returns the indices of those before that are not.
    fn compare(&mut self, before: &[ChatMessage]) -> Vec<usize> {
        let after = self.after;
        let mut changed = Vec::new();
        let mut places: Option<HashMap<Origin, usize>> = None;
        let mut next = 0;
        for (message, is_same) in after.iter().zip(&mut self.is_same) {
            if before.get(next).is_some_and(|was| was == message) {
                *is_same = true;
                next += 1;
                continue;
            }
            let Some(first) = first_origin(message) else {
                continue;
            };
            let is_here = before.get(next).and_then(first_origin) == Some(first);
            let at = if is_here {
                Some(next)
            } else {
                let places = places.get_or_insert_with(|| places_of(before));
                places.get(&first).copied().filter(|at| *at >= next)
            };
            let Some(at) = at else { continue };
            changed.extend(next..at);
            *is_same = before[at] == *message;
            if !*is_same {
                changed.push(at);
            }
            next = at + 1;
        }
        changed.extend(next..before.len());
        changed
    }

    /// Passes the entry of each piece of each message afterwards to `give`, in order (none for a new piece). Then
    /// returns the content of the changed entries before and after.
    pub(super) fn each_after(
        &mut self,
        mut give: impl FnMut(&ChatMessage, &[Option<u32>]),
    ) -> Differences<'a> {
        let mut now = PieceContents::indexed();
        let case = self.case;
        let mut ids = Vec::new();
        for (message, is_same) in self.after.iter().zip(&self.is_same) {
            ids.clear();
            each_origin(message, |origin| {
                ids.push(origin.map(|origin| id_of(case, origin)));
            });
            give(message, &ids);
            if ids.iter().flatten().any(|id| self.touches(*id)) {
                now.take_in(message);
                if *is_same {
                    self.was.take_in(message);
                }
            }
        }
        Differences { was: std::mem::take(&mut self.was), now }
    }
}

/// Returns the entry that a piece belongs to.
pub(super) fn id_of(case: &Case, origin: Origin) -> u32 {
    match origin {
        Origin::Part(part) => case.index.message_of[part as usize],
        Origin::Entry(id) => id,
    }
}

fn touch(case: &Case, touched: &mut HashSet<u32>, message: &ChatMessage) {
    each_origin(message, |origin| {
        touched.extend(origin.map(|origin| id_of(case, origin)));
    });
}

pub(super) fn first_origin(message: &ChatMessage) -> Option<Origin> {
    // Most messages are a single text.
    if let (None, Content::Text(Text { part: Some(part), .. })) =
        (&message.reasoning, &message.content)
    {
        return Some(Origin::of(*part));
    }
    let mut first = None;
    each_origin(message, |origin| first = first.or(origin));
    first
}

/// Returns the last message that each origin is the first of.
fn places_of(before: &[ChatMessage]) -> HashMap<Origin, usize> {
    let messages = before.iter().enumerate();
    messages.filter_map(|(idx, message)| Some((first_origin(message)?, idx))).collect()
}

/// Content of the changed entries.
#[derive(Debug, Default)]
pub(crate) struct Differences<'a> {
    /// Before.
    pub(crate) was: PieceContents<'a>,
    /// Afterwards.
    pub(crate) now: PieceContents<'a>,
}

/// Content of pieces, by their origin.
#[derive(Debug, Default)]
pub(crate) struct PieceContents<'a> {
    /// Positions in the list; none for so few pieces that a linear search is faster.
    at: Option<HashMap<Origin, usize>>,
    contents: Vec<(Origin, PieceContent<'a>)>,
}

impl<'a> PieceContents<'a> {
    /// Creates an empty list with an index.
    fn indexed() -> Self {
        Self { at: Some(HashMap::new()), contents: Vec::new() }
    }

    /// Removes all content for reuse.
    pub(crate) fn clear(&mut self) {
        self.at.iter_mut().for_each(HashMap::clear);
        self.contents.clear();
    }

    /// Adds the pieces of a message.
    pub(super) fn take_in(&mut self, message: &'a ChatMessage) {
        each_piece(message, |part, content| {
            let Some(origin) = part.map(Origin::of) else {
                return;
            };
            if let Some(at) = &mut self.at {
                at.insert(origin, self.contents.len());
            }
            self.contents.push((origin, content));
        });
    }

    /// Returns the content of a piece; none if it does not exist.
    pub(crate) fn get(&self, origin: Origin) -> Option<PieceContent<'a>> {
        if let Some(at) = &self.at {
            return at.get(&origin).map(|idx| self.contents[*idx].1);
        }
        let found = self.contents.iter().rev().find(|(known, _)| *known == origin);
        found.map(|(_, content)| *content)
    }
}
