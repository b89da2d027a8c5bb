//! Ranks of a vocabulary's tokens by their bytes. Also merges pieces of a few bytes within a single number, which is
//! several times as fast as the methods for long pieces.
//!
//! Most byte strings that a merge looks up are no tokens. A Bloom filter that fits the CPU cache rejects nine in ten of
//! them, so that the large hash table is mostly read for tokens.

use std::collections::HashMap;
use std::hint::black_box;

/// Maximum bytes of pieces and tokens that fit a 128-bit number with their length and rank.
// 104 bits of bytes, 4 of the length and 20 of the rank. 191,643 of the 199,998 tokens of `o200k_base` are as short.
pub(super) const MAX_SHORT_BYTES: usize = 13;
/// Size of the table: a power of two, a third more than the short tokens of the largest vocabulary. Frequent tokens
/// come first and stay in the CPU cache.
// Half would not hold the tokens. Double takes 8 MB instead of 4 MB, and shortens the probes that the filter lets pass.
const TABLE_SIZE: usize = 1 << TABLE_BITS;
const TABLE_BITS: u32 = 18;
/// A token's bytes, its length and its rank share a 128-bit number.
const LENGTH_AT: u32 = 8 * MAX_SHORT_BYTES as u32;
const RANK_AT: u32 = LENGTH_AT + 4;
/// Mask of bytes and length.
const KEY_MASK: u128 = (1 << RANK_AT) - 1;
/// Bits of the filter: few enough for the CPU cache, and enough to reject nine in ten byte strings that are not tokens.
// 256 KiB. 200,000 tokens mark 9 % of 2^21 bits; half as many bits would let twice as many byte strings pass.
const FILTER_BITS: usize = 1 << 21;
/// Number of tokens whose entries of the table are loaded at the same time.
// Chosen: more than the loads from memory that a core has under way at once, so that a larger batch gains nothing.
const BATCH: usize = 32;
/// Rank of a byte string that is not a token.
pub(super) const NO_RANK: u32 = u32::MAX;

/// The ranks of a vocabulary's tokens.
#[derive(Debug)]
pub(super) struct Ranks {
    /// Ranks of tokens of two bytes, which are looked up most.
    pairs: Vec<u32>,
    /// A Bloom filter of the tokens' keys. Most looked-up byte strings are not tokens, and the table is large.
    filter: Vec<u64>,
    /// Hash table with linear probing; 0 is a free entry.
    table: Vec<u128>,
    /// Ranks of longer tokens.
    long: HashMap<&'static [u8], u32>,
}

impl Ranks {
    /// Builds the ranks of tokens listed in order.
    pub(super) fn of(tokens: impl Iterator<Item = &'static [u8]>) -> Self {
        let mut ranks = Self {
            pairs: vec![NO_RANK; 1 << 16],
            filter: vec![0; FILTER_BITS / 64],
            table: vec![0; TABLE_SIZE],
            long: HashMap::new(),
        };
        // A table must have free entries, since a search ends at one. No vocabulary has as many tokens.
        let mut tokens = (0..).zip(tokens.take(TABLE_SIZE / 8 * 7));
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            let next = tokens.by_ref().take(BATCH);
            batch.extend(next.map(|(rank, token)| ranks.prepare(token, rank)));
            if batch.is_empty() {
                return ranks;
            }
            // The table is larger than the CPU cache. Reading the entries first waits once per batch, not once per token.
            for (hash, _) in batch.iter().flatten() {
                black_box(ranks.table[place(*hash)]);
            }
            for (hash, token) in batch.drain(..).flatten() {
                ranks.mark(hash);
                let at = ranks.index_of(token & KEY_MASK, hash);
                ranks.table[at] = token;
            }
        }
    }

    /// Adds a long token. Returns the hash of a short one, and its entry of the table.
    fn prepare(&mut self, token: &'static [u8], rank: u32) -> Option<(u64, u128)> {
        if let Some(first) = first_of_long(token) {
            self.mark(first);
            self.long.insert(token, rank);
            return None;
        }
        if let [first, second] = token {
            self.pairs[usize::from(u16::from_le_bytes([*first, *second]))] = rank;
        }
        let mut bytes = [0; 16];
        bytes[..token.len()].copy_from_slice(token);
        let key = key(u128::from_le_bytes(bytes), token.len());
        Some((hash(key), key | u128::from(rank) << RANK_AT))
    }

    fn mark(&mut self, hash: u64) {
        self.filter[hash as usize % FILTER_BITS / 64] |= 1 << (hash % 64);
    }

    /// Returns whether a token may have this hash. If not marked, no token has it.
    #[inline]
    fn is_marked(&self, hash: u64) -> bool {
        self.filter[hash as usize % FILTER_BITS / 64] >> (hash % 64) & 1 != 0
    }

    /// Counts the tokens of a piece of up to [`MAX_SHORT_BYTES`] bytes, given as a number whose lowest byte is the first.
    #[inline]
    pub(super) fn count(&self, piece: u128, len: usize) -> usize {
        match len {
            2 if self.pairs[piece as usize & 0xffff] == NO_RANK => 2,
            1 | 2 => 1,
            _ => self.count_longer(piece, len),
        }
    }

    fn count_longer(&self, piece: u128, len: usize) -> usize {
        // Merging the bytes of a token always yields the token, and most pieces are one token.
        if self.rank(piece, len) != NO_RANK {
            return 1;
        }
        // Offsets where tokens begin and the end of the last one, and the rank of each token merged with the next.
        let mut begins: [u8; MAX_SHORT_BYTES + 1] = std::array::from_fn(|at| at as u8);
        let mut merged = [NO_RANK; MAX_SHORT_BYTES];
        for (at, rank) in merged.iter_mut().enumerate().take(len.saturating_sub(1)) {
            *rank = self.pairs[(piece >> (8 * at)) as usize & 0xffff];
        }
        let mut n = len;
        while n > 1 {
            let mut at = 0;
            for other in 1..n - 1 {
                at = if merged[other] < merged[at] { other } else { at };
            }
            if merged[at] == NO_RANK {
                break;
            }
            begins.copy_within(at + 2..=n, at + 1);
            merged.copy_within(at + 1..n, at);
            n -= 1;
            merged[n - 1] = NO_RANK;
            for changed in at.saturating_sub(1)..(at + 1).min(n - 1) {
                let (from, to) = (usize::from(begins[changed]), usize::from(begins[changed + 2]));
                merged[changed] = self.rank(piece >> (8 * from), to - from);
            }
        }
        n
    }

    /// Returns the rank of two bytes.
    pub(super) fn of_pair(&self, first: u8, second: u8) -> u32 {
        self.pairs[usize::from(u16::from_le_bytes([first, second]))]
    }

    /// Returns the rank of the bytes between two offsets. At least 16 more bytes must follow the second offset.
    pub(super) fn rank_within(&self, bytes: &[u8], from: usize, to: usize) -> u32 {
        let first = bytes.get(from..from + 16).and_then(|b| b.try_into().ok());
        match first {
            Some(first) if to - from <= MAX_SHORT_BYTES => {
                self.rank(u128::from_le_bytes(first), to - from)
            }
            _ => self.rank_of_long(&bytes[from..to]),
        }
    }

    /// Returns the rank of more than [`MAX_SHORT_BYTES`] bytes.
    pub(super) fn rank_of_long(&self, token: &[u8]) -> u32 {
        match first_of_long(token) {
            Some(first) if self.is_marked(first) => {
                self.long.get(token).copied().unwrap_or(NO_RANK)
            }
            _ => NO_RANK,
        }
    }

    /// Returns the rank of the first `len` bytes of a piece.
    fn rank(&self, piece: u128, len: usize) -> u32 {
        let key = key(piece, len);
        let hash = hash(key);
        if !self.is_marked(hash) {
            return NO_RANK;
        }
        match self.table[self.index_of(key, hash)] {
            0 => NO_RANK,
            token => (token >> RANK_AT) as u32,
        }
    }

    /// Returns the index of a token in the table, or of the free entry for it.
    fn index_of(&self, key: u128, hash: u64) -> usize {
        let mut at = place(hash);
        while self.table[at] != 0 && self.table[at] & KEY_MASK != key {
            at = (at + 1) % TABLE_SIZE;
        }
        at
    }
}

/// Returns the index of the first entry of the table for a hash.
#[inline]
fn place(hash: u64) -> usize {
    // The highest bits depend on every byte. By others, tokens with a common beginning would share a place.
    (hash >> (u64::BITS - TABLE_BITS)) as usize
}

/// Returns the hash of a key.
#[inline]
fn hash(key: u128) -> u64 {
    // As in `piece_cache`: 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (low, high) = (key as u64, (key >> 64) as u64);
    let hash = (low ^ high.rotate_left(29).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    hash ^ hash >> 29
}

/// Returns the filter hash of a long token, from its first bytes. Returns `None` for a short one.
fn first_of_long(token: &[u8]) -> Option<u64> {
    let first: &[u8; MAX_SHORT_BYTES] =
        token.first_chunk().filter(|_| token.len() > MAX_SHORT_BYTES)?;
    let mut bytes = [0; 16];
    bytes[..MAX_SHORT_BYTES].copy_from_slice(first);
    let key = key(u128::from_le_bytes(bytes), MAX_SHORT_BYTES);
    // A length greater than that of any short token.
    Some(hash(key + (1 << LENGTH_AT)))
}

/// Returns the key of the first `len` bytes of a piece: the bytes and the length.
fn key(piece: u128, len: usize) -> u128 {
    (piece & ((1 << (8 * len)) - 1)) | (len as u128) << LENGTH_AT
}

#[cfg(test)]
mod tests {
    use super::super::Vocabulary;
    use super::*;
    use proptest::prelude::*;

    fn assert_equal_counts(piece: &[u8]) {
        let mut bytes = [0xff; 16];
        bytes[..piece.len()].copy_from_slice(piece);
        for vocabulary in Vocabulary::ALL {
            let counted = vocabulary.ranks().count(u128::from_le_bytes(bytes), piece.len());
            assert_eq!(
                counted,
                vocabulary.reference().bpe.count(piece),
                "{vocabulary:?} {piece:?}"
            );
        }
    }

    #[test]
    fn only_tokens_have_ranks() {
        for vocabulary in Vocabulary::ALL {
            let ranks = vocabulary.ranks();
            for (rank, token) in (0..).zip(vocabulary.tokens()) {
                let padded = [token, &[7; 17]].concat();
                assert_eq!(ranks.rank_within(&padded, 0, token.len()), rank, "{token:?}");
            }
            assert_eq!(ranks.rank_within(&[0xff; 40], 0, 13), NO_RANK);
            assert_eq!(ranks.rank_within(&[0xff; 40], 0, 14), NO_RANK);
        }
    }

    #[test]
    fn counts_of_tokens_and_pairs_of_tokens_match_the_library() {
        for vocabulary in Vocabulary::ALL {
            let all: Vec<_> = vocabulary.tokens().collect();
            let all = &all;
            let check = move |rank: usize| {
                let (one, other) = (all[rank], all[rank * 31 % all.len()]);
                for piece in [one.to_vec(), [one, other].concat(), [&other[1..], one].concat()] {
                    assert_equal_counts(&piece[..piece.len().min(MAX_SHORT_BYTES)]);
                }
            };
            std::thread::scope(|scope| {
                for first in 0..2 {
                    scope.spawn(move || (first..all.len()).step_by(2).for_each(check));
                }
            });
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn counts_of_random_pieces_match_the_library(
            bytes in proptest::collection::vec(any::<u8>(), 1..=MAX_SHORT_BYTES),
            letters in "[ ]?[a-zA-Z]{1,12}",
            few in "[aAbB ]{1,13}",
        ) {
            assert_equal_counts(&bytes);
            assert_equal_counts(letters.as_bytes());
            assert_equal_counts(few.as_bytes());
        }
    }
}
