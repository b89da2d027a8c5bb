//! Writes a session's own document again with a managed conversation in it: every byte that has not to change
//! stays as it is.

use super::edit::{Editing, Fate, text_block};
use super::layout::{self, Layout};
use super::places::{
    Patch, array_at, at_path, patched, quoted, with_member, without, without_members,
};
use super::read::{Dialect, MARK, Writes};
use crate::formats::{CannotExport, json, jsonl};
use crate::progress::Progress;
use crate::session::{Body, Managed, ManagedEntry, Message, Part, Session, Span};
use serde_json::json;
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
    let writing = Writing::new(session, dialect).ok_or_else(|| CannotExport {
        reason: "the conversation is not to be found in its file".to_owned(),
    })?;
    let mut pieces = writing.pieces(managed)?;
    let (mut patches, dropped) = writing.body(managed);
    let bytes: &[u8] = &session.source.bytes;
    let mut is_as_it_was = writing.is_as_it_was(&pieces);
    if !is_as_it_was || !patches.is_empty() || !dropped.is_empty() {
        pieces.retain(|piece| !writing.is_foreign(piece));
        is_as_it_was = writing.is_as_it_was(&pieces);
        patches.extend(writing.mark(&pieces, is_as_it_was));
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
    fn new(session: &'a Session, dialect: &'a Dialect) -> Option<Self> {
        let bytes = &session.source.bytes;
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
        let editing = Editing::new(session, messages, |idx| {
            fates.of(idx, &session.messages[idx])
        });
        let is_untouched = editing.is_untouched();
        let text = if is_untouched {
            session.raw(&editing.span).into()
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
            let text = self.session.raw(span).into();
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

    /// An element that no provider takes for a message: of a role that the format does not know, or in the list
    /// without any. A line without a role says something about the file and stays.
    fn is_foreign(&self, piece: &Piece<'_>) -> bool {
        if !self.dialect.is_request {
            return false;
        }
        let is_message = |place: usize| self.is_message.get(place) == Some(&true);
        if piece.place.is_none_or(is_message) {
            return false;
        }
        let element = json::parse_lenient(&piece.text).ok();
        element.is_some_and(|e| self.is_list() || json::str_at(&e, &["role"]).is_some())
    }

    /// A patch that says that the list was changed, where its messages report calls and there is a place for it.
    fn mark(&self, pieces: &[Piece<'_>], is_as_it_was: bool) -> Option<Patch> {
        let bytes: &[u8] = &self.session.source.bytes;
        let root = self.layout.root.as_ref()?;
        let text = json!({"managed": true, "messages": pieces.len()})
            .to_string()
            .into_bytes();
        if let Some(old) = json::member(bytes, root, MARK) {
            return Some((old, text));
        }
        let reports = |piece: &Piece<'_>| {
            json::parse_lenient(&piece.text).is_ok_and(|m| (self.dialect.step)(&m).is_some())
        };
        let is_needed = self.session.steps.iter().any(|step| step.usage.is_some())
            && (is_as_it_was || pieces.iter().any(reports));
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

    /// What stands between the list's brackets (or the lines).
    fn list(&self, pieces: &[Piece<'_>]) -> Vec<u8> {
        let bytes = &self.session.source.bytes;
        let (list, elements) = (&self.layout.list, &self.layout.elements);
        let ([first, ..], [.., end]) = (&elements[..], &elements[..]) else {
            let texts: Vec<_> = pieces.iter().map(|p| &*p.text).collect();
            return texts.join(&b","[..]);
        };
        let mut out = bytes[list.start..first.start].to_vec();
        for (idx, piece) in pieces.iter().enumerate() {
            if idx > 0 {
                out.extend_from_slice(&self.separator(&pieces[idx - 1], piece));
            }
            out.extend_from_slice(&piece.text);
        }
        out.extend_from_slice(&bytes[end.end..list.end]);
        out
    }

    /// What stands between two elements: what stood there, or what is usual in this file.
    fn separator(&self, before: &Piece<'_>, after: &Piece<'_>) -> Cow<'a, [u8]> {
        let bytes = &self.session.source.bytes;
        let elements = &self.layout.elements;
        let between = |idx: usize| {
            let (a, b) = (elements.get(idx)?, elements.get(idx + 1)?);
            Some(&bytes[a.end..b.start])
        };
        let own = before
            .place
            .filter(|idx| after.place == Some(idx + 1))
            .and_then(between);
        if let Some(own) = own.filter(|own| self.is_list() || own.trim_ascii().is_empty()) {
            return own.into();
        }
        if !self.is_list() {
            return self.line_end().into();
        }
        let lead = elements.first().map_or(&b""[..], |first| {
            &bytes[self.layout.list.start..first.start]
        });
        between(0).map_or_else(|| [b",", lead].concat().into(), Cow::from)
    }

    /// How lines end in this file.
    fn line_end(&self) -> &'static [u8] {
        let bytes = &self.session.source.bytes;
        let line = bytes
            .iter()
            .position(|b| *b == b'\n')
            .map_or(&b""[..], |at| &bytes[..at]);
        if line.ends_with(b"\r") {
            b"\r\n"
        } else {
            b"\n"
        }
    }

    /// Patches for lines before the first message and after the last that could not be read: in a conversation
    /// that has changed they would say nothing, and hide what it is.
    fn unreadable(&self) -> Vec<Patch> {
        let bytes = &self.session.source.bytes;
        let before = jsonl::text_start(bytes)..self.layout.list.start;
        let after = self.layout.list.end..self.layout.whole.end;
        let holes = [(before, &b""[..]), (after, self.line_end())].into_iter();
        let is_odd =
            |place: &Span| !self.is_list() && !bytes[place.clone()].trim_ascii().is_empty();
        holes
            .filter(|(place, _)| is_odd(place))
            .map(|(place, text)| (place, text.to_vec()))
            .collect()
    }

    /// The elements stand in brackets rather than on lines.
    fn is_list(&self) -> bool {
        let before = self.layout.list.start.checked_sub(1);
        before.and_then(|at| self.session.source.bytes.get(at)) == Some(&b'[')
    }

    /// Patches for the messages that stand in the body beside the list, and members of which nothing is left.
    fn body(&self, managed: &'a Managed) -> (Vec<Patch>, Vec<&'static str>) {
        let (mut patches, mut dropped) = (Vec::new(), Vec::new());
        let managed = Fates::new(managed);
        for (idx, message) in self
            .session
            .messages
            .iter()
            .enumerate()
            .filter(|(_, m)| m.raw.is_empty())
        {
            let fates = managed.of(idx, message);
            let parts: Vec<_> = self.session.parts_of(message).iter().zip(fates).collect();
            if parts.iter().all(|(_, fate)| *fate == Fate::Kept) {
                continue;
            }
            let is_tools = parts
                .iter()
                .any(|(part, _)| matches!(part.body, Body::ToolDefinition { .. }));
            let members: &[&'static str] = if is_tools {
                &["tools", "functions"]
            } else {
                &["system", "system_prompt", "instructions", "summary"]
            };
            let mut rest = &parts[..];
            for key in members {
                rest = self.body_member(key, rest, &mut patches, &mut dropped);
            }
        }
        (patches, dropped)
    }

    /// Patches for the parts that one member of the body holds; returns the parts after them.
    fn body_member<'p>(
        &self,
        key: &'static str,
        parts: &'p [(&'a Part, Fate<'a>)],
        patches: &mut Vec<Patch>,
        dropped: &mut Vec<&'static str>,
    ) -> &'p [(&'a Part, Fate<'a>)] {
        let bytes: &[u8] = &self.session.source.bytes;
        let found = self
            .layout
            .body
            .as_ref()
            .and_then(|body| at_path(bytes, body, &[key]).map(|at| (body, at)));
        let Some((body, value)) = found else {
            return parts;
        };
        let listed = array_at(bytes, body, &[key]);
        let (own, rest) = parts.split_at(listed.as_ref().map_or(1, Vec::len).min(parts.len()));
        if own.iter().all(|(_, fate)| fate.or_gone() == Fate::Gone) {
            dropped.push(key);
            return rest;
        }
        let spans = listed.unwrap_or_else(|| vec![value.clone()]);
        let mut gone = vec![false; spans.len()];
        for (idx, (part, fate)) in own.iter().enumerate() {
            match (fate.or_gone(), &part.body) {
                (Fate::Gone, _) => gone[idx] = true,
                (Fate::Replaced(text), Body::Text(_)) => {
                    let is_block = json::members(bytes, &spans[idx]).is_some();
                    patches.push((
                        spans[idx].clone(),
                        if is_block {
                            text_block(text)
                        } else {
                            quoted(text)
                        },
                    ));
                }
                _ => {}
            }
        }
        patches.extend(without(&spans, &gone));
        rest
    }
}

/// What becomes of every message.
pub(super) struct Fates<'a>(HashMap<usize, &'a ManagedEntry>);

impl<'a> Fates<'a> {
    pub(super) fn new(managed: &'a Managed) -> Self {
        let message = |entry: &'a ManagedEntry| match entry {
            ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => {
                Some((*message, entry))
            }
            ManagedEntry::Written { .. } => None,
        };
        // The first entry of a message counts.
        Self(managed.entries.iter().rev().filter_map(message).collect())
    }

    /// What becomes of the parts of a message.
    pub(super) fn of(&self, idx: usize, message: &Message) -> Vec<Fate<'a>> {
        match self.0.get(&idx) {
            Some(ManagedEntry::Edited { parts, .. }) => Fate::of_parts(message, parts),
            Some(_) => vec![Fate::Kept; message.parts.len()],
            None => vec![Fate::Gone; message.parts.len()],
        }
    }
}
