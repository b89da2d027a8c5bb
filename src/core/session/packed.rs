//! Bytes in separately compressed blocks, so that a span can be read without the rest.
//!
//! A block ends at a line ending unless that is far, so that lines are read block by block on all cores. The end of a
//! block depends only on its content. A file that has grown therefore has the same blocks and additional ones. Two
//! files are compared by their compressed blocks, without decompressing them.

use super::message::Span;
use super::pieces::{LineRange, line_ends, numbered};
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use memchr::memchr;
use rayon::prelude::*;
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Minimum bytes of a block, which ends at the next line ending. A block and its copy fit a core's cache.
// Chosen: reading one record decompresses its block, in less than a millisecond. Half compresses worse, since repeated
// text is only found within a block; double doubles the time to show a record.
const MIN_BLOCK: usize = 256 << 10;
/// Maximum bytes of a block, even without a line ending.
// Chosen: a line with a few images still ends a block, so that lines are rarely joined from several. Double is the
// memory that each core needs for one block.
const MAX_BLOCK: usize = 4 << 20;

/// Compressed bytes.
pub(super) struct Packed {
    blocks: Vec<PackedBlock>,
    /// All bytes, while they are in use.
    whole: Mutex<Weak<Vec<u8>>>,
}

struct PackedBlock {
    /// Byte span in the file.
    span: Span,
    line_ends: usize,
    ends_line: bool,
    packed: Box<[u8]>,
}

impl Packed {
    pub(super) fn len(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.span.end)
    }

    pub(super) fn whole(&self) -> Arc<Vec<u8>> {
        if let Some(whole) = self.cached_whole().upgrade() {
            return whole;
        }
        // Decompresses without the lock: waiting threads could share a worker thread with this task.
        let whole = Arc::new(unpacked(&self.blocks));
        let mut cached = self.cached_whole();
        if let Some(whole) = cached.upgrade() {
            return whole;
        }
        *cached = Arc::downgrade(&whole);
        whole
    }

    /// The value is set at once, so that a poisoned lock is valid.
    fn cached_whole(&self) -> MutexGuard<'_, Weak<Vec<u8>>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn piece(&self, span: &Span) -> Vec<u8> {
        let whole = self.cached_whole().upgrade();
        if let Some(whole) = whole {
            return whole[span.clone()].to_vec();
        }
        let first = self.blocks.partition_point(|b| b.span.end <= span.start);
        let last = self.blocks.partition_point(|b| b.span.start < span.end);
        let blocks = self.blocks.get(first..last).unwrap_or_default();
        let mut found = unpacked(blocks);
        let start = blocks.first().map_or(span.start, |block| block.span.start);
        found.truncate(span.end - start);
        found.drain(..span.start - start);
        found
    }

    /// Returns ranges of whole lines. Joins blocks if a line continues in the next one.
    pub(super) fn line_ranges(&self) -> Vec<LineRange> {
        let runs = self.blocks.split_inclusive(|block| block.ends_line);
        numbered(runs.map(|run| {
            let is_open = run.last().is_some_and(|block| !block.ends_line);
            let ends: usize = run.iter().map(|block| block.line_ends).sum();
            (span_of(run), ends + usize::from(is_open))
        }))
    }

    pub(super) fn line_ends(&self, span: &Span) -> usize {
        self.line_ends_before(span.end) - self.line_ends_before(span.start)
    }

    fn line_ends_before(&self, byte: usize) -> usize {
        let n = self.blocks.partition_point(|b| b.span.end <= byte);
        let ends: usize = self.blocks[..n].iter().map(|block| block.line_ends).sum();
        let within = self.blocks.get(n).filter(|block| block.line_ends > 0);
        let rest = within.map(|block| block.span.start..byte);
        ends + rest.map_or(0, |rest| line_ends(&self.piece(&rest)))
    }

    pub(super) fn is_blank(&self) -> bool {
        let is_blank =
            |block: &PackedBlock| unpacked(slice::from_ref(block)).trim_ascii().is_empty();
        self.blocks.iter().all(is_blank)
    }

    /// Returns a lower bound of the number of equal bytes at the start.
    pub(super) fn common_prefix(&self, other: &Self) -> usize {
        let both = self.blocks.iter().zip(&other.blocks);
        let same = both.take_while(|(a, b)| a.span == b.span && a.packed == b.packed);
        same.last().map_or(0, |(block, _)| block.span.end)
    }
}

impl PackedBlock {
    /// Compresses a block. Reuses `buffer` for the next one.
    fn pack(text: &[u8], start: usize, buffer: &mut Vec<u8>) -> Self {
        let most = get_maximum_output_size(text.len());
        if buffer.len() < most {
            *buffer = vec![0; most];
        }
        let n = compress_into(text, buffer).expect("the buffer has the maximum size");
        Self {
            span: start..start + text.len(),
            line_ends: line_ends(text),
            ends_line: text.ends_with(b"\n"),
            packed: buffer[..n].into(),
        }
    }

    fn unpack(&self, to: &mut [u8]) {
        decompress_into(&self.packed, to).expect("compressed by this type");
    }
}

fn span_of(blocks: &[PackedBlock]) -> Span {
    let start = blocks.first().map_or(0, |block| block.span.start);
    start..blocks.last().map_or(start, |block| block.span.end)
}

fn unpacked(blocks: &[PackedBlock]) -> Vec<u8> {
    let mut bytes = vec![0; span_of(blocks).len()];
    let mut rest = &mut bytes[..];
    let mut places = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (place, after) = rest.split_at_mut(block.span.len());
        places.push((block, place));
        rest = after;
    }
    // Usually a single block, read on one of many cores.
    match &mut places[..] {
        [(block, place)] => block.unpack(place),
        places => places.par_iter_mut().for_each(|(block, place)| block.unpack(place)),
    }
    bytes
}

/// Compresses bytes in a stream.
#[derive(Default)]
pub struct Packer {
    blocks: Vec<PackedBlock>,
    /// Bytes that belong to no block yet.
    open: Vec<u8>,
}

impl Packer {
    /// Returns the number of bytes pushed so far.
    pub fn len(&self) -> usize {
        span_of(&self.blocks).end + self.open.len()
    }

    /// Returns whether no bytes were pushed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes and compresses complete blocks on all cores.
    pub fn push(&mut self, bytes: &[u8]) {
        self.open.extend_from_slice(bytes);
        let mut ends = Vec::new();
        let mut start = 0;
        while let Some(end) = block_end(&self.open[start..]) {
            ends.push(start..start + end);
            start += end;
        }
        self.pack(&ends);
        self.open.drain(..start);
    }

    /// Compresses the remaining bytes.
    pub(super) fn into_packed(mut self) -> Packed {
        let rest = 0..self.open.len();
        if !rest.is_empty() {
            self.pack(&[rest]);
        }
        self.blocks.shrink_to_fit();
        Packed { blocks: self.blocks, whole: Mutex::default() }
    }

    fn pack(&mut self, spans: &[Span]) {
        let (open, before) = (&self.open, span_of(&self.blocks).end);
        let pack = |buffer: &mut Vec<u8>, span: &Span| {
            PackedBlock::pack(&open[span.clone()], before + span.start, buffer)
        };
        let blocks = spans.par_iter().map_init(Vec::new, pack);
        self.blocks.par_extend(blocks);
    }
}

/// Returns the end of the block at the start of `rest`, or `None` if more bytes are needed.
fn block_end(rest: &[u8]) -> Option<usize> {
    let near = &rest[..rest.len().min(MAX_BLOCK)];
    let line = memchr(b'\n', near.get(MIN_BLOCK..)?);
    let is_far = near.len() == MAX_BLOCK;
    line.map(|n| MIN_BLOCK + n + 1).or(is_far.then_some(MAX_BLOCK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{FileBytes, Pieces as _};

    /// Lines of various lengths. One is longer than a block can be, and the last has no line ending.
    fn text() -> Vec<u8> {
        let line = |n: usize| format!("{n} {}\n", "word ".repeat(n * 37 % 3000)).into_bytes();
        let mut text: Vec<u8> = (0..200).flat_map(line).collect();
        text.extend(b"x".repeat(2 * MAX_BLOCK + 5));
        text.extend((0..100).flat_map(line));
        text.extend(b"end");
        text
    }

    fn packed(text: &[u8], at_once: usize) -> FileBytes {
        let mut packer = Packer::default();
        text.chunks(at_once).for_each(|chunk| packer.push(chunk));
        assert_eq!(packer.len(), text.len());
        packer.finish()
    }

    #[test]
    fn restores_all_bytes_and_every_piece() {
        let text = text();
        for at_once in [1 << 10, MIN_BLOCK, MAX_BLOCK + 1, text.len()] {
            let packed = packed(&text, at_once);
            assert_eq!(packed.len(), text.len());
            let ends = [0, 1, 4_000, MIN_BLOCK, MIN_BLOCK + 1, MAX_BLOCK, text.len()];
            for span in ends.windows(2).map(|pair| pair[0]..pair[1]) {
                assert_eq!(*packed.piece(&span), text[span.clone()], "{span:?}");
                assert_eq!(packed.line_ends(&span), line_ends(&text[span]));
            }
            let cached_whole = packed.whole();
            assert!(*cached_whole == text, "{at_once}");
            assert!(Arc::ptr_eq(&cached_whole, &packed.whole()));
            assert_eq!(*packed.piece(&(9..99)), text[9..99]);
        }
    }

    #[test]
    fn numbers_line_ranges_as_for_uncompressed_text() {
        let text = text();
        let packed = packed(&text, 100_000);
        let line_ranges = packed.line_ranges();
        let mut next = 0;
        let mut lines = 0;
        for range in &line_ranges {
            assert_eq!((range.span.start, range.lines_before), (next, lines));
            (next, lines) = (range.span.end, lines + range.n_lines);
            assert!(text[..next].ends_with(b"\n") || next == text.len());
        }
        assert!(line_ranges.len() > 2);
        let plain: usize = text[..].line_ranges().iter().map(|s| s.n_lines).sum();
        assert_eq!((next, lines), (text.len(), plain));
    }

    #[test]
    fn starts_with_accepts_grown_files_and_rejects_changed_ones() {
        let text = text();
        let before = packed(&text[..text.len() - 70_000], 1 << 20);
        let grown = packed(&text, 300_000);
        let plain = FileBytes::from(text.clone());
        for after in [&grown, &plain] {
            assert!(after.starts_with(&before));
            assert!(!before.starts_with(after));
        }
        assert!(grown.starts_with(&plain) && plain.starts_with(&grown));
        let long = text.iter().position(|byte| *byte == b'x');
        let within = long.map_or(0, |start| start + MAX_BLOCK + 1);
        for at in [0, MIN_BLOCK + 9, within, text.len() - 70_001] {
            let mut other = text.clone();
            other[at] ^= 1;
            assert!(!packed(&other, 1 << 20).starts_with(&before), "{at}");
        }
    }

    #[test]
    fn recognizes_empty_and_blank_bytes() {
        let empty = Packer::default();
        assert!(empty.is_empty());
        let empty = empty.finish();
        assert!(empty.is_empty() && empty.is_blank() && empty.whole().is_empty());
        assert_eq!(empty.line_ranges(), []);
        assert!(packed(&b" \n".repeat(MIN_BLOCK), 99).is_blank());
        assert!(!packed(&[&b" \n".repeat(MIN_BLOCK)[..], b"x"].concat(), 9_999).is_blank());
    }
}
