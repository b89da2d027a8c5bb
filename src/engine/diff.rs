//! What a named action changed: told from the messages before and after, so that the books are kept where something is
//! different and nowhere else.

use super::Case;
use super::pieces::{Origin, Said, each_origin, each_piece};
use crate::chat::ChatMessage;

/// Where messages differ.
#[derive(Debug)]
pub(super) struct Diff<'a> {
    case: &'a Case,
    after: &'a [ChatMessage],
    /// Entries of which something may be different, by id.
    touched: Vec<bool>,
    /// Messages afterwards that stood there before, by place.
    is_same: Vec<bool>,
    /// What was there before in the entries that are touched.
    was: Saids<'a>,
}

impl<'a> Diff<'a> {
    /// Compares messages before and after, of entries with ids below `next_id`.
    pub(super) fn new(
        case: &'a Case,
        (before, after): (&'a [ChatMessage], &'a [ChatMessage]),
        next_id: u32,
    ) -> Self {
        let n_origins = case.index.message_of.len() + next_id as usize;
        let mut diff = Self {
            case,
            after,
            touched: vec![false; next_id as usize],
            is_same: vec![false; after.len()],
            was: Saids::of_all(n_origins),
        };
        let changed = diff.compare(before);
        for message in after.iter().zip(&diff.is_same).filter(|(_, same)| !**same) {
            touch(case, &mut diff.touched, message.0);
        }
        for message in changed.iter().map(|idx| &before[*idx]) {
            touch(case, &mut diff.touched, message);
            diff.was.take_in(case, message);
        }
        diff
    }

    /// Whether an entry may be another afterwards.
    pub(super) fn touches(&self, id: u32) -> bool {
        self.touched.get(id as usize).is_none_or(|touched| *touched)
    }

    /// Notes which messages stand there as before; indices of those before that do not.
    fn compare(&mut self, before: &[ChatMessage]) -> Vec<usize> {
        let after = self.after;
        let mut changed = Vec::new();
        let mut places: Option<Vec<u32>> = None;
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
                let places =
                    places.get_or_insert_with(|| places_of(self.case, before, self.was.at.len()));
                let place = places.get(Saids::key(self.case, first));
                let place = place.map_or(0, |place| *place as usize);
                place.checked_sub(1).filter(|at| *at >= next)
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

    /// Gives the entries of the pieces of each message afterwards, in order (none for what is new), and then what was
    /// and is said in entries that are touched.
    pub(super) fn each_after(
        &mut self,
        mut give: impl FnMut(&ChatMessage, &[Option<u32>]),
    ) -> Told<'a> {
        let mut now = Saids::of_all(self.was.at.len());
        let case = self.case;
        let mut ids = Vec::new();
        for (message, is_same) in self.after.iter().zip(&self.is_same) {
            ids.clear();
            each_origin(message, |origin| {
                ids.push(origin.map(|origin| id_of(case, origin)));
            });
            give(message, &ids);
            if ids.iter().flatten().any(|id| self.touches(*id)) {
                now.take_in(case, message);
                if *is_same {
                    self.was.take_in(case, message);
                }
            }
        }
        Told {
            was: std::mem::take(&mut self.was),
            now,
        }
    }
}

/// The entry that a piece belongs to.
pub(super) fn id_of(case: &Case, origin: Origin) -> u32 {
    match origin {
        Origin::Part(part) => case.index.message_of[part as usize],
        Origin::Entry(id) => id,
    }
}

fn touch(case: &Case, touched: &mut [bool], message: &ChatMessage) {
    each_origin(message, |origin| {
        let id = origin.map(|origin| id_of(case, origin) as usize);
        if let Some(touched) = id.and_then(|id| touched.get_mut(id)) {
            *touched = true;
        }
    });
}

pub(super) fn first_origin(message: &ChatMessage) -> Option<Origin> {
    let mut first = None;
    each_origin(message, |origin| first = first.or(origin));
    first
}

/// The message that each origin is the first of, counted from 1.
fn places_of(case: &Case, before: &[ChatMessage], n_origins: usize) -> Vec<u32> {
    let mut places = vec![0; n_origins];
    for (idx, message) in before.iter().enumerate() {
        if let Some(first) = first_origin(message) {
            let key = Saids::key(case, first);
            if let Some(place) = places.get_mut(key) {
                *place = idx as u32 + 1;
            }
        }
    }
    places
}

/// What is said in the entries that are touched.
#[derive(Debug, Default)]
pub(super) struct Told<'a> {
    /// Before.
    pub(super) was: Saids<'a>,
    /// Afterwards.
    pub(super) now: Saids<'a>,
}

/// What pieces say, by where they came from.
#[derive(Debug, Default)]
pub(super) struct Saids<'a> {
    /// Places in the list, counted from 1; empty where there are so few that they are looked for one by one.
    at: Vec<u32>,
    said: Vec<(Origin, Said<'a>)>,
}

impl<'a> Saids<'a> {
    /// For pieces of so many origins.
    fn of_all(n_origins: usize) -> Self {
        Self {
            at: vec![0; n_origins],
            said: Vec::new(),
        }
    }

    fn key(case: &Case, origin: Origin) -> usize {
        match origin {
            Origin::Part(part) => part as usize,
            Origin::Entry(id) => case.index.message_of.len() + id as usize,
        }
    }

    /// Forgets all, to be used again.
    pub(super) fn clear(&mut self) {
        if !self.at.is_empty() {
            self.at.fill(0);
        }
        self.said.clear();
    }

    /// Takes in what a message says.
    pub(super) fn take_in(&mut self, case: &Case, message: &'a ChatMessage) {
        each_piece(message, |part, said| {
            let Some(origin) = part.map(Origin::of) else {
                return;
            };
            if self.at.is_empty() {
                self.said.push((origin, said));
            } else if let Some(at) = self.at.get_mut(Self::key(case, origin)) {
                self.said.push((origin, said));
                *at = self.said.len() as u32;
            }
        });
    }

    /// What a piece says; nothing if it is not there.
    pub(super) fn get(&self, case: &Case, origin: Origin) -> Option<Said<'a>> {
        if self.at.is_empty() {
            let found = self.said.iter().rev().find(|(known, _)| *known == origin);
            return found.map(|(_, said)| *said);
        }
        let at = *self.at.get(Self::key(case, origin))? as usize;
        at.checked_sub(1).map(|idx| self.said[idx].1)
    }
}
