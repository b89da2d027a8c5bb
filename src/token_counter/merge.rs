//! Merges the bytes of a piece into tokens with a vocabulary's rule: repeatedly merges the neighbors that form the
//! token with the lowest rank, from left to right.

use super::ranks::{NO_RANK, Ranks};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum bytes of a piece that [`Merger`] counts. Each merge scans the whole piece, which takes quadratic time.
/// [`count_long`] counts longer pieces.
// Chosen: a scan of a short array is faster than a queue, whose entries must be moved and checked. Rank and offset must
// fit an `i32`: the 200,000 ranks take 18 bits, which leaves up to 13 for the offset.
pub(super) const MAX_SCANNED_BYTES: usize = 1 << OFFSET_BITS;
const OFFSET_BITS: u32 = 10;
/// Merge value of neighbors that form no token.
const NO_MERGE: i32 = i32::MAX;
/// Number of bytes that can be read after a piece.
// `Ranks::rank_within` reads 16 bytes from the first offset as one number, whatever the length of the token.
const MARGIN: usize = 16;

/// State of merging a piece. Reused for the next piece to save allocations.
#[derive(Debug, Default)]
pub(super) struct Merger {
    /// Bytes of the piece, then zeros.
    bytes: Vec<u8>,
    /// By the offset where a token begins: the merge with the next token, as rank and offset. The lowest value is
    /// merged first, and the leftmost of equal ranks. [`NO_MERGE`] where no token begins.
    merges: Vec<i32>,
    /// By the offset where a token begins: the offset where it ends.
    ends: Vec<u16>,
    /// By the offset where a token begins: the offset where the previous token begins.
    before: Vec<u16>,
}

impl Merger {
    /// Counts the tokens of a piece of up to [`MAX_SCANNED_BYTES`] bytes.
    pub(super) fn count(&mut self, ranks: &Ranks, piece: &[u8]) -> usize {
        let len = piece.len();
        self.begin(ranks, piece);
        let mut tokens = len;
        loop {
            let merge = self.merges.iter().fold(NO_MERGE, |first, merge| first.min(*merge));
            if merge == NO_MERGE {
                return tokens;
            }
            let at = merge as usize % MAX_SCANNED_BYTES;
            let next = usize::from(self.ends[at]);
            let end = usize::from(self.ends[next]);
            self.merges[next] = NO_MERGE;
            self.ends[at] = end as u16;
            tokens -= 1;
            self.merges[at] = NO_MERGE;
            if end < len {
                self.before[end] = at as u16;
                self.merges[at] = self.merge(ranks, at, usize::from(self.ends[end]));
            }
            if at > 0 {
                let before = usize::from(self.before[at]);
                self.merges[before] = self.merge(ranks, before, end);
            }
        }
    }

    /// Starts with one token per byte.
    fn begin(&mut self, ranks: &Ranks, piece: &[u8]) {
        let len = piece.len();
        self.bytes.clear();
        self.bytes.extend_from_slice(piece);
        self.bytes.resize(len + MARGIN, 0);
        self.ends.clear();
        self.ends.extend(1..=len as u16);
        self.before.clear();
        self.before.extend((0..len as u16).map(|at| at.wrapping_sub(1)));
        self.merges.clear();
        let pairs = piece.windows(2).enumerate();
        self.merges.extend(pairs.map(|(at, pair)| merge(ranks.of_pair(pair[0], pair[1]), at)));
        self.merges.push(NO_MERGE);
    }

    /// Returns the merge of the bytes between two offsets.
    fn merge(&self, ranks: &Ranks, from: usize, to: usize) -> i32 {
        merge(ranks.rank_within(&self.bytes, from, to), from)
    }
}

fn merge(rank: u32, at: usize) -> i32 {
    match rank {
        NO_RANK => NO_MERGE,
        rank => (rank << OFFSET_BITS | at as u32).cast_signed(),
    }
}

/// Bytes that [`count_long`] counts at once, to bound its memory (20 bytes per byte). A longer piece, such as 20 MB of
/// letters without a space, is counted in chunks. Each boundary between two chunks can add a token to the exact
/// count.
// Chosen: 320 MiB of memory at most. At half, texts with a piece of 8 to 16 MiB would have no exact count.
const CHUNK_BYTES: usize = 16 << 20;

/// Counts the tokens of a piece of any length in O(n log n) time.
pub(super) fn count_long(ranks: &Ranks, piece: &[u8]) -> usize {
    piece.chunks(CHUNK_BYTES).map(|part| LongPiece::new(ranks, part).count(ranks)).sum()
}

/// A piece whose next pair to merge comes from a priority queue. Tokens are a linked list of offsets, so that a merge
/// changes only its neighbors. It queues their new pairs and leaves the old ones in the queue, to be skipped later.
#[derive(Debug)]
struct LongPiece {
    /// Bytes of the piece, then zeros.
    bytes: Vec<u8>,
    /// By the offset where a token begins: the offset where it ends.
    ends: Vec<u32>,
    /// By the offset where a token begins: the offset where the previous token begins.
    before: Vec<u32>,
    /// By the offset where a token begins: the rank of the token that it forms with the next one, or [`NO_RANK`].
    pairs: Vec<u32>,
    /// Pairs as `rank << 32 | offset`, lowest first. Entries that no longer match `pairs` are skipped.
    queue: BinaryHeap<Reverse<u64>>,
}

impl LongPiece {
    /// Starts with one token per byte.
    fn new(ranks: &Ranks, piece: &[u8]) -> Self {
        let len = piece.len() as u32;
        let mut bytes = Vec::with_capacity(piece.len() + MARGIN);
        bytes.extend_from_slice(piece);
        bytes.resize(piece.len() + MARGIN, 0);
        let pairs = piece.windows(2).map(|pair| ranks.of_pair(pair[0], pair[1]));
        let pairs: Vec<u32> = pairs.chain([NO_RANK]).collect();
        let queued = (0..).zip(&pairs).filter(|(_, rank)| **rank != NO_RANK);
        Self {
            bytes,
            ends: (1..=len).collect(),
            before: (0..len).map(|at| at.wrapping_sub(1)).collect(),
            queue: queued.map(|(at, rank)| queued_pair(*rank, at)).collect(),
            pairs,
        }
    }

    fn count(mut self, ranks: &Ranks) -> usize {
        let len = self.ends.len();
        let mut tokens = len;
        while let Some(Reverse(pair)) = self.queue.pop() {
            let (rank, at) = ((pair >> 32) as u32, pair as u32 as usize);
            if self.pairs[at] != rank {
                continue;
            }
            let next = self.ends[at] as usize;
            let end = self.ends[next] as usize;
            self.pairs[next] = NO_RANK;
            self.ends[at] = end as u32;
            tokens -= 1;
            self.pairs[at] = NO_RANK;
            if end < len {
                self.before[end] = at as u32;
                self.queue_pair(ranks, at, self.ends[end] as usize);
            }
            if at > 0 {
                self.queue_pair(ranks, self.before[at] as usize, end);
            }
        }
        tokens
    }

    /// Queues the pair that spans these offsets if it forms a token.
    fn queue_pair(&mut self, ranks: &Ranks, from: usize, to: usize) {
        let rank = ranks.rank_within(&self.bytes, from, to);
        self.pairs[from] = rank;
        if rank != NO_RANK {
            self.queue.push(queued_pair(rank, from as u32));
        }
    }
}

fn queued_pair(rank: u32, at: u32) -> Reverse<u64> {
    Reverse(u64::from(rank) << 32 | u64::from(at))
}

#[cfg(test)]
mod tests {
    use super::super::Vocabulary;
    use super::*;
    use proptest::prelude::*;

    fn assert_equal_counts(piece: &[u8]) {
        for vocabulary in Vocabulary::ALL {
            let expected = vocabulary.reference().bpe.count(piece);
            let ranks = vocabulary.ranks();
            let counted = Merger::default().count(ranks, piece);
            assert_eq!(counted, expected, "{vocabulary:?} {piece:?}");
            assert_eq!(count_long(ranks, piece), expected, "long: {vocabulary:?} {piece:?}");
        }
    }

    #[test]
    fn a_rank_and_an_offset_fit_a_merge() {
        for vocabulary in Vocabulary::ALL {
            let most = vocabulary.tokens().count() << OFFSET_BITS;
            assert!(i32::try_from(most).is_ok_and(|most| most < NO_MERGE));
        }
    }

    #[test]
    fn counts_of_tokens_and_pairs_of_tokens_match_the_library() {
        for vocabulary in Vocabulary::ALL {
            let all: Vec<_> = vocabulary.tokens().collect();
            for (rank, one) in all.iter().enumerate().step_by(5) {
                let other = all[rank * 31 % all.len()];
                assert_equal_counts(&[one, other].concat());
                assert_equal_counts(&[other, one, &other[1..], other].concat());
            }
        }
    }

    #[test]
    fn counts_of_runs_match_the_library() {
        for unit in ["a", " ", "=", "漢", "ab", "\t", "é"] {
            for times in [20, 21, 63, 64, 65, 128, 129, MAX_SCANNED_BYTES / unit.len()] {
                assert_equal_counts(unit.repeat(times).as_bytes());
            }
        }
    }

    proptest! {
        #[test]
        fn counts_of_random_pieces_match_the_library(
            bytes in proptest::collection::vec(any::<u8>(), 1..300),
            letters in "[ ]?[a-zA-Z]{1,99}",
            few in "[aAbB ]{1,99}",
            other in "[一-龥ぁ-んァ-ヶа-яα-ω가-힣]{1,99}",
        ) {
            assert_equal_counts(&bytes);
            assert_equal_counts(letters.as_bytes());
            assert_equal_counts(few.as_bytes());
            assert_equal_counts(other.as_bytes());
        }
    }
}
