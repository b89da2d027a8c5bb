//! The default vocabulary on samples, for lists of many sessions. A few percent of error do not matter there, but time
//! does.
//!
//! Estimates from the length alone are off by half for dense text (numbers, hashes, minified code). A sample of the
//! text itself indicates its density.

use super::{Counter, default_counter};

/// Not available by name; used only by lists.
pub(super) static SAMPLED: Counter = Counter {
    name: "o200k_base on samples",
    help: "The tokens of o200k_base, counted on samples of long texts.",
    is_exact: false,
    count,
};

/// Maximum bytes of a text that is counted whole.
// Chosen: little more than all samples together, below which sampling would save nothing.
const WHOLE: usize = 8 * PIECE;
/// Bytes of a sample.
// Chosen, with `PIECES`: a sample begins and ends within a word, which adds about two tokens to some 250. The test
// below accepts an error of 5 %. Half as many bytes double this error, twice as many double the time.
const PIECE: usize = 1024;
/// Samples per text, evenly spread.
const PIECES: usize = 6;

fn count(text: &str) -> u32 {
    let whole = default_counter().count;
    if text.len() <= WHOLE {
        return whole(text);
    }
    let (mut tokens, mut bytes) = (0_u64, 0_u64);
    let last_start = text.len() - PIECE;
    for nth in 0..PIECES {
        let start = text.floor_char_boundary(last_start * nth / (PIECES - 1));
        let end = text.floor_char_boundary(start + PIECE);
        tokens += u64::from(whole(&text[start..end]));
        bytes += (end - start) as u64;
    }
    let all = tokens as f64 * text.len() as f64 / bytes.max(1) as f64;
    all.round() as u32
}

#[cfg(test)]
mod tests {
    use super::{WHOLE, count};
    use crate::tokens::default_counter;
    use std::fmt::Write as _;

    #[test]
    fn sampled_counts_are_within_5_percent() {
        let mut numbers = String::new();
        let mut prose = String::new();
        for n in 0..20_000_u64 {
            let _ = write!(numbers, "{:x},", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let _ = write!(prose, "The {n}th line says little that is new. ");
        }
        for text in [numbers, prose, "日本語の文です。".repeat(5_000), "a".repeat(90_000)] {
            assert!(text.len() > WHOLE, "long enough to be sampled");
            let (exact, near) = ((default_counter().count)(&text), count(&text));
            let off = (f64::from(near) / f64::from(exact) - 1.0).abs();
            assert!(off < 0.05, "{near} for {exact}");
        }
        assert_eq!(count("as it is"), (default_counter().count)("as it is"));
    }
}
