//! A message some of whose parts changed, and the changes that both formats have in common.

use super::places::{Patch, quoted, with_member, without};
use crate::formats::json;
use crate::session::{Managed, ManagedEntry, ManagedPart, Message, Part, Session, Span};
use serde_json::{Value, json};
use std::collections::HashMap;

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Fate<'a> {
    /// It stays.
    Kept,
    /// This stands in the place of its text.
    Replaced(&'a str),
    /// It is left out.
    Gone,
}

/// A message of the file with what becomes of its parts.
#[derive(Debug)]
pub(in crate::formats) struct Editing<'a> {
    /// The file.
    pub(in crate::formats) bytes: &'a [u8],
    /// Where the message stands in it.
    pub(in crate::formats) span: Span,
    /// All its parts.
    pub(in crate::formats) parts: Vec<(&'a Part, Fate<'a>)>,
}

impl<'a> Fate<'a> {
    /// A text of which nothing is left is left out: providers refuse empty texts.
    pub(in crate::formats) fn or_gone(self) -> Self {
        if self == Self::Replaced("") {
            Self::Gone
        } else {
            self
        }
    }

    /// The fates of a message's parts, in their order.
    pub(in crate::formats) fn of_parts(message: &Message, managed: &'a [ManagedPart]) -> Vec<Self> {
        let fate = |idx| {
            let listed = managed.iter().find_map(|part| match part {
                ManagedPart::Kept { part } if *part == idx => Some(Self::Kept),
                ManagedPart::Replaced { part, text } if *part == idx => Some(Self::Replaced(text)),
                _ => None,
            });
            listed.unwrap_or(Self::Gone)
        };
        message.parts.clone().map(fate).collect()
    }
}

impl<'a> Editing<'a> {
    /// What an element of the list says, with the fates of its parts; it may hold several messages.
    pub(super) fn new(
        session: &'a Session,
        bytes: &'a [u8],
        messages: &[usize],
        fates: impl Fn(usize) -> Vec<Fate<'a>>,
    ) -> Self {
        let of = |idx: usize| {
            let message = &session.messages[idx];
            session.parts_of(message).iter().zip(fates(idx))
        };
        let span = messages
            .first()
            .and_then(|idx| session.messages[*idx].raw.first());
        Self {
            bytes,
            span: span.cloned().unwrap_or_default(),
            parts: messages.iter().flat_map(|idx| of(*idx)).collect(),
        }
    }

    /// It has parts and all of them stay.
    pub(super) fn is_untouched(&self) -> bool {
        self.parts.iter().all(|(_, fate)| *fate == Fate::Kept)
    }

    /// It had parts and has none left.
    pub(in crate::formats) fn is_emptied(&self) -> bool {
        !self.parts.is_empty()
            && self
                .parts
                .iter()
                .all(|(_, fate)| fate.or_gone() == Fate::Gone)
    }

    /// Patches for the content of a tool's result, which `owner` has as its member `content`: what becomes of
    /// its text and of what else stands in it, in order.
    pub(in crate::formats) fn result(
        &self,
        owner: &Span,
        text: Fate<'_>,
        nested: &[Fate<'_>],
    ) -> Vec<Patch> {
        let bytes = self.bytes;
        let whole = |text: &str| match json::member(bytes, owner, "content") {
            Some(content) => vec![(content, quoted(text))],
            None => vec![with_member(bytes, owner, "content", &quoted(text))],
        };
        let content = json::member(bytes, owner, "content").unwrap_or_default();
        match (json::elements(bytes, &content), text) {
            (Some(blocks), Fate::Kept) => self
                .result_blocks(&blocks, text, nested)
                .unwrap_or_else(|| whole("")),
            (Some(blocks), Fate::Replaced(text)) if nested.iter().any(|f| *f != Fate::Gone) => self
                .result_blocks(&blocks, Fate::Replaced(text), nested)
                .unwrap_or_else(|| whole(text)),
            (_, Fate::Replaced(text)) => whole(text),
            _ => Vec::new(),
        }
    }

    /// The same where the content is a list of blocks; `None` if no block is left.
    fn result_blocks(
        &self,
        blocks: &[Span],
        text: Fate<'_>,
        nested: &[Fate<'_>],
    ) -> Option<Vec<Patch>> {
        let mut nested = nested.iter();
        let mut gone = Vec::with_capacity(blocks.len());
        let mut patches = Vec::new();
        // The first text takes the new one, the others go.
        let mut new_text = if let Fate::Replaced(text) = text.or_gone() {
            Some(text)
        } else {
            None
        };
        for span in blocks {
            let is_text = json::parse_span(self.bytes, span).is_some_and(|block| is_text(&block));
            let fate = match (is_text, text) {
                (true, Fate::Kept) => Fate::Kept,
                (true, _) => new_text.take().map_or(Fate::Gone, Fate::Replaced),
                (false, _) => nested.next().copied().unwrap_or(Fate::Kept),
            };
            if let Fate::Replaced(text) = fate {
                patches.push((span.clone(), text_block(text)));
            }
            gone.push(fate == Fate::Gone);
        }
        if gone.iter().all(|g| *g) {
            return None;
        }
        if let (Some(text), Some(first)) = (new_text, blocks.first()) {
            let at = first.start;
            patches.push((at..at, [text_block(text), b", ".to_vec()].concat()));
        }
        patches.extend(without(blocks, &gone));
        Some(patches)
    }
}

/// A block that [`json::text_of`] reads.
fn is_text(block: &Value) -> bool {
    block.is_string() || json::str_at(block, &["text"]).is_some()
}

/// A text as a content block.
pub(in crate::formats) fn text_block(text: &str) -> Vec<u8> {
    json!({"type": "text", "text": text})
        .to_string()
        .into_bytes()
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
