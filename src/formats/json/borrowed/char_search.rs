//! Finds the characters that end or interrupt a string, 64 bytes at a time. In typical program output they are so close
//! together that separate searches would take longer.

use std::marker::PhantomData;

/// Bytes per block, equal to the number of bits of a mask.
const BLOCK: usize = 64;
/// The lowest bit of every byte of a word.
const LOW: u64 = u64::MAX / 0xff;
/// The highest bit of every byte, which is unset in ASCII. It marks a byte.
const HIGH: u64 = LOW << 7;
/// All other bits. Adding them to a byte without the highest bit sets that bit unless the byte is zero.
const OTHERS: u64 = !HIGH;
const QUOTES: u64 = LOW * b'"' as u64;
const BACKSLASHES: u64 = LOW * b'\\' as u64;
/// Adding this to ASCII bytes sets the highest bit of all but control characters.
const TO_BLANKS: u64 = LOW * (0x80 - b' ' as u64);

/// A set of characters.
pub(super) trait CharSet {
    /// Finds the characters of the set in eight bytes, by the highest bit of each.
    fn marked(word: u64) -> u64;
}

/// Quotes, backslashes and control characters, which cannot occur unescaped in a string.
pub(super) struct Special;

impl CharSet for Special {
    #[inline]
    fn marked(word: u64) -> u64 {
        let ascii = word & OTHERS;
        let is_other =
            ((ascii ^ QUOTES) + OTHERS) & ((ascii ^ BACKSLASHES) + OTHERS) & (ascii + TO_BLANKS);
        !(is_other | word) & HIGH
    }
}

/// Backslashes.
pub(super) struct Backslashes;

impl CharSet for Backslashes {
    #[inline]
    fn marked(word: u64) -> u64 {
        let is_other = ((word & OTHERS) ^ BACKSLASHES) + OTHERS;
        !(is_other | word) & HIGH
    }
}

/// Finds the characters of a set in a text from start to end.
pub(super) struct CharSearch<'a, S> {
    bytes: &'a [u8],
    /// Start of the current block.
    start: usize,
    /// Mask of the current block, with its first byte in the lowest bit.
    mask: u64,
    chars: PhantomData<S>,
}

impl<'a, S: CharSet> CharSearch<'a, S> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let mut search = Self {
            bytes,
            start: 0,
            mask: 0,
            chars: PhantomData,
        };
        search.load(0);
        search
    }

    /// Returns the position of the next character of the set at or after `from`, or the text's length.
    #[inline]
    pub(super) fn next(&mut self, from: usize) -> usize {
        let start = from / BLOCK * BLOCK;
        if start != self.start {
            self.load(start);
        }
        let mut rest = self.mask & u64::MAX << (from % BLOCK);
        while rest == 0 {
            let next = self.start + BLOCK;
            if next >= self.bytes.len() {
                return self.bytes.len();
            }
            self.load(next);
            rest = self.mask;
        }
        self.start + rest.trailing_zeros() as usize
    }

    fn load(&mut self, start: usize) {
        let rest = self.bytes.get(start..).unwrap_or_default();
        self.start = start;
        self.mask = if let Some(block) = rest.first_chunk() {
            bits::<S>(block)
        } else {
            let mut last = [b' '; BLOCK];
            last[..rest.len()].copy_from_slice(rest);
            bits::<S>(&last)
        };
    }
}

/// Returns a mask with one bit for each byte.
#[inline]
fn bits<S: CharSet>(block: &[u8; BLOCK]) -> u64 {
    let (words, _) = block.as_chunks();
    let mut bits = 0;
    for (at, word) in words.iter().enumerate() {
        let marked = S::marked(u64::from_le_bytes(*word));
        // The highest bits of eight bytes as the bits of one byte.
        let byte_bits = (marked >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= byte_bits << (8 * at);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all positions of characters of a set.
    fn found<S: CharSet>(bytes: &[u8]) -> Vec<usize> {
        let mut search = CharSearch::<S>::of(bytes);
        let mut from = 0;
        std::iter::from_fn(|| {
            let at = search.next(from);
            from = at + 1;
            (at < bytes.len()).then_some(at)
        })
        .collect()
    }

    #[test]
    fn finds_characters_at_all_positions() {
        let is_special = |byte: u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let all: Vec<u8> = (0..=255).collect();
        for step in 1..90 {
            let bytes: Vec<u8> = all
                .iter()
                .copied()
                .cycle()
                .step_by(step)
                .take(300)
                .collect();
            let places = |is_marked: &dyn Fn(u8) -> bool| -> Vec<usize> {
                (0..300).filter(|at| is_marked(bytes[*at])).collect()
            };
            assert_eq!(found::<Special>(&bytes), places(&is_special), "{step}");
            let backslashes = places(&|byte| byte == b'\\');
            assert_eq!(found::<Backslashes>(&bytes), backslashes, "{step}");
        }
    }

    #[test]
    fn skips_positions_and_stops_at_the_end() {
        for len in 0..200 {
            let bytes = vec![b'"'; len];
            for from in 0..len + 3 {
                let mut search = CharSearch::<Special>::of(&bytes);
                assert_eq!(search.next(from), from.min(len), "{from} of {len}");
                assert_eq!(search.next(from / 2), (from / 2).min(len), "back in {len}");
            }
        }
    }
}
