//! Counts a text piece by piece. Caches short pieces, because most words of a text repeat.

use super::Vocabulary;
use super::merge::{self, Merger};
use super::ranks::{self, NO_RANK, Ranks};
use std::cell::RefCell;

/// Maximum bytes of a cached piece.
// An entry of 16 bytes has the piece and one byte for its length and count, four bits each.
const MAX_CACHED_BYTES: usize = 15;
/// Maximum bytes of a piece that is faster to count than to look up.
// The count of two bytes is a single lookup in a table by the two bytes ([`Ranks::count`]).
const MAX_UNCACHED_BYTES: usize = 2;
/// Bits that no ASCII character has.
const NOT_ASCII: u128 = (u128::MAX / 0xff) << 7;
/// Maximum bytes of a piece that fits a 64-bit entry with its length and count. Most pieces are as short, so that more
/// entries fit the CPU cache.
// Seven bytes of the piece and one byte for length and count.
const MAX_SMALL_ENTRY_BYTES: usize = 7;
/// Cache entries per thread for short pieces and for longer ones, half a megabyte in all. A new entry replaces an old
/// one.
// Chosen: 256 KiB for each of the two. With half as many entries, more words of a text replace each other. With twice
// as many, the lookups leave the second-level cache of a usual core.
const SHORT_ENTRIES: usize = 1 << 15;
const ENTRIES: usize = 1 << 14;

/// Multiplier of the hash function.
// 2^64 divided by the golden ratio: multiplying by it spreads consecutive numbers (Knuth, multiplicative hashing).
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

thread_local! {
    /// Caches by vocabulary.
    static CACHES: RefCell<[PieceCache; 2]> = RefCell::default();
}

/// The counts that a thread has cached for a vocabulary.
#[derive(Debug, Default)]
struct PieceCache {
    /// Short pieces with their counts: the piece's bytes, then one byte with its length and its count.
    short: Vec<u64>,
    /// Longer pieces with their counts, in the same form.
    counts: Vec<u128>,
    merger: Merger,
}

impl Vocabulary {
    /// Counts the tokens of a text. Takes nearly linear time. The first call loads the vocabulary, in about
    /// 20 ms.
    ///
    /// The count is exact, except for texts with a piece of more than 16 MiB, such as 20 MB of letters without a space:
    /// each further 16 MiB of the piece can add one token.
    ///
    /// ```
    /// use token_counter::Vocabulary;
    ///
    /// let run = "a".repeat(1_000_000);
    /// assert_eq!(Vocabulary::O200kBase.count(&run), 125_000);
    /// ```
    pub fn count(self, text: &str) -> usize {
        CACHES.with_borrow_mut(|caches| caches[self as usize].count(self, text))
    }
}

impl PieceCache {
    fn count(&mut self, vocabulary: Vocabulary, text: &str) -> usize {
        let ranks = vocabulary.ranks();
        self.short.resize(SHORT_ENTRIES, 0);
        self.counts.resize(ENTRIES, 0);
        let (mut from, mut sum) = (0, 0);
        while from < text.len() {
            let end = vocabulary.piece_end(text, from);
            sum += match end - from {
                len if len > merge::MAX_SCANNED_BYTES => {
                    merge::count_long(ranks, &text.as_bytes()[from..end])
                }
                len => self.count_piece(ranks, text.as_bytes(), from, len),
            };
            from = end;
        }
        sum
    }

    fn count_piece(&mut self, ranks: &Ranks, text: &[u8], from: usize, len: usize) -> usize {
        if len > MAX_CACHED_BYTES {
            return self.count_long(ranks, &text[from..from + len]);
        }
        let key = key(text, from, len);
        if len <= MAX_UNCACHED_BYTES {
            return ranks.count(key, len);
        }
        if len <= MAX_SMALL_ENTRY_BYTES {
            return self.count_short(ranks, key, &text[from..from + len]);
        }
        let index = cache_index(key);
        let entry = self.counts[index];
        // The upper half of the last byte is the count.
        if entry << 4 >> 4 == key && entry >> 124 > 0 {
            return (entry >> 124) as usize;
        }
        let count = self.count_uncached(ranks, key, &text[from..from + len]);
        self.counts[index] = key | (count as u128) << 124;
        count
    }

    #[inline]
    fn count_short(&mut self, ranks: &Ranks, key: u128, piece: &[u8]) -> usize {
        let name = key as u64 | (piece.len() as u64) << 60;
        let index = (name.wrapping_mul(FACTOR) >> 32) as usize % SHORT_ENTRIES;
        let entry = self.short[index];
        // The lower half of the last byte is the count.
        let count = entry >> 56 & 0xf;
        if entry & !(0xf << 56) == name && count > 0 {
            return count as usize;
        }
        let count = self.count_uncached(ranks, key, piece);
        self.short[index] = name | (count as u64) << 56;
        count
    }

    /// Counts a piece that is not cached.
    fn count_uncached(&mut self, ranks: &Ranks, key: u128, piece: &[u8]) -> usize {
        // Characters of other scripts have several bytes and take several merges.
        if piece.len() <= ranks::MAX_SHORT_BYTES && key & NOT_ASCII == 0 {
            ranks.count(key, piece.len())
        } else {
            self.count_long(ranks, piece)
        }
    }

    fn count_long(&mut self, ranks: &Ranks, piece: &[u8]) -> usize {
        match ranks.rank_of_long(piece) {
            NO_RANK => self.merger.count(ranks, piece),
            _ => 1,
        }
    }
}

/// Returns the bytes of a piece and its length as a number.
#[inline]
fn key(text: &[u8], from: usize, len: usize) -> u128 {
    let whole = text.get(from..from + 16).and_then(|b| b.try_into().ok());
    let bytes = whole.unwrap_or_else(|| {
        let mut bytes = [0; 16];
        bytes[..len].copy_from_slice(&text[from..from + len]);
        bytes
    });
    let own = (1_u128 << (8 * len)) - 1;
    (u128::from_le_bytes(bytes) & own) | (len as u128) << 120
}

/// Returns the index of a piece in the cache.
#[inline]
fn cache_index(key: u128) -> usize {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    (mixed >> 32) as usize % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Asserts that the pieces of a text match the regular expression.
    fn assert_equal_pieces(text: &str) {
        for vocabulary in Vocabulary::ALL {
            let mut from = 0;
            for piece in vocabulary.reference().split(text) {
                let piece_text = &text[from..vocabulary.piece_end(text, from)];
                assert_eq!(piece_text, piece, "{vocabulary:?} {text:?}");
                from += piece.len();
            }
            assert_eq!(from, text.len());
        }
    }

    #[test]
    fn pieces_of_all_characters_match_the_expression() {
        // Samples large blocks of one class, and includes their ends.
        let large = |c: &char| matches!(c, '\u{3400}'..='\u{f8ff}' | '\u{20000}'..);
        let ends = "\u{4db5}\u{4dc0}\u{4e00}\u{9fef}\u{a000}\u{ac00}\u{d7a3}";
        let all = ('\0'..='\u{2ffff}').filter(|c| !large(c) || u32::from(*c) % 97 == 0);
        for c in all.chain(ends.chars()) {
            assert_equal_pieces(&format!("a{c}A{c}b{c}'S{c}1{c}\n{c}/ {c}{c} 漢{c}A"));
        }
    }

    #[test]
    fn cached_and_uncached_counts_are_equal() {
        let text = "It's plain English, 12345 words; fn main() { let x_y = \"z\"; }\r\n\r\n\tΑθήνα Москва 東京";
        for vocabulary in Vocabulary::ALL {
            let counted: usize = vocabulary.reference().count(text);
            assert_eq!(vocabulary.count(text), counted);
            assert_eq!(vocabulary.count(text), counted);
        }
    }

    #[test]
    fn long_runs_take_linear_time_and_match_the_library() {
        let units = ["a", "A", "漢", "漢A", " ", "\n", " \n", "}", "'s", "1", "/\n", "é", "🚢"];
        for unit in units {
            let text = unit.repeat(200_000);
            for vocabulary in Vocabulary::ALL {
                let counted: usize = vocabulary.reference().count(text.as_str());
                assert_eq!(vocabulary.count(&text), counted, "{unit:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_of_random_texts_match_the_expression(
            text in "([aAzZ]|[bB]|[0-9]|['’]|[sStTmMdD]|[rRvVlLeE]{2}|[ \t\r\n]{1,3}|[/.{}_-]|[ſKÀéß漢あア한ー゛]|[\u{300}\u{301}²½Ⅷǅʰªº]|[\u{85}\u{a0}\u{2028}\u{3000}]|.){0,40}"
        ) {
            assert_equal_pieces(&text);
            for vocabulary in Vocabulary::ALL {
                let counted: usize = vocabulary.reference().count(text.as_str());
                prop_assert_eq!(vocabulary.count(&text), counted);
            }
        }
    }
}
