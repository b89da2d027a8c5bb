//! Writes a managed conversation into the document it came from. Bytes that need not change stay the same.

mod body;
mod list;

use super::dialect::{Dialect, Writes};
use super::layout::{self, Layout};
use crate::formats::editing::{
    Editing, MessageChanges, Patch, patched, with_member, without_members,
};
use crate::formats::mark::{self, MARK};
use crate::formats::{CannotExport, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Managed, ManagedEntry, Role, Session, Span, WrittenKind};
use std::borrow::Cow;
use std::collections::HashMap;

/// One element of the new list.
struct Piece<'a> {
    /// Index of the element in the file; answers stored outside of the list are numbered after the elements. `None` for a
    /// message that Plimsoll adds.
    element: Option<usize>,
    /// Whether it is written unchanged.
    is_untouched: bool,
    text: Cow<'a, [u8]>,
}

/// A document being written.
struct DocumentWriter<'a> {
    session: &'a Session,
    /// Bytes of the original document.
    bytes: &'a [u8],
    layout: Layout,
    dialect: &'a Dialect,
    writes: &'a Writes,
    /// Indices of the elements by their start in the file.
    element_at: HashMap<usize, usize>,
    /// Whether each element is a message.
    is_message: Vec<bool>,
    /// Indices of the messages that each element holds.
    messages: Vec<Vec<usize>>,
}

/// A written message.
pub(crate) struct WrittenElement {
    /// Number of its element; `None` if it is added.
    pub(crate) element: Option<usize>,
    pub(crate) is_untouched: bool,
    /// Its JSON; empty if it is untouched.
    pub(crate) text: Vec<u8>,
}

/// Writes the messages of a managed conversation, one by one. `elements` are the places of all messages that it may keep, in
/// order, and `listed` their indices in the session.
pub(crate) fn write_each(
    session: &Session,
    managed: &Managed,
    dialect: &Dialect,
    elements: Vec<Span>,
    listed: &[usize],
) -> Result<Vec<WrittenElement>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes.whole();
    let layout = Layout::of_lines(bytes, elements);
    let listed = listed.iter().copied();
    let writing = DocumentWriter::with_layout(session, bytes, dialect, layout, listed);
    let writing = writing.ok_or_else(|| CannotExport {
        reason: "messages of this format cannot be written".to_owned(),
    })?;
    let pieces = writing.pieces(managed)?.into_iter();
    Ok(pieces
        .map(|piece| WrittenElement {
            element: piece.element,
            is_untouched: piece.is_untouched,
            text: if piece.is_untouched { Vec::new() } else { piece.text.into_owned() },
        })
        .collect())
}

/// Writes a conversation into its own document.
pub(crate) fn write_own(
    session: &Session,
    managed: &Managed,
    dialect: &Dialect,
) -> Result<Vec<u8>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes.whole();
    let writing = DocumentWriter::new(session, bytes, dialect).ok_or_else(|| CannotExport {
        reason: "the conversation is missing from its file".to_owned(),
    })?;
    let mut pieces = writing.pieces(managed)?;
    let (mut patches, dropped) = writing.body(managed);
    let mut is_unchanged = writing.is_unchanged(&pieces);
    if !is_unchanged || !patches.is_empty() || !dropped.is_empty() {
        pieces.retain(|piece| !writing.is_foreign(piece));
        writing.forget_counts(managed, &mut pieces);
        is_unchanged = writing.is_unchanged(&pieces);
        patches.extend(writing.mark(managed, &pieces, is_unchanged));
    }
    let mut keys = dropped;
    if !is_unchanged {
        patches.push((writing.layout.list.clone(), writing.list(&pieces)));
        patches.extend(writing.unreadable());
    }
    let layout = &writing.layout;
    let moved = layout.answers_in.filter(|_| !is_unchanged);
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

impl<'a> DocumentWriter<'a> {
    fn new(session: &'a Session, bytes: &'a [u8], dialect: &'a Dialect) -> Option<Self> {
        let starts: Vec<usize> =
            session.messages.iter().filter_map(|m| Some(m.raw.first()?.start)).collect();
        let is_here =
            |layout: &Layout| starts.first().is_none_or(|start| layout.whole.contains(start));
        let progress = Progress::default();
        let layout = layout::find(bytes, &dialect.shape, &progress, &mut Vec::new())
            .ok()?
            .into_iter()
            .find(is_here)?;
        Self::with_layout(session, bytes, dialect, layout, 0..session.messages.len())
    }

    /// Creates a writer of these messages of a session, which are at known places.
    fn with_layout(
        session: &'a Session,
        bytes: &'a [u8],
        dialect: &'a Dialect,
        layout: Layout,
        listed: impl Iterator<Item = usize>,
    ) -> Option<Self> {
        let answers = layout.answers.iter().map(|a| &a.message);
        let spans = layout.elements.iter().chain(answers);
        let element_at: HashMap<usize, usize> =
            spans.enumerate().map(|(idx, span)| (span.start, idx)).collect();
        let mut messages = vec![Vec::new(); element_at.len()];
        for idx in listed {
            let message = &session.messages[idx];
            if let Some(span) = message.raw.first() {
                // A compaction may be stored outside of the list.
                match element_at.get(&span.start) {
                    Some(element) => messages.get_mut(*element)?.push(idx),
                    None if !message.in_history => {}
                    None => return None,
                }
            }
        }
        let is_message = messages.iter().map(|indices| !indices.is_empty()).collect();
        Some(Self {
            session,
            bytes,
            layout,
            dialect,
            writes: dialect.writes.as_ref()?,
            element_at,
            is_message,
            messages,
        })
    }

    /// Returns the index of the element that holds a message, or `None` if the message is stored outside of the list.
    fn element_of(&self, message: usize) -> Result<Option<usize>, CannotExport> {
        let missing =
            || CannotExport { reason: format!("the session has no message {}", message + 1) };
        let message = self.session.messages.get(message).ok_or_else(missing)?;
        let start = message.raw.first().map(|span| span.start);
        Ok(start.and_then(|start| self.element_at.get(&start).copied()))
    }

    /// Returns the elements of the new list. An element that is not a message is kept, moved or removed together with the
    /// message before it.
    fn pieces(&self, managed: &'a Managed) -> Result<Vec<Piece<'a>>, CannotExport> {
        let changes = MessageChanges::new(managed);
        let mut pieces = Vec::new();
        let mut written = vec![false; self.is_message.len()];
        // Text of the last piece, if it belongs to the next one.
        let mut text_of_next = None;
        self.push_others(0, &mut pieces);
        for entry in &managed.entries {
            let message = match entry {
                ManagedEntry::Written { role, text, kind, answers, joins_next, .. } => {
                    text_of_next = joins_next.then_some((*role, text));
                    let is_addition = *kind == WrittenKind::Addition;
                    let is_empty_answer = (*role, *kind) == (Role::Assistant, WrittenKind::Notice);
                    // Some systems send a summary without text.
                    let may_be_empty = is_empty_answer || *kind == WrittenKind::Summary;
                    let added = is_addition
                        .then(|| pieces.last().and_then(|last| with_text(last, *role, text)));
                    if let (Some(text), Some(last)) = (added.flatten(), pieces.last_mut()) {
                        last.is_untouched = false;
                        last.text = text.into();
                    } else if !text.is_empty() || may_be_empty {
                        let value = match answers {
                            None => Some((self.writes.written)(*role, text)),
                            Some(call) => self.writes.result.map(|result| result(call, text)),
                        };
                        pieces.extend(value.map(|value| Piece {
                            element: None,
                            is_untouched: false,
                            text: value.to_string().into_bytes().into(),
                        }));
                    }
                    continue;
                }
                ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => *message,
            };
            // An element that holds several messages is written at the position of the first.
            let Some(element) = self.element_of(message)?.filter(|element| !written[*element])
            else {
                continue;
            };
            written[element] = true;
            if let Some(mut piece) = self.piece(element, &changes) {
                let joined = text_of_next.take();
                let joined = joined.and_then(|(role, text)| with_text(&piece, role, text));
                if let Some(joined) = joined {
                    pieces.pop();
                    piece.is_untouched = false;
                    piece.text = joined.into();
                }
                pieces.push(piece);
                self.push_others(element + 1, &mut pieces);
            }
        }
        Ok(pieces)
    }

    /// Returns an element with the changes of its messages, or `None` if nothing of it is left.
    fn piece(&self, element: usize, changes: &MessageChanges<'a>) -> Option<Piece<'a>> {
        let session = self.session;
        let messages = &self.messages[element];
        let editing = Editing::new(session, self.bytes, messages, |idx| {
            changes.of(idx, &session.messages[idx])
        });
        let is_untouched = editing.is_untouched();
        let text = if is_untouched {
            self.bytes[editing.span.clone()].into()
        } else {
            (self.writes.edit)(&editing)?.into()
        };
        Some(Piece { element: Some(element), is_untouched, text })
    }

    /// Adds the elements from index `start` up to the next message.
    fn push_others(&self, start: usize, pieces: &mut Vec<Piece<'a>>) {
        let rest = self.layout.elements.iter().enumerate().skip(start);
        for (idx, span) in rest.take_while(|(idx, _)| !self.is_message[*idx]) {
            let text = self.bytes[span.clone()].into();
            pieces.push(Piece { element: Some(idx), is_untouched: true, text });
        }
    }

    /// Returns whether the list has the same elements in the same order.
    fn is_unchanged(&self, pieces: &[Piece<'_>]) -> bool {
        let n_elements = self.n_answers() + self.layout.elements.len();
        let is_original =
            |(idx, piece): (usize, &Piece<'_>)| piece.is_untouched && piece.element == Some(idx);
        pieces.len() == n_elements && pieces.iter().enumerate().all(is_original)
    }

    /// Sets the token counts in usage records between messages to zero. They describe contexts that no longer exist, and
    /// the agent's program reads zero as unknown. The last record holds the mark if the document has no other place for it.
    fn forget_counts(&self, managed: &Managed, pieces: &mut [Piece<'a>]) {
        let n_pieces = pieces.len();
        let mut mark = self.layout.root.is_none().then(|| mark::mark(managed, Some(n_pieces)));
        for piece in pieces.iter_mut().rev() {
            if self.is_message(piece) {
                continue;
            }
            let Ok(mut record) = json::parse_lenient(&piece.text) else {
                continue;
            };
            let is_count = (self.dialect.call)(&record).is_some() || record.get(MARK).is_some();
            let Some(members) = record.as_object_mut().filter(|_| is_count) else {
                continue;
            };
            let numbers = members.values_mut().filter(|v| v.is_number());
            numbers.for_each(|number| *number = 0.into());
            members.swap_remove(MARK);
            members.extend(mark.take().map(|mark| (MARK.to_owned(), mark)));
            piece.text = record.to_string().into_bytes().into();
        }
    }

    /// Returns whether a piece is a message of the file or one that Plimsoll adds.
    fn is_message(&self, piece: &Piece<'_>) -> bool {
        let is_message = |element: usize| self.is_message.get(element) == Some(&true);
        piece.element.is_none_or(is_message)
    }

    /// Returns whether providers reject an element: its role is unknown to the format, or it is in the list without a
    /// role. A line without a role describes the file and stays.
    fn is_foreign(&self, piece: &Piece<'_>) -> bool {
        if !self.dialect.is_request || self.is_message(piece) {
            return false;
        }
        let value = json::parse_lenient(&piece.text).ok();
        value.is_some_and(|e| self.is_list() || json::str_at(&e, &["role"]).is_some())
    }

    /// Returns a patch that marks the list as changed, if the document reports calls and has a place for the mark.
    fn mark(&self, managed: &Managed, pieces: &[Piece<'_>], is_unchanged: bool) -> Option<Patch> {
        let bytes = self.bytes;
        let root = self.layout.root.as_ref()?;
        let mark = mark::mark(managed, Some(pieces.len()));
        let text = mark.to_string().into_bytes();
        if let Some(old) = json::member(bytes, root, MARK) {
            return Some((old, text));
        }
        let reports = |piece: &Piece<'_>| {
            json::parse_lenient(&piece.text).is_ok_and(|m| (self.dialect.call)(&m).is_some())
        };
        let has_usage = || self.session.calls.iter().any(|call| call.usage.is_some());
        let is_needed = managed.calibration.is_some()
            || has_usage() && (is_unchanged || pieces.iter().any(reports));
        is_needed.then(|| with_member(bytes, root, MARK, &text))
    }

    /// Returns the number of answers stored outside of the list.
    fn n_answers(&self) -> usize {
        self.is_message.iter().skip(self.layout.elements.len()).filter(|is| **is).count()
    }
}

/// Returns a message with one more text behind its content; `None` if it has another role or another form of content.
fn with_text(piece: &Piece<'_>, role: Role, text: &str) -> Option<Vec<u8>> {
    let mut message = json::parse_lenient(&piece.text).ok()?;
    let is_same = json::str_at(&message, &["role"]) == Some(role.name());
    let members = message.as_object_mut().filter(|_| is_same)?;
    if members.get("parts").is_some() {
        return None;
    }
    let content = members.entry("content".to_owned()).or_insert(Value::Null);
    // Some formats name the blocks of a text by their direction.
    let kind = content.get(0).and_then(|block| json::str_at(block, &["type"]));
    let kind = kind.filter(|kind| kind.ends_with("_text")).unwrap_or("text").to_owned();
    let block = |text: &str| crate::json::json!({"type": kind, "text": text});
    match content {
        Value::Null => *content = text.into(),
        Value::String(own) if own.is_empty() => *content = text.into(),
        Value::String(own) => *content = Value::from(vec![block(own), block(text)]),
        Value::Array(blocks) => blocks.push(block(text)),
        _ => return None,
    }
    Some(message.to_string().into_bytes())
}
