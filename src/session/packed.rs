//! Bytes in blocks that are packed each by itself, so that what stands at a place can be had without the rest.
//!
//! A block ends where a line does, unless that is far: whoever reads lines reads block by block, on all cores. Where it
//! ends depends on what it holds alone, so that a file that has grown has the same blocks and more.

use super::bytes::{FileBytes, Stretch, line_ends, numbered};
use super::message::Span;
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use memchr::memchr;
use rayon::prelude::*;
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A block ends with the first line that ends behind so many bytes. With its copy it stays in a core's own cache.
const BLOCK: usize = 256 << 10;
/// And here, wherever the line ends.
const LONGEST: usize = 4 << 20;

/// Packed bytes.
pub(super) struct Packed {
    blocks: Vec<Block>,
    /// All of them, while somebody has them.
    whole: Mutex<Weak<Vec<u8>>>,
}

struct Block {
    /// Where it stands in the file.
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
        if let Some(whole) = self.held().upgrade() {
            return whole;
        }
        // Others must not wait for it: they may be what this waits for, on a thread that it shares with them.
        let whole = Arc::new(unpacked(&self.blocks));
        let mut held = self.held();
        if let Some(others) = held.upgrade() {
            return others;
        }
        *held = Arc::downgrade(&whole);
        whole
    }

    /// Nobody can have left it half done: it is set at once.
    fn held(&self) -> MutexGuard<'_, Weak<Vec<u8>>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn piece(&self, span: &Span) -> Vec<u8> {
        let whole = self.held().upgrade();
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

    /// Blocks, joined where a line goes on in the next.
    pub(super) fn stretches(&self) -> Vec<Stretch> {
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
        let is_blank = |block: &Block| unpacked(slice::from_ref(block)).trim_ascii().is_empty();
        self.blocks.iter().all(is_blank)
    }

    /// So many bytes at least are the same in both.
    pub(super) fn same_start(&self, other: &Self) -> usize {
        let both = self.blocks.iter().zip(&other.blocks);
        let same = both.take_while(|(a, b)| a.span == b.span && a.packed == b.packed);
        same.last().map_or(0, |(block, _)| block.span.end)
    }
}

impl Block {
    /// `room` is used again for the next.
    fn pack(text: &[u8], start: usize, room: &mut Vec<u8>) -> Self {
        room.resize(get_maximum_output_size(text.len()).max(room.len()), 0);
        let n = compress_into(text, room).expect("there is room for the worst");
        Self {
            span: start..start + text.len(),
            line_ends: line_ends(text),
            ends_line: text.ends_with(b"\n"),
            packed: room[..n].into(),
        }
    }

    fn unpack(&self, to: &mut [u8]) {
        decompress_into(&self.packed, to).expect("what was packed here can be unpacked");
    }
}

fn span_of(blocks: &[Block]) -> Span {
    let start = blocks.first().map_or(0, |block| block.span.start);
    start..blocks.last().map_or(start, |block| block.span.end)
}

fn unpacked(blocks: &[Block]) -> Vec<u8> {
    let mut bytes = vec![0; span_of(blocks).len()];
    let mut rest = &mut bytes[..];
    let mut places = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (place, after) = rest.split_at_mut(block.span.len());
        places.push((block, place));
        rest = after;
    }
    // Mostly it is one, of many that are read on all cores.
    match &mut places[..] {
        [(block, place)] => block.unpack(place),
        places => places
            .par_iter_mut()
            .for_each(|(block, place)| block.unpack(place)),
    }
    bytes
}

/// Packs bytes as they come.
#[derive(Default)]
pub struct Packer {
    blocks: Vec<Block>,
    /// What came and belongs to no block yet.
    open: Vec<u8>,
}

impl Packer {
    /// How many have come.
    pub fn len(&self) -> usize {
        span_of(&self.blocks).end + self.open.len()
    }

    /// None have come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the next ones in, on all cores.
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

    /// All that came.
    pub fn finish(mut self) -> FileBytes {
        let rest = 0..self.open.len();
        if !rest.is_empty() {
            self.pack(&[rest]);
        }
        self.blocks.shrink_to_fit();
        FileBytes::packed(Packed {
            blocks: self.blocks,
            whole: Mutex::default(),
        })
    }

    fn pack(&mut self, spans: &[Span]) {
        let (open, before) = (&self.open, span_of(&self.blocks).end);
        let pack = |room: &mut Vec<u8>, span: &Span| {
            Block::pack(&open[span.clone()], before + span.start, room)
        };
        let blocks = spans.par_iter().map_init(Vec::new, pack);
        self.blocks.par_extend(blocks);
    }
}

/// Where the block ends that begins here, once that is known.
fn block_end(rest: &[u8]) -> Option<usize> {
    let near = &rest[..rest.len().min(LONGEST)];
    let line = memchr(b'\n', near.get(BLOCK..)?);
    let is_far = near.len() == LONGEST;
    line.map(|n| BLOCK + n + 1).or(is_far.then_some(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Pieces as _;

    /// Lines of odd lengths, of which one is longer than a block can be, and the last has no end.
    fn text() -> Vec<u8> {
        let line = |n: usize| format!("{n} {}\n", "word ".repeat(n * 37 % 3000)).into_bytes();
        let mut text: Vec<u8> = (0..200).flat_map(line).collect();
        text.extend(b"x".repeat(2 * LONGEST + 5));
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
    fn however_bytes_come_all_of_them_and_each_piece_are_there_again() {
        let text = text();
        for at_once in [1 << 10, BLOCK, LONGEST + 1, text.len()] {
            let packed = packed(&text, at_once);
            assert_eq!(packed.len(), text.len());
            let ends = [0, 1, 4_000, BLOCK, BLOCK + 1, LONGEST, text.len()];
            for span in ends.windows(2).map(|pair| pair[0]..pair[1]) {
                assert_eq!(*packed.piece(&span), text[span.clone()], "{span:?}");
                assert_eq!(packed.line_ends(&span), line_ends(&text[span]));
            }
            let held = packed.whole();
            assert!(*held == text, "{at_once}");
            assert!(Arc::ptr_eq(&held, &packed.whole()));
            assert_eq!(*packed.piece(&(9..99)), text[9..99]);
        }
    }

    #[test]
    fn stretches_are_whole_lines_numbered_as_those_of_plain_text() {
        let text = text();
        let packed = packed(&text, 100_000);
        let stretches = packed.stretches();
        let mut next = 0;
        let mut lines = 0;
        for stretch in &stretches {
            assert_eq!((stretch.span.start, stretch.lines_before), (next, lines));
            (next, lines) = (stretch.span.end, lines + stretch.n_lines);
            assert!(text[..next].ends_with(b"\n") || next == text.len());
        }
        assert!(stretches.len() > 2);
        let plain: usize = text[..].stretches().iter().map(|s| s.n_lines).sum();
        assert_eq!((next, lines), (text.len(), plain));
    }

    #[test]
    fn what_has_grown_begins_as_before_and_what_was_changed_does_not() {
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
        let within = long.map_or(0, |start| start + LONGEST + 1);
        for at in [0, BLOCK + 9, within, text.len() - 70_001] {
            let mut other = text.clone();
            other[at] ^= 1;
            assert!(!packed(&other, 1 << 20).starts_with(&before), "{at}");
        }
    }

    #[test]
    fn nothing_is_nothing_and_blank_is_blank() {
        let nothing = Packer::default();
        assert!(nothing.is_empty());
        let nothing = nothing.finish();
        assert!(nothing.is_empty() && nothing.is_blank() && nothing.whole().is_empty());
        assert_eq!(nothing.stretches(), []);
        assert!(packed(&b" \n".repeat(BLOCK), 99).is_blank());
        assert!(!packed(&[&b" \n".repeat(BLOCK)[..], b"x"].concat(), 9_999).is_blank());
    }
}
