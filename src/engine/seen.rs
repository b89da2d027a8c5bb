//! What each call saw of the session, as changes from call to call: messages that went, came back or were shortened, and
//! the texts that a policy put in their place.
//!
//! Mostly a call sees what the one before saw and what was said since; that is not written down. A context knows from
//! which entry on it is not what the last call saw ([`super::prefix`]), so only what stands behind that is compared, and
//! views for one call cost what they change. It is exact but for one thing: an edit that weighs what the one before
//! weighed is taken for the same, as it is for the cache.

use super::Case;
use super::context::{Context, Edited, Entry, EntryBody, Left, PartFate};
use crate::session::WrittenKind;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What the calls of a run saw. Before the first change that names it a message of the history is seen whole, from the
/// first call after it was said; a message that is no history is not seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Changes of messages, by step.
    pub changes: Vec<SeenChange>,
    /// Texts of the policy's own.
    pub texts: Vec<SeenText>,
    /// When these came and went, by step.
    pub text_changes: Vec<TextChange>,
    /// Parts of messages that are seen in part, by the place that [`Sight::Partly`] names.
    pub parts: Vec<PartSight>,
}

/// Messages that a call sees otherwise than the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenChange {
    /// Index of the step whose call is the first that sees them so.
    pub step: u32,
    /// Indices of the messages.
    pub messages: Range<u32>,
    /// What it sees of each.
    pub now: Sight,
}

/// What a call sees of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// All of it.
    Whole,
    /// Nothing.
    Gone,
    /// Some of its parts; theirs stand in [`Seen::parts`] from this place on.
    Partly(u32),
}

/// What a call sees of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartSight {
    /// All of it.
    Kept,
    /// Nothing.
    Gone,
    /// A text in its place, by its index in [`Seen::texts`].
    Text(u32),
}

/// A text that a policy put into the context.
#[derive(Clone, Debug)]
pub struct SeenText {
    /// What it says.
    pub text: Arc<str>,
    /// What it is.
    pub kind: SeenKind,
    /// It stands in for a text that nobody knows yet.
    pub is_predicted: bool,
    /// True tokens.
    pub tokens: u32,
}

/// What a text of a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenKind {
    /// A summary.
    Summary,
    /// Another message.
    Notice,
    /// It stands in the place of a part, of which nothing is left.
    Marker,
    /// What is left of a part.
    Remainder,
}

/// A text that came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// Index of the step whose call is the first that sees it so.
    pub step: u32,
    /// Index of the text. Remainders are not among these: they come and go with their messages.
    pub text: u32,
    /// Whether it is there now.
    pub is_there: bool,
}

impl Seen {
    /// What is seen of so many parts, from the place that [`Sight::Partly`] names.
    pub fn parts_from(&self, first: u32, n_parts: usize) -> &[PartSight] {
        &self.parts[first as usize..first as usize + n_parts]
    }
}

/// Writes down what calls see.
#[derive(Debug, Default)]
pub(super) struct Watch {
    seen: Seen,
    /// What the last call saw, in order.
    last: Vec<Seat>,
    /// What it saw of each message.
    sights: Vec<Sight>,
    /// The call that last placed each message, counted from 1.
    placed: Vec<u32>,
    /// How often each text is there.
    there: Vec<u32>,
    /// Texts that this call touched, with whether they were there before it.
    touched: Vec<(u32, bool)>,
    /// Texts by what they say, and predicted ones by their events.
    known: HashMap<(Arc<str>, Option<u32>, bool), u32>,
    /// The text that was looked up last.
    newest: Option<(Arc<str>, u32, u32)>,
    /// The last call accounts for the messages before this index.
    messages_end: usize,
    calls: u32,
}

/// One entry of what a call saw.
#[derive(Clone, Copy, Debug)]
enum Seat {
    Message(u32),
    Text(u32),
}

impl Watch {
    /// Nothing was seen yet.
    pub(super) fn new(case: &Case) -> Self {
        let n = case.session.messages.len();
        Self {
            last: Vec::with_capacity(n),
            sights: vec![Sight::Gone; n],
            placed: vec![0; n],
            ..Self::default()
        }
    }

    /// What was written down.
    pub(super) fn finish(&mut self) -> Seen {
        std::mem::take(&mut self.seen)
    }

    /// A call sees this context, of which so many entries are what the last call saw there.
    pub(super) fn note(&mut self, case: &Case, context: &Context, (step, n_same): (usize, usize)) {
        let step = step as u32;
        self.calls += 1;
        let n_same = n_same.min(self.last.len()).min(context.entries.len());
        let (left, entries) = (self.last.split_off(n_same), &context.entries[n_same..]);
        let sights = &self.sights;
        let stays = |(seat, entry): (&Seat, &Entry)| match (seat, &entry.body) {
            (Seat::Message(was), EntryBody::Original(is)) => {
                was == is && sights[*was as usize] == Sight::Whole
            }
            _ => false,
        };
        // What stands where it stood, as it was said, need not be looked at again.
        let stay: Vec<bool> = left.iter().zip(entries).map(stays).collect();
        let stays = |nth: usize| stay.get(nth).copied().unwrap_or(false);
        for (_, seat) in left.iter().enumerate().filter(|(nth, _)| !stays(*nth)) {
            match *seat {
                Seat::Text(text) => self.count(text, false),
                Seat::Message(message) => self.count_in(case, message, false),
            }
        }
        let new = self.messages_end..context.messages_end;
        for (nth, entry) in entries.iter().enumerate() {
            if stays(nth) {
                self.last.push(left[nth]);
                continue;
            }
            match &entry.body {
                EntryBody::Written(written) => {
                    let kind = match written.kind {
                        WrittenKind::Summary => SeenKind::Summary,
                        WrittenKind::Notice => SeenKind::Notice,
                    };
                    let known = SeenText {
                        text: Arc::clone(&written.text),
                        kind,
                        is_predicted: written.is_predicted,
                        tokens: entry.tokens,
                    };
                    let text = self.text(known, written.event);
                    self.count(text, true);
                    self.last.push(Seat::Text(text));
                }
                EntryBody::Original(message) => {
                    self.place(case, *message, Sight::Whole, (step, &new));
                }
                EntryBody::Edited(edited) => {
                    let sight = self.sight(context, edited);
                    self.place(case, edited.message, sight, (step, &new));
                }
            }
        }
        for (nth, seat) in left.into_iter().enumerate() {
            if let Seat::Message(message) = seat
                && !stays(nth)
                && self.placed[message as usize] != self.calls
            {
                self.sights[message as usize] = Sight::Gone;
                self.change(step, message, Sight::Gone);
            }
        }
        self.join(case, step, new);
        self.settle_texts(step);
    }

    /// A message stands next.
    fn place(
        &mut self,
        case: &Case,
        message: u32,
        sight: Sight,
        (step, new): (u32, &Range<usize>),
    ) {
        let idx = message as usize;
        let was = std::mem::replace(&mut self.sights[idx], sight);
        self.placed[idx] = self.calls;
        self.last.push(Seat::Message(message));
        if sight != Sight::Whole {
            self.count_in(case, message, true);
        }
        // What is new is told of once all stands.
        if was != sight && !(new.contains(&idx) && case.index.in_history(idx)) {
            self.change(step, message, sight);
        }
    }

    /// Messages of the history are seen from now on: whole, unless this says otherwise.
    fn join(&mut self, case: &Case, step: u32, new: Range<usize>) {
        self.messages_end = self.messages_end.max(new.end);
        for message in new {
            let sight = self.sights[message];
            if sight != Sight::Whole && case.index.in_history(message) {
                self.change(step, message as u32, sight);
            }
        }
    }

    fn change(&mut self, step: u32, message: u32, now: Sight) {
        if let Some(last) = self.seen.changes.last_mut()
            && (last.step, last.now, last.messages.end) == (step, now, message)
        {
            last.messages.end += 1;
            return;
        }
        let messages = message..message + 1;
        self.seen.changes.push(SeenChange {
            step,
            messages,
            now,
        });
    }

    /// What is seen of a message of which some parts changed.
    fn sight(&mut self, context: &Context, edited: &Edited) -> Sight {
        let first = self.seen.parts.len();
        for fate in edited.parts.as_slice() {
            let sight = match fate {
                PartFate::Kept => PartSight::Kept,
                PartFate::Removed { .. } => PartSight::Gone,
                PartFate::Cleared { marker } => {
                    let marker = &context.markers[*marker as usize];
                    let kind = match marker.left {
                        Left::All => None,
                        Left::Some => Some(SeenKind::Remainder),
                        Left::Nothing => Some(SeenKind::Marker),
                    };
                    kind.map_or(PartSight::Kept, |kind| {
                        let text = SeenText {
                            text: Arc::clone(&marker.text),
                            kind,
                            is_predicted: marker.is_predicted,
                            tokens: marker.tokens,
                        };
                        PartSight::Text(self.text(text, marker.event))
                    })
                }
            };
            self.seen.parts.push(sight);
        }
        let (before, now) = self.seen.parts.split_at(first);
        let sight = match self.sights[edited.message as usize] {
            _ if now.iter().all(|part| *part == PartSight::Kept) => Sight::Whole,
            Sight::Partly(known) if before[known as usize..].starts_with(now) => {
                Sight::Partly(known)
            }
            _ => return Sight::Partly(first as u32),
        };
        self.seen.parts.truncate(first);
        sight
    }

    /// The index of a text. What is predicted is another text with every event, though it reads alike.
    fn text(&mut self, text: SeenText, event: u32) -> u32 {
        let is_remainder = text.kind == SeenKind::Remainder;
        if let Some((newest, of, idx)) = &self.newest
            && Arc::ptr_eq(newest, &text.text)
            && (!text.is_predicted || *of == event)
            && is_remainder == (self.seen.texts[*idx as usize].kind == SeenKind::Remainder)
        {
            return *idx;
        }
        let key = (
            Arc::clone(&text.text),
            text.is_predicted.then_some(event),
            is_remainder,
        );
        let (seen, there) = (&mut self.seen, &mut self.there);
        let idx = *self.known.entry(key).or_insert_with(|| {
            seen.texts.push(text.clone());
            there.push(0);
            seen.texts.len() as u32 - 1
        });
        self.newest = Some((text.text, event, idx));
        idx
    }

    /// The texts in the place of a message's parts come or go.
    fn count_in(&mut self, case: &Case, message: u32, comes: bool) {
        let Sight::Partly(first) = self.sights[message as usize] else {
            return;
        };
        let n_parts = case.index.parts(message as usize).len();
        for part in first as usize..first as usize + n_parts {
            if let PartSight::Text(text) = self.seen.parts[part]
                && self.seen.texts[text as usize].kind != SeenKind::Remainder
            {
                self.count(text, comes);
            }
        }
    }

    fn count(&mut self, text: u32, comes: bool) {
        let there = &mut self.there[text as usize];
        let was_there = *there > 0;
        *there = if comes { *there + 1 } else { *there - 1 };
        if was_there != (*there > 0) {
            self.touched.push((text, was_there));
        }
    }

    /// Writes down which texts came and went.
    fn settle_texts(&mut self, step: u32) {
        let mut touched = std::mem::take(&mut self.touched);
        // Of several touches the first knows what was before.
        touched.sort_by_key(|(text, _)| *text);
        touched.dedup_by_key(|(text, _)| *text);
        for (text, was_there) in touched.drain(..) {
            let is_there = self.there[text as usize] > 0;
            if is_there != was_there {
                self.seen.text_changes.push(TextChange {
                    step,
                    text,
                    is_there,
                });
            }
        }
        self.touched = touched;
    }
}
