//! Counts a text piece by piece, and remembers short pieces: most of any text is words that were counted before.

use super::pieces::Rule;
use super::ranks::{self, Ranks};
use bpe_openai::Tokenizer;
use std::cell::RefCell;
use std::sync::OnceLock;

/// Longer pieces are counted each time.
const LONGEST: usize = 15;
/// Those up to here are told faster than remembered.
const AT_ONCE: usize = 2;
/// Bits that no character of ASCII has.
const NOT_ASCII: u128 = (u128::MAX / 0xff) << 7;
/// Pieces remembered by a thread: a new one takes the place of an old one. A megabyte.
const PLACES: usize = 1 << 15;

thread_local! {
    /// By vocabulary.
    static KNOWN: RefCell<[Known; 2]> = RefCell::default();
}

/// By vocabulary.
static RANKS: [OnceLock<Ranks>; 2] = [const { OnceLock::new() }; 2];

/// What counts the pieces of a text.
#[derive(Clone, Copy)]
struct Vocabulary<'a> {
    tokenizer: &'a Tokenizer,
    ranks: &'a Ranks,
}

/// Short pieces with their counts: the piece's bytes, then one byte with its length and its count.
#[derive(Debug, Default)]
struct Known(Vec<u128>);

/// The tokens of a text.
pub(super) fn count(tokenizer: &Tokenizer, rule: Rule, text: &str) -> usize {
    let ranks = RANKS[rule as usize].get_or_init(|| Ranks::of(&tokenizer.bpe));
    let vocabulary = Vocabulary { tokenizer, ranks };
    KNOWN.with_borrow_mut(|known| known[rule as usize].count(vocabulary, rule, text))
}

impl Known {
    fn count(&mut self, vocabulary: Vocabulary<'_>, rule: Rule, text: &str) -> usize {
        self.0.resize(PLACES, 0);
        let (mut from, mut sum) = (0, 0);
        while from < text.len() {
            let end = rule.piece_end(text, from);
            let end = end.unwrap_or_else(|| {
                let piece = vocabulary.tokenizer.split(&text[from..]).next();
                from + piece.map_or(text.len() - from, str::len)
            });
            sum += self.of_piece(vocabulary, text.as_bytes(), from, end);
            from = end;
        }
        sum
    }

    fn of_piece(
        &mut self,
        vocabulary: Vocabulary<'_>,
        text: &[u8],
        from: usize,
        end: usize,
    ) -> usize {
        let piece = &text[from..end];
        if piece.len() > LONGEST {
            return vocabulary.tokenizer.bpe.count(piece);
        }
        let key = key(text, from, piece.len());
        if piece.len() <= AT_ONCE {
            return vocabulary.ranks.count(key, piece.len());
        }
        let place = &mut self.0[place(key)];
        // The upper half of the last byte is the count.
        if *place << 4 >> 4 == key && *place >> 124 > 0 {
            return (*place >> 124) as usize;
        }
        // Of other scripts a character is several bytes, and takes several steps.
        let count = if piece.len() <= ranks::LONGEST && key & NOT_ASCII == 0 {
            vocabulary.ranks.count(key, piece.len())
        } else {
            vocabulary.tokenizer.bpe.count(piece)
        };
        *place = key | (count as u128) << 124;
        count
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
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (low, high) = (key as u64, (key >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    (mixed >> 32) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn both() -> [(&'static Tokenizer, Rule); 2] {
        [
            (bpe_openai::o200k_base(), Rule::O200k),
            (bpe_openai::cl100k_base(), Rule::Cl100k),
        ]
    }

    /// The pieces of a text where they are told by hand, and the expression's.
    fn agree(text: &str) {
        for (tokenizer, rule) in both() {
            let mut from = 0;
            for piece in tokenizer.split(text) {
                let told = rule.piece_end(text, from).map(|end| &text[from..end]);
                assert_eq!(told.unwrap_or(piece), piece, "{rule:?} {text:?}");
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
    fn words_are_told_by_hand() {
        let text = "It's plain English, 12345 words; fn main() { let x_y = \"z\"; }\r\n\r\n\tΑθήνα Москва 東京";
        for (tokenizer, rule) in both() {
            let mut from = 0;
            while from < text.len() {
                from = rule.piece_end(text, from).unwrap();
            }
            let counted: usize = tokenizer.count(text);
            // Once new, once remembered.
            assert_eq!(count(tokenizer, rule, text), counted);
            assert_eq!(count(tokenizer, rule, text), counted);
        }
    }

    #[test]
    fn no_run_takes_more_than_linear_time_and_all_count_as_the_library_counts() {
        let units = [
            "a", "A", "漢", "漢A", " ", "\n", " \n", "}", "'s", "1", "/\n", "é", "🚢",
        ];
        for unit in units {
            let text = unit.repeat(200_000);
            for (tokenizer, rule) in both() {
                let counted: usize = tokenizer.count(text.as_str());
                assert_eq!(count(tokenizer, rule, &text), counted, "{unit:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn odd_texts_fall_into_the_pieces_that_the_expression_makes(
            text in "([aAzZ]|[bB]|[0-9]|['’]|[sStTmMdD]|[rRvVlLeE]{2}|[ \t\r\n]{1,3}|[/.{}_-]|[ſKÀéß漢あア한ー゛]|[\u{300}\u{301}²½Ⅷǅʰªº]|[\u{85}\u{a0}\u{2028}\u{3000}]|.){0,40}"
        ) {
            agree(&text);
            for (tokenizer, rule) in both() {
                let counted: usize = tokenizer.count(text.as_str());
                prop_assert_eq!(count(tokenizer, rule, &text), counted);
            }
        }
    }
}
