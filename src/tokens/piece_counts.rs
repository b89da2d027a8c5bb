//! Counts a text piece by piece, and remembers short pieces: most of any text is words that were counted before.

use super::joining::{self, Joining};
use super::pieces::Rule;
use super::ranks::{self, NONE, Ranks};
use super::vocabulary;
use std::cell::RefCell;

/// Longer pieces are counted each time.
const LONGEST: usize = 15;
/// Those up to here are told faster than remembered.
const AT_ONCE: usize = 2;
/// Bits that no character of ASCII has.
const NOT_ASCII: u128 = (u128::MAX / 0xff) << 7;
/// Those up to here fit a word with what is told of them, so that more of them stay near: most pieces are as short.
const SHORT: usize = 7;
/// Short pieces remembered by a thread, and longer ones: a new one takes the place of an old one. Half a megabyte.
const SHORT_PLACES: usize = 1 << 15;
const PLACES: usize = 1 << 14;

/// Mixes bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

thread_local! {
    /// By vocabulary.
    static KNOWN: RefCell<[Known; 2]> = RefCell::default();
}

/// What a thread has of a vocabulary.
#[derive(Debug, Default)]
struct Known {
    /// Short pieces with their counts: the piece's bytes, then one byte with its length and its count.
    short: Vec<u64>,
    /// The same of longer ones.
    counts: Vec<u128>,
    joining: Joining,
}

/// The tokens of a text.
pub(super) fn count(rule: Rule, text: &str) -> usize {
    let ranks = vocabulary::ranks(rule);
    KNOWN.with_borrow_mut(|known| known[rule as usize].count(ranks, rule, text))
}

impl Known {
    fn count(&mut self, ranks: &Ranks, rule: Rule, text: &str) -> usize {
        self.short.resize(SHORT_PLACES, 0);
        self.counts.resize(PLACES, 0);
        let (mut from, mut sum) = (0, 0);
        while from < text.len() {
            let end = rule.piece_end(text, from);
            sum += match end - from {
                len if len > joining::LONGEST => {
                    joining::count_long(ranks, &text.as_bytes()[from..end])
                }
                len => self.of_piece(ranks, text.as_bytes(), from, len),
            };
            from = end;
        }
        sum
    }

    fn of_piece(&mut self, ranks: &Ranks, text: &[u8], from: usize, len: usize) -> usize {
        if len > LONGEST {
            return self.of_long(ranks, &text[from..from + len]);
        }
        let key = key(text, from, len);
        if len <= AT_ONCE {
            return ranks.count(key, len);
        }
        if len <= SHORT {
            return self.of_short(ranks, key, &text[from..from + len]);
        }
        let place = place(key);
        let known = self.counts[place];
        // The upper half of the last byte is the count.
        if known << 4 >> 4 == key && known >> 124 > 0 {
            return (known >> 124) as usize;
        }
        let count = self.anew(ranks, key, &text[from..from + len]);
        self.counts[place] = key | (count as u128) << 124;
        count
    }

    #[inline]
    fn of_short(&mut self, ranks: &Ranks, key: u128, piece: &[u8]) -> usize {
        let name = key as u64 | (piece.len() as u64) << 60;
        let place = (name.wrapping_mul(FACTOR) >> 32) as usize % SHORT_PLACES;
        let known = self.short[place];
        // The lower half of the last byte is the count.
        let count = known >> 56 & 0xf;
        if known & !(0xf << 56) == name && count > 0 {
            return count as usize;
        }
        let count = self.anew(ranks, key, piece);
        self.short[place] = name | (count as u64) << 56;
        count
    }

    /// Counts a piece that is not remembered.
    fn anew(&mut self, ranks: &Ranks, key: u128, piece: &[u8]) -> usize {
        // Of other scripts a character is several bytes, and takes several steps.
        if piece.len() <= ranks::LONGEST && key & NOT_ASCII == 0 {
            ranks.count(key, piece.len())
        } else {
            self.of_long(ranks, piece)
        }
    }

    fn of_long(&mut self, ranks: &Ranks, piece: &[u8]) -> usize {
        match ranks.rank_of_long(piece) {
            NONE => self.joining.count(ranks, piece),
            _ => 1,
        }
    }
}

/// The bytes of a piece and its length, as a number.
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

/// Where a piece is remembered.
#[inline]
fn place(key: u128) -> usize {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    (mixed >> 32) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::library;
    use super::*;
    use proptest::prelude::*;

    /// The pieces of a text are the expression's.
    fn agree(text: &str) {
        for rule in Rule::ALL {
            let mut from = 0;
            for piece in library(rule).split(text) {
                let told = &text[from..rule.piece_end(text, from)];
                assert_eq!(told, piece, "{rule:?} {text:?}");
                from += piece.len();
            }
            assert_eq!(from, text.len());
        }
    }

    #[test]
    fn characters_fall_into_the_pieces_that_the_expression_makes() {
        // Of the large blocks of one kind some, and their ends.
        let large = |c: &char| matches!(c, '\u{3400}'..='\u{f8ff}' | '\u{20000}'..);
        let ends = "\u{4db5}\u{4dc0}\u{4e00}\u{9fef}\u{a000}\u{ac00}\u{d7a3}";
        let all = ('\0'..='\u{2ffff}').filter(|c| !large(c) || u32::from(*c) % 97 == 0);
        for c in all.chain(ends.chars()) {
            agree(&format!("a{c}A{c}b{c}'S{c}1{c}\n{c}/ {c}{c} 漢{c}A"));
        }
    }

    #[test]
    fn what_is_remembered_counts_as_what_is_new() {
        let text = "It's plain English, 12345 words; fn main() { let x_y = \"z\"; }\r\n\r\n\tΑθήνα Москва 東京";
        for rule in Rule::ALL {
            let counted: usize = library(rule).count(text);
            assert_eq!(count(rule, text), counted);
            assert_eq!(count(rule, text), counted);
        }
    }

    #[test]
    fn no_run_takes_more_than_linear_time_and_all_count_as_the_library_counts() {
        let units = [
            "a", "A", "漢", "漢A", " ", "\n", " \n", "}", "'s", "1", "/\n", "é", "🚢",
        ];
        for unit in units {
            let text = unit.repeat(200_000);
            for rule in Rule::ALL {
                let counted: usize = library(rule).count(text.as_str());
                assert_eq!(count(rule, &text), counted, "{unit:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn odd_texts_fall_into_the_pieces_that_the_expression_makes(
            text in "([aAzZ]|[bB]|[0-9]|['’]|[sStTmMdD]|[rRvVlLeE]{2}|[ \t\r\n]{1,3}|[/.{}_-]|[ſKÀéß漢あア한ー゛]|[\u{300}\u{301}²½Ⅷǅʰªº]|[\u{85}\u{a0}\u{2028}\u{3000}]|.){0,40}"
        ) {
            agree(&text);
            for rule in Rule::ALL {
                let counted: usize = library(rule).count(text.as_str());
                prop_assert_eq!(count(rule, &text), counted);
            }
        }
    }
}
