//! Finds the characters that end or interrupt a string, 64 bytes at a time. In typical program output they are so close
//! together that separate searches would take longer.

use std::marker::PhantomData;

/// Bytes per block, equal to the number of bits of a mask.
const BLOCK: usize = 64;
/// All bits of eight bytes except their highest ones.
const LOW_BITS: u64 = u64::from_ne_bytes([0x7f; 8]);
/// The lowest bits of eight bytes.
const LOWEST_BITS: u64 = u64::from_ne_bytes([1; 8]);
const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
/// Sets the highest bit of a byte below 0x80, if added to it, unless the byte is a control character.
const UP_TO_SPACE: u64 = u64::from_ne_bytes([0x80 - b' '; 8]);

/// A set of characters.
pub(super) trait CharSet {
    /// Sets the highest bit of each of eight bytes that is not in the set, and clears it in the others. Other bits are undefined.
    fn mark_others(bytes: u64) -> u64;
}

/// Quotes, backslashes and control characters, which cannot occur unescaped in a string.
pub(super) struct Special;

impl CharSet for Special {
    #[inline]
    fn mark_others(bytes: u64) -> u64 {
        let low = bytes & LOW_BITS;
        let (quotes, backslashes) = (low ^ QUOTES, low ^ BACKSLASHES);
        bytes | (quotes + LOW_BITS) & (backslashes + LOW_BITS) & (low + UP_TO_SPACE)
    }
}

/// Backslashes.
pub(super) struct Backslashes;

impl CharSet for Backslashes {
    #[inline]
    fn mark_others(bytes: u64) -> u64 {
        bytes | (((bytes & LOW_BITS) ^ BACKSLASHES) + LOW_BITS)
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
        let mut search = Self { bytes, start: 0, mask: 0, chars: PhantomData };
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
        let found = !S::mark_others(u64::from_le_bytes(*word)) >> 7 & LOWEST_BITS;
        // Gathers the lowest bits of eight bytes as the bits of one byte: the factor shifts the bit of byte `n` to bit
        // 56 + `n`, and no two products meet in one bit.
        let byte_bits = found.wrapping_mul(0x0102_0408_1020_4080) >> 56;
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
            let bytes: Vec<u8> = all.iter().copied().cycle().step_by(step).take(300).collect();
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
