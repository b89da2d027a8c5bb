//! Where the signs stand in a text that say how it goes on, told for 64 bytes at once: in what programs print they stand
//! so near each other that looking for each from the last would take longer.

use std::marker::PhantomData;

/// Bytes told at once: as many as a number has bits.
const BLOCK: usize = 64;
/// The lowest bit of every byte of a word.
const LOW: u64 = u64::MAX / 0xff;
/// The highest, which no byte of ASCII has: it marks the byte.
const HIGH: u64 = LOW << 7;
/// All others. What they say of a byte, with this added, reaches the highest bit unless it is zero.
const OTHERS: u64 = !HIGH;
const QUOTES: u64 = LOW * b'"' as u64;
const BACKSLASHES: u64 = LOW * b'\\' as u64;
/// What added to bytes of ASCII reaches the highest bit unless they control a terminal.
const TO_BLANKS: u64 = LOW * (0x80 - b' ' as u64);

/// Some signs.
pub(super) trait Signs {
    /// Marks them in eight bytes, by the highest bit of each.
    fn marked(word: u64) -> u64;
}

/// Quotes, backslashes and what controls a terminal: all that cannot stand as it is in a string.
pub(super) struct Special;

impl Signs for Special {
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

impl Signs for Backslashes {
    #[inline]
    fn marked(word: u64) -> u64 {
        let is_other = ((word & OTHERS) ^ BACKSLASHES) + OTHERS;
        !(is_other | word) & HIGH
    }
}

/// Finds signs from the front of a text to its end.
pub(super) struct Marks<'a, S> {
    bytes: &'a [u8],
    /// Where the block begins that is known.
    start: usize,
    /// A bit for each of its bytes, the lowest for the first.
    known: u64,
    signs: PhantomData<S>,
}

impl<'a, S: Signs> Marks<'a, S> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let mut marks = Self {
            bytes,
            start: 0,
            known: 0,
            signs: PhantomData,
        };
        marks.know(0);
        marks
    }

    /// Where the next sign stands, from this place on; the end where there is none.
    #[inline]
    pub(super) fn next(&mut self, from: usize) -> usize {
        let start = from / BLOCK * BLOCK;
        if start != self.start {
            self.know(start);
        }
        let mut rest = self.known & u64::MAX << (from % BLOCK);
        while rest == 0 {
            let next = self.start + BLOCK;
            if next >= self.bytes.len() {
                return self.bytes.len();
            }
            self.know(next);
            rest = self.known;
        }
        self.start + rest.trailing_zeros() as usize
    }

    fn know(&mut self, start: usize) {
        let rest = self.bytes.get(start..).unwrap_or_default();
        self.start = start;
        self.known = if let Some(block) = rest.first_chunk() {
            bits::<S>(block)
        } else {
            let mut last = [b' '; BLOCK];
            last[..rest.len()].copy_from_slice(rest);
            bits::<S>(&last)
        };
    }
}

/// A bit for each byte.
#[inline]
fn bits<S: Signs>(block: &[u8; BLOCK]) -> u64 {
    let (words, _) = block.as_chunks();
    let mut bits = 0;
    for (at, word) in words.iter().enumerate() {
        let marked = S::marked(u64::from_le_bytes(*word));
        // The highest bits of eight bytes, side by side.
        let beside = (marked >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= beside << (8 * at);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All places where signs are found.
    fn found<S: Signs>(bytes: &[u8]) -> Vec<usize> {
        let mut marks = Marks::<S>::of(bytes);
        let mut from = 0;
        std::iter::from_fn(|| {
            let at = marks.next(from);
            from = at + 1;
            (at < bytes.len()).then_some(at)
        })
        .collect()
    }

    #[test]
    fn signs_are_found_wherever_they_stand() {
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
            let places = |is_sign: &dyn Fn(u8) -> bool| -> Vec<usize> {
                (0..300).filter(|at| is_sign(bytes[*at])).collect()
            };
            assert_eq!(found::<Special>(&bytes), places(&is_special), "{step}");
            let backslashes = places(&|byte| byte == b'\\');
            assert_eq!(found::<Backslashes>(&bytes), backslashes, "{step}");
        }
    }

    #[test]
    fn a_place_may_be_passed_over_and_the_end_is_never_passed() {
        for len in 0..200 {
            let bytes = vec![b'"'; len];
            for from in 0..len + 3 {
                let mut marks = Marks::<Special>::of(&bytes);
                assert_eq!(marks.next(from), from.min(len), "{from} of {len}");
                assert_eq!(marks.next(from / 2), (from / 2).min(len), "back in {len}");
            }
        }
    }
}
