//! Writes a session's own document again with a managed conversation in it: every byte that has not to change
//! stays as it is.

mod body;
mod list;

use super::dialect::{Dialect, MARK, Writes};
use super::edit::{Editing, Fates};
use super::layout::{self, Layout};
use super::places::{Patch, patched, with_member, without_members};
use crate::formats::{CannotExport, json, mark};
use crate::progress::Progress;
use crate::session::{Managed, ManagedEntry, Session};
use std::borrow::Cow;
use std::collections::HashMap;

/// One element of the new list.
struct Piece<'a> {
    /// Which element of the file it is, answers after the list's own.
    place: Option<usize>,
    /// It is written as it stands there.
    is_untouched: bool,
    text: Cow<'a, [u8]>,
}

/// A document being written.
struct Writing<'a> {
    session: &'a Session,
    /// The document as it was.
    bytes: &'a [u8],
    layout: Layout,
    dialect: &'a Dialect,
    writes: &'a Writes,
    /// Which element starts at a place of the file.
    places: HashMap<usize, usize>,
    /// Whether an element is a message.
    is_message: Vec<bool>,
    /// The messages that each element holds.
    messages: Vec<Vec<usize>>,
}

/// Writes a conversation into the document it came from, for formats that hold no other's.
pub(in crate::formats) fn write_own_only(
    session: &Session,
    managed: &Managed,
    dialect: &Dialect,
) -> Result<Vec<u8>, CannotExport> {
    if session.source.format == dialect.name {
        return write_own(session, managed, dialect);
    }
    Err(CannotExport {
        reason: format!(
            "only a session of the format {0} can be written as {0}",
            dialect.name
        ),
    })
}

/// Writes a conversation into the document it came from.
pub(in crate::formats) fn write_own(
    session: &Session,
    managed: &Managed,
    dialect: &Dialect,
) -> Result<Vec<u8>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes.whole();
    let writing = Writing::new(session, bytes, dialect).ok_or_else(|| CannotExport {
        reason: "the conversation is not to be found in its file".to_owned(),
    })?;
    let mut pieces = writing.pieces(managed)?;
    let (mut patches, dropped) = writing.body(managed);
    let mut is_as_it_was = writing.is_as_it_was(&pieces);
    if !is_as_it_was || !patches.is_empty() || !dropped.is_empty() {
        pieces.retain(|piece| !writing.is_foreign(piece));
        writing.forget_counts(managed, &mut pieces);
        is_as_it_was = writing.is_as_it_was(&pieces);
        patches.extend(writing.mark(managed, &pieces, is_as_it_was));
    }
    let mut keys = dropped;
    if !is_as_it_was {
        patches.push((writing.layout.list.clone(), writing.list(&pieces)));
        patches.extend(writing.unreadable());
    }
    let layout = &writing.layout;
    let moved = layout.answers_in.filter(|_| !is_as_it_was);
    if layout.root == layout.body {
        keys.extend(moved);
    } else if let (Some(key), Some(root)) = (moved, &layout.root) {
        patches.extend(without_members(bytes, root, &[key]));
    }
    if let Some(body) = &layout.body {
        patches.extend(without_members(bytes, body, &keys));
    }
    let mut out = patched(bytes, &layout.whole, patches);
    if layout.is_one_of_many {
        out.push(b'\n');
    }
    Ok(out)
}

impl<'a> Writing<'a> {
    fn new(session: &'a Session, bytes: &'a [u8], dialect: &'a Dialect) -> Option<Self> {
        let starts: Vec<usize> = session
            .messages
            .iter()
            .filter_map(|m| Some(m.raw.first()?.start))
            .collect();
        let is_here = |layout: &Layout| {
            starts
                .first()
                .is_none_or(|start| layout.whole.contains(start))
        };
        let progress = Progress::default();
        let layout = layout::find(bytes, &dialect.shape, &progress, &mut Vec::new())
            .ok()?
            .into_iter()
            .find(is_here)?;
        let answers = layout.answers.iter().map(|a| &a.message);
        let spans = layout.elements.iter().chain(answers);
        let places: HashMap<usize, usize> = spans
            .enumerate()
            .map(|(idx, span)| (span.start, idx))
            .collect();
        let mut messages = vec![Vec::new(); places.len()];
        for (idx, message) in session.messages.iter().enumerate() {
            if let Some(span) = message.raw.first() {
                let place = *places.get(&span.start)?;
                messages.get_mut(place)?.push(idx);
            }
        }
        let is_message = messages.iter().map(|held| !held.is_empty()).collect();
        Some(Self {
            session,
            bytes,
            layout,
            dialect,
            writes: dialect.writes.as_ref()?,
            places,
            is_message,
            messages,
        })
    }

    /// Which element of the file holds a message; none where it stands in the body beside the list.
    fn place(&self, message: usize) -> Result<Option<usize>, CannotExport> {
        let missing = || CannotExport {
            reason: format!("the session has no message {}", message + 1),
        };
        let message = self.session.messages.get(message).ok_or_else(missing)?;
        let start = message.raw.first().map(|span| span.start);
        Ok(start.and_then(|start| self.places.get(&start).copied()))
    }

    /// The elements of the new list. What is no message stays with the message before it.
    fn pieces(&self, managed: &'a Managed) -> Result<Vec<Piece<'a>>, CannotExport> {
        let fates = Fates::new(managed);
        let mut pieces = Vec::new();
        let mut written = vec![false; self.is_message.len()];
        self.push_others(0, &mut pieces);
        for entry in &managed.entries {
            let message = match entry {
                ManagedEntry::Written { role, text, .. } => {
                    if !text.is_empty() {
                        let text = (self.writes.written)(*role, text).to_string().into_bytes();
                        pieces.push(Piece {
                            place: None,
                            is_untouched: false,
                            text: text.into(),
                        });
                    }
                    continue;
                }
                ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => *message,
            };
            // An element that holds several messages is written where the first of them stands.
            let Some(place) = self.place(message)?.filter(|place| !written[*place]) else {
                continue;
            };
            written[place] = true;
            if let Some(piece) = self.piece(place, &fates) {
                pieces.push(piece);
                self.push_others(place + 1, &mut pieces);
            }
        }
        Ok(pieces)
    }

    /// An element with what becomes of the messages that it holds; none where nothing of it is left.
    fn piece(&self, place: usize, fates: &Fates<'a>) -> Option<Piece<'a>> {
        let session = self.session;
        let messages = &self.messages[place];
        let editing = Editing::new(session, self.bytes, messages, |idx| {
            fates.of(idx, &session.messages[idx])
        });
        let is_untouched = editing.is_untouched();
        let text = if is_untouched {
            self.bytes[editing.span.clone()].into()
        } else {
            (self.writes.edit)(&editing)?.into()
        };
        Some(Piece {
            place: Some(place),
            is_untouched,
            text,
        })
    }

    /// The elements from `place` on, up to the next message.
    fn push_others(&self, place: usize, pieces: &mut Vec<Piece<'a>>) {
        let rest = self.layout.elements.iter().enumerate().skip(place);
        for (idx, span) in rest.take_while(|(idx, _)| !self.is_message[*idx]) {
            let text = self.bytes[span.clone()].into();
            pieces.push(Piece {
                place: Some(idx),
                is_untouched: true,
                text,
            });
        }
    }

    /// The list has the same elements in the same order.
    fn is_as_it_was(&self, pieces: &[Piece<'_>]) -> bool {
        let n_places = self.n_answers() + self.layout.elements.len();
        let is_there =
            |(idx, piece): (usize, &Piece<'_>)| piece.is_untouched && piece.place == Some(idx);
        pieces.len() == n_places && pieces.iter().enumerate().all(is_there)
    }

    /// Sets the counts between the messages to zero, which programs take for not known: what they counted is not there
    /// any more. The last of them carries the mark where the document has no other place for it.
    fn forget_counts(&self, managed: &Managed, pieces: &mut [Piece<'a>]) {
        let n_pieces = pieces.len();
        let mut mark = self
            .layout
            .root
            .is_none()
            .then(|| mark::mark(managed, Some(n_pieces)));
        for piece in pieces.iter_mut().rev() {
            if self.is_message(piece) {
                continue;
            }
            let Ok(mut record) = json::parse_lenient(&piece.text) else {
                continue;
            };
            let is_count = (self.dialect.step)(&record).is_some() || record.get(MARK).is_some();
            let Some(members) = record.as_object_mut().filter(|_| is_count) else {
                continue;
            };
            let numbers = members.values_mut().filter(|v| v.is_number());
            numbers.for_each(|number| *number = 0.into());
            members.remove(MARK);
            members.extend(mark.take().map(|mark| (MARK.to_owned(), mark)));
            piece.text = record.to_string().into_bytes().into();
        }
    }

    /// Whether a piece is a message: of the file, or one of ours.
    fn is_message(&self, piece: &Piece<'_>) -> bool {
        let is_message = |place: usize| self.is_message.get(place) == Some(&true);
        piece.place.is_none_or(is_message)
    }

    /// An element that no provider takes for a message: of a role that the format does not know, or in the list
    /// without any. A line without a role says something about the file and stays.
    fn is_foreign(&self, piece: &Piece<'_>) -> bool {
        if !self.dialect.is_request || self.is_message(piece) {
            return false;
        }
        let element = json::parse_lenient(&piece.text).ok();
        element.is_some_and(|e| self.is_list() || json::str_at(&e, &["role"]).is_some())
    }

    /// A patch that says that the list was changed, where the document reports calls and there is a place for it.
    fn mark(&self, managed: &Managed, pieces: &[Piece<'_>], is_as_it_was: bool) -> Option<Patch> {
        let bytes = self.bytes;
        let root = self.layout.root.as_ref()?;
        let mark = mark::mark(managed, Some(pieces.len()));
        let text = mark.to_string().into_bytes();
        if let Some(old) = json::member(bytes, root, MARK) {
            return Some((old, text));
        }
        let reports = |piece: &Piece<'_>| {
            json::parse_lenient(&piece.text).is_ok_and(|m| (self.dialect.step)(&m).is_some())
        };
        let has_usage = || self.session.steps.iter().any(|step| step.usage.is_some());
        let is_needed = managed.calibration.is_some()
            || has_usage() && (is_as_it_was || pieces.iter().any(reports));
        is_needed.then(|| with_member(bytes, root, MARK, &text))
    }

    /// How many answers stand beside the list.
    fn n_answers(&self) -> usize {
        self.is_message
            .iter()
            .skip(self.layout.elements.len())
            .filter(|is| **is)
            .count()
    }
}
