//! Edits to the parts of a message, and changes that several formats share.

mod content;
mod patch;
mod records;

pub(super) use content::{
    Framing, answer_patches, arguments, block_patches, edit, edit_result, patches,
};
pub(super) use patch::{
    Patch, array_at, at_path, json_string, object_at, patched, with_member, without_elements,
    without_members,
};
pub use records::result_without_call;
pub(super) use records::{OutputRecord, existing, is_whole, output_records};

use crate::formats::json;
use crate::json::json;
use crate::session::{Managed, ManagedEntry, ManagedPart, Message, Part, Session, Span};
use std::collections::HashMap;

/// Change of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartChange<'a> {
    /// The part is unchanged.
    Kept,
    /// Its text is replaced.
    Replaced(&'a str),
    /// It is removed.
    Removed,
}

/// An element of the file with the changes of its parts.
#[derive(Debug)]
pub(crate) struct Editing<'a> {
    /// Bytes of the file.
    pub(crate) bytes: &'a [u8],
    /// Byte span of the element.
    pub(crate) span: Span,
    /// All its parts.
    pub(crate) parts: Vec<(&'a Part, PartChange<'a>)>,
}

impl<'a> PartChange<'a> {
    /// Treats a replacement by an empty text as a removal: providers reject empty texts.
    pub(crate) fn or_removed(self) -> Self {
        if self == Self::Replaced("") { Self::Removed } else { self }
    }

    /// Returns the changes of a message's parts, in order.
    pub(crate) fn of_parts(message: &Message, managed: &'a [ManagedPart]) -> Vec<Self> {
        let change = |idx| {
            let listed = managed.iter().find_map(|part| match part {
                ManagedPart::Kept { part } if *part == idx => Some(Self::Kept),
                ManagedPart::Replaced { part, text } if *part == idx => Some(Self::Replaced(text)),
                _ => None,
            });
            listed.unwrap_or(Self::Removed)
        };
        message.parts.clone().map(change).collect()
    }
}

impl<'a> Editing<'a> {
    /// Creates the editing of one element, which may contain several messages.
    pub(super) fn new(
        session: &'a Session,
        bytes: &'a [u8],
        messages: &[usize],
        changes: impl Fn(usize) -> Vec<PartChange<'a>>,
    ) -> Self {
        let of = |idx: usize| {
            let message = &session.messages[idx];
            session.parts_of(message).iter().zip(changes(idx))
        };
        let span = messages.first().and_then(|idx| session.messages[*idx].raw.first());
        Self {
            bytes,
            span: span.cloned().unwrap_or_default(),
            parts: messages.iter().flat_map(|idx| of(*idx)).collect(),
        }
    }

    /// Returns whether all parts are unchanged.
    pub(super) fn is_untouched(&self) -> bool {
        self.parts.iter().all(|(_, change)| *change == PartChange::Kept)
    }

    /// Returns whether it had parts and all of them are removed.
    pub(crate) fn is_emptied(&self) -> bool {
        !self.parts.is_empty()
            && self.parts.iter().all(|(_, change)| change.or_removed() == PartChange::Removed)
    }

    /// Returns patches for the content of a tool result, which is the member `content` of `owner`. `text` is the change
    /// of its text, `nested` are the changes of its other blocks, in order.
    pub(crate) fn result(
        &self,
        owner: &Span,
        text: PartChange<'_>,
        nested: &[PartChange<'_>],
    ) -> Vec<Patch> {
        let text = match text {
            PartChange::Replaced(text) => Some(text),
            PartChange::Kept | PartChange::Removed => None,
        };
        let added = |text| with_member(self.bytes, owner, "content", &json_string(text));
        match json::member(self.bytes, owner, "content") {
            Some(content) => answer_patches(self.bytes, &content, text, nested, None),
            None => text.map(added).into_iter().collect(),
        }
    }
}

/// Serializes a text as a content block.
pub(crate) fn text_block(text: &str) -> Vec<u8> {
    json!({"type": "text", "text": text}).to_string().into_bytes()
}

/// The managed entry of each message.
pub(super) struct MessageChanges<'a>(HashMap<usize, &'a ManagedEntry>);

impl<'a> MessageChanges<'a> {
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

    /// Returns the changes of a message's parts.
    pub(super) fn of(&self, idx: usize, message: &Message) -> Vec<PartChange<'a>> {
        match self.0.get(&idx) {
            Some(ManagedEntry::Edited { parts, .. }) => PartChange::of_parts(message, parts),
            Some(_) => vec![PartChange::Kept; message.parts.len()],
            None => vec![PartChange::Removed; message.parts.len()],
        }
    }
}
