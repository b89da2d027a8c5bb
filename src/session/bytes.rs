//! The bytes of a file, which stay for as long as its session does: its records are shown and written again.
//!
//! Those of a large file are packed. They say most things several times over, hardly anybody looks at more than a few of
//! them, and what is packed is still the file as it was read, whatever has become of the file since.

use super::message::Span;
use super::packed::{Packed, Packer};
use memchr::{memchr, memchr_iter};
use rayon::prelude::*;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The bytes of a file. A clone shares them.
#[derive(Clone)]
pub struct FileBytes(Held);

#[derive(Clone)]
enum Held {
    Plain(Arc<Vec<u8>>),
    Packed(Arc<Packed>),
}

/// Whole lines that stand near each other, for one core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where they stand in the file.
    pub span: Span,
    /// How many there are.
    pub n_lines: usize,
    /// How many stand before them.
    pub lines_before: usize,
}

/// Bytes that can be read piece by piece.
pub trait Pieces: Sync {
    /// Those at a place, which must be among them. Of packed ones no more is unpacked than stands around it.
    fn piece(&self, span: &Span) -> Cow<'_, [u8]>;

    /// All lines, in order.
    fn stretches(&self) -> Vec<Stretch>;
}

/// So many are worth to be packed.
const MANY: usize = 16 << 20;
/// Lines of plain text that begin within so many bytes make a stretch.
const STRETCH: usize = 1 << 20;

impl FileBytes {
    pub(super) fn packed(packed: Packed) -> Self {
        Self(Held::Packed(Arc::new(packed)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Held::Plain(bytes) => bytes.len(),
            Held::Packed(packed) => packed.len(),
        }
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// They are packed: all of them are best not asked for.
    pub fn is_packed(&self) -> bool {
        matches!(self.0, Held::Packed(_))
    }

    /// Packs them, where they are many.
    pub fn pack(&mut self) {
        if self.len() >= MANY
            && let Held::Plain(bytes) = &self.0
        {
            let mut packer = Packer::default();
            bytes.chunks(MANY).for_each(|bytes| packer.push(bytes));
            *self = packer.finish();
        }
    }

    /// All of them. Packed ones are unpacked for as long as somebody holds what this gives, and asking again meanwhile
    /// costs nothing.
    pub fn whole(&self) -> Arc<Vec<u8>> {
        match &self.0 {
            Held::Plain(bytes) => Arc::clone(bytes),
            Held::Packed(packed) => packed.whole(),
        }
    }

    /// Ends of lines at a place.
    pub fn line_ends(&self, span: &Span) -> usize {
        match &self.0 {
            Held::Plain(bytes) => line_ends(&bytes[span.clone()]),
            Held::Packed(packed) => packed.line_ends(span),
        }
    }

    /// Nothing but white space stands in it.
    pub fn is_blank(&self) -> bool {
        match &self.0 {
            Held::Plain(bytes) => bytes.trim_ascii_start().is_empty(),
            Held::Packed(packed) => packed.is_blank(),
        }
    }

    /// It is the other file, or that one with more behind it.
    pub fn starts_with(&self, other: &Self) -> bool {
        if self.len() < other.len() {
            return false;
        }
        let same = match (&self.0, &other.0) {
            (Held::Packed(own), Held::Packed(other)) => own.same_start(other),
            _ => 0,
        };
        let rest = other.stretches().into_iter().map(|stretch| stretch.span);
        rest.filter(|span| span.end > same)
            .map(|span| span.start.max(same)..span.end)
            .all(|span| self.piece(&span) == other.piece(&span))
    }
}

impl Pieces for FileBytes {
    fn piece(&self, span: &Span) -> Cow<'_, [u8]> {
        match &self.0 {
            Held::Plain(bytes) => bytes[..].piece(span),
            Held::Packed(packed) => Cow::Owned(packed.piece(span)),
        }
    }

    fn stretches(&self) -> Vec<Stretch> {
        match &self.0 {
            Held::Plain(bytes) => bytes[..].stretches(),
            Held::Packed(packed) => packed.stretches(),
        }
    }
}

impl Pieces for [u8] {
    fn piece(&self, span: &Span) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self[span.clone()])
    }

    fn stretches(&self) -> Vec<Stretch> {
        let mut spans = Vec::new();
        let mut start = 0;
        while start < self.len() {
            let rest = self.get(start + STRETCH..).unwrap_or_default();
            let end = memchr(b'\n', rest).map_or(self.len(), |n| start + STRETCH + n + 1);
            spans.push(start..end);
            start = end;
        }
        let n_lines = |span: &Span| {
            let text = &self[span.clone()];
            line_ends(text) + usize::from(!text.ends_with(b"\n"))
        };
        let n_lines: Vec<usize> = spans.par_iter().map(n_lines).collect();
        numbered(spans.into_iter().zip(n_lines))
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Held::Plain(Arc::new(bytes)))
    }
}

impl fmt::Debug for FileBytes {
    /// Their number: nobody reads on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = if self.is_packed() { "packed" } else { "plain" };
        write!(f, "FileBytes({} {held})", self.len())
    }
}

/// Ends of lines in a text.
pub(super) fn line_ends(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count()
}

/// Numbers stretches, of which the place and the lines are known.
pub(super) fn numbered(lines: impl IntoIterator<Item = (Span, usize)>) -> Vec<Stretch> {
    let mut before = 0;
    let stretch = |(span, n_lines)| {
        before += n_lines;
        Stretch {
            span,
            n_lines,
            lines_before: before - n_lines,
        }
    };
    lines.into_iter().map(stretch).collect()
}
