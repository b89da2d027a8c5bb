//! Writes the new list, with the separators of the file between its elements.

use super::{DocumentWriter, Piece};
use crate::formats::byte_order_mark::text_start;
use crate::formats::editing::Patch;
use crate::session::Span;
use std::borrow::Cow;

impl<'a> DocumentWriter<'a> {
    /// Writes the inside of the list's brackets, or the lines.
    pub(super) fn list(&self, pieces: &[Piece<'_>]) -> Vec<u8> {
        let bytes = self.bytes;
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

    /// Returns the separator between two elements: the original one, or else the usual one of this file.
    pub(super) fn separator(&self, before: &Piece<'_>, after: &Piece<'_>) -> Cow<'a, [u8]> {
        let bytes = self.bytes;
        let elements = &self.layout.elements;
        let between = |idx: usize| {
            let (a, b) = (elements.get(idx)?, elements.get(idx + 1)?);
            Some(&bytes[a.end..b.start])
        };
        let own = before.element.filter(|idx| after.element == Some(idx + 1)).and_then(between);
        if let Some(own) = own.filter(|own| self.is_list() || own.trim_ascii().is_empty()) {
            return own.into();
        }
        if !self.is_list() {
            return self.line_end().into();
        }
        let lead =
            elements.first().map_or(&b""[..], |first| &bytes[self.layout.list.start..first.start]);
        between(0).map_or_else(|| [b",", lead].concat().into(), Cow::from)
    }

    /// Returns the line ending of this file.
    pub(super) fn line_end(&self) -> &'static [u8] {
        let bytes = self.bytes;
        let line = bytes.iter().position(|b| *b == b'\n').map_or(&b""[..], |at| &bytes[..at]);
        if line.ends_with(b"\r") { b"\r\n" } else { b"\n" }
    }

    /// Returns patches that remove unreadable lines before the first message and after the last one. In a changed
    /// conversation they mean nothing and would prevent detection.
    pub(super) fn unreadable(&self) -> Vec<Patch> {
        let bytes = self.bytes;
        let before = text_start(bytes)..self.layout.list.start;
        let after = self.layout.list.end..self.layout.whole.end;
        let ranges = [(before, &b""[..]), (after, self.line_end())].into_iter();
        let is_odd =
            |range: &Span| !self.is_list() && !bytes[range.clone()].trim_ascii().is_empty();
        ranges
            .filter(|(range, _)| is_odd(range))
            .map(|(range, text)| (range, text.to_vec()))
            .collect()
    }

    /// Returns whether the elements are in brackets rather than on lines.
    pub(super) fn is_list(&self) -> bool {
        let before = self.layout.list.start.checked_sub(1);
        before.and_then(|at| self.bytes.get(at)) == Some(&b'[')
    }
}
