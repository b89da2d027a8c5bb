//! The ranks of a vocabulary's tokens, by their bytes; and pieces of a few bytes joined by them as they stand in a number,
//! which is several times as fast as any way that is quick with long ones.

use std::collections::HashMap;

/// Bytes of the longest pieces, and of the longest tokens, that fit a number with what is told of them.
pub(super) const LONGEST: usize = 13;
/// Places of the table: a power of two, a third more than the largest vocabulary has short tokens: what is asked
/// for most comes first, and stays near.
const PLACES: usize = 1 << 18;
/// A token's bytes as a number, its length and its rank share a number of 128 bits.
const LENGTH_AT: u32 = 8 * LONGEST as u32;
const RANK_AT: u32 = LENGTH_AT + 4;
/// Bytes and length.
const NAME: u128 = (1 << RANK_AT) - 1;
/// Bits of the filter: few enough to stay near, many enough that nine in ten names of no token find a zero.
const BITS: usize = 1 << 21;
/// The rank of what is no token.
pub(super) const NONE: u32 = u32::MAX;

/// The ranks of a vocabulary's tokens.
#[derive(Debug)]
pub(super) struct Ranks {
    /// Those of two bytes, which are asked for most.
    pairs: Vec<u32>,
    /// A bit for every name that some token has: most that is asked for is none, and the table is large.
    filter: Vec<u64>,
    /// By name; a token whose place is taken stands in the next that is free. 0 is a free one.
    table: Vec<u128>,
    /// Those that are longer.
    long: HashMap<&'static [u8], u32>,
}

impl Ranks {
    /// Those of these tokens, which are in order.
    pub(super) fn of(tokens: impl Iterator<Item = &'static [u8]>) -> Self {
        let mut ranks = Self {
            pairs: vec![NONE; 1 << 16],
            filter: vec![0; BITS / 64],
            table: vec![0; PLACES],
            long: HashMap::new(),
        };
        for (rank, token) in (0..).zip(tokens.take(PLACES / 8 * 7)) {
            ranks.add(token, rank);
        }
        ranks
    }

    fn add(&mut self, token: &'static [u8], rank: u32) {
        if let Some(first) = first_of_long(token) {
            self.mark(first);
            self.long.insert(token, rank);
            return;
        }
        if let [first, second] = token {
            self.pairs[usize::from(u16::from_le_bytes([*first, *second]))] = rank;
        }
        let mut bytes = [0; 16];
        bytes[..token.len()].copy_from_slice(token);
        let name = name(u128::from_le_bytes(bytes), token.len());
        let mixed = mixed(name);
        let at = self.place_of(name, mixed);
        self.mark(mixed);
        self.table[at] = name | u128::from(rank) << RANK_AT;
    }

    fn mark(&mut self, mixed: u64) {
        self.filter[mixed as usize % BITS / 64] |= 1 << (mixed % 64);
    }

    /// Whether some token may have this name; none has it where it is not marked.
    #[inline]
    fn is_marked(&self, mixed: u64) -> bool {
        self.filter[mixed as usize % BITS / 64] >> (mixed % 64) & 1 != 0
    }

    /// The tokens of a piece of up to [`LONGEST`] bytes, given as a number whose lowest byte is the first.
    #[inline]
    pub(super) fn count(&self, piece: u128, len: usize) -> usize {
        match len {
            2 if self.pairs[piece as usize & 0xffff] == NONE => 2,
            1 | 2 => 1,
            _ => self.count_longer(piece, len),
        }
    }

    fn count_longer(&self, piece: u128, len: usize) -> usize {
        // Every token is what its bytes are joined to, and most pieces are one.
        if self.rank(piece, len) != NONE {
            return 1;
        }
        // Where tokens begin, the end behind the last; and for each what it makes with the next.
        let mut begins: [u8; LONGEST + 1] = std::array::from_fn(|at| at as u8);
        let mut joined = [NONE; LONGEST];
        for (at, rank) in joined.iter_mut().enumerate().take(len.saturating_sub(1)) {
            *rank = self.pairs[(piece >> (8 * at)) as usize & 0xffff];
        }
        let mut n = len;
        while n > 1 {
            let mut at = 0;
            for other in 1..n - 1 {
                at = if joined[other] < joined[at] {
                    other
                } else {
                    at
                };
            }
            if joined[at] == NONE {
                break;
            }
            begins.copy_within(at + 2..=n, at + 1);
            joined.copy_within(at + 1..n, at);
            n -= 1;
            joined[n - 1] = NONE;
            for changed in at.saturating_sub(1)..(at + 1).min(n - 1) {
                let (from, to) = (
                    usize::from(begins[changed]),
                    usize::from(begins[changed + 2]),
                );
                joined[changed] = self.rank(piece >> (8 * from), to - from);
            }
        }
        n
    }

    /// The rank of two bytes.
    pub(super) fn of_pair(&self, first: u8, second: u8) -> u32 {
        self.pairs[usize::from(u16::from_le_bytes([first, second]))]
    }

    /// The rank of what stands between two places; behind the second there are at least 16 more bytes.
    pub(super) fn rank_within(&self, bytes: &[u8], from: usize, to: usize) -> u32 {
        let first = bytes.get(from..from + 16).and_then(|b| b.try_into().ok());
        match first {
            Some(first) if to - from <= LONGEST => self.rank(u128::from_le_bytes(first), to - from),
            _ => self.rank_of_long(&bytes[from..to]),
        }
    }

    /// The rank of more than [`LONGEST`] bytes.
    pub(super) fn rank_of_long(&self, token: &[u8]) -> u32 {
        match first_of_long(token) {
            Some(first) if self.is_marked(first) => self.long.get(token).copied().unwrap_or(NONE),
            _ => NONE,
        }
    }

    /// The rank of the first bytes of a piece.
    fn rank(&self, piece: u128, len: usize) -> u32 {
        let name = name(piece, len);
        let mixed = mixed(name);
        if !self.is_marked(mixed) {
            return NONE;
        }
        match self.table[self.place_of(name, mixed)] {
            0 => NONE,
            token => (token >> RANK_AT) as u32,
        }
    }

    /// Where a token stands, or would.
    fn place_of(&self, name: u128, mixed: u64) -> usize {
        let mut at = (mixed >> 32) as usize % PLACES;
        while self.table[at] != 0 && self.table[at] & NAME != name {
            at = (at + 1) % PLACES;
        }
        at
    }
}

/// A number made of a name, by which it is found.
#[inline]
fn mixed(name: u128) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (low, high) = (name as u64, (name >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    mixed ^ mixed >> 29
}

/// What tells long tokens by their first bytes from most that is none; nothing of a short one.
fn first_of_long(token: &[u8]) -> Option<u64> {
    let first: &[u8; LONGEST] = token.first_chunk().filter(|_| token.len() > LONGEST)?;
    let mut bytes = [0; 16];
    bytes[..LONGEST].copy_from_slice(first);
    let name = name(u128::from_le_bytes(bytes), LONGEST);
    // As if it were longer than any short one.
    Some(mixed(name + (1 << LENGTH_AT)))
}

/// The first bytes of a piece, and how many.
fn name(piece: u128, len: usize) -> u128 {
    (piece & ((1 << (8 * len)) - 1)) | (len as u128) << LENGTH_AT
}

#[cfg(test)]
mod tests {
    use super::super::pieces::Rule;
    use super::super::vocabulary::{self, library};
    use super::*;
    use proptest::prelude::*;

    fn agree(piece: &[u8]) {
        let mut bytes = [0xff; 16];
        bytes[..piece.len()].copy_from_slice(piece);
        for rule in Rule::ALL {
            let counted = vocabulary::ranks(rule).count(u128::from_le_bytes(bytes), piece.len());
            assert_eq!(
                counted,
                library(rule).bpe.count(piece),
                "{rule:?} {piece:?}"
            );
        }
    }

    #[test]
    fn every_token_has_its_rank_and_nothing_else_has_one() {
        for rule in Rule::ALL {
            let ranks = vocabulary::ranks(rule);
            for (rank, token) in (0..).zip(vocabulary::tokens(rule)) {
                let padded = [token, &[7; 17]].concat();
                assert_eq!(
                    ranks.rank_within(&padded, 0, token.len()),
                    rank,
                    "{token:?}"
                );
            }
            assert_eq!(ranks.rank_within(&[0xff; 40], 0, 13), NONE);
            assert_eq!(ranks.rank_within(&[0xff; 40], 0, 14), NONE);
        }
    }

    #[test]
    fn all_tokens_and_what_they_make_with_others_count_as_the_library_counts() {
        for rule in Rule::ALL {
            let all: Vec<_> = vocabulary::tokens(rule).collect();
            for (rank, one) in all.iter().enumerate() {
                let other = all[rank * 31 % all.len()];
                for piece in [
                    one.to_vec(),
                    [one, other].concat(),
                    [&other[1..], one].concat(),
                ] {
                    agree(&piece[..piece.len().min(LONGEST)]);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn odd_pieces_count_as_the_library_counts(
            bytes in proptest::collection::vec(any::<u8>(), 1..=LONGEST),
            letters in "[ ]?[a-zA-Z]{1,12}",
            few in "[aAbB ]{1,13}",
        ) {
            agree(&bytes);
            agree(letters.as_bytes());
            agree(few.as_bytes());
        }
    }
}
