//! Lines without marked pieces.

use crate::app::state::changes::diff_line::{DiffLine, DiffPiece, Side};
use crate::app::state::wording;

/// Returns a line without changed words; the middle of a long line is omitted.
pub(crate) fn plain(side: Side, line: &str) -> DiffLine {
    DiffLine { side, pieces: vec![DiffPiece { text: without_middle(line), is_changed: false }] }
}

/// Returns the ends of a long text and the size of the omitted middle.
pub(crate) fn without_middle(text: &str) -> String {
    if text.len() <= LONG {
        return text.to_owned();
    }
    let n_chars = text.chars().count();
    let Some(left_out) = n_chars.checked_sub(2 * ENDS).filter(|n| *n > 0) else {
        return text.to_owned();
    };
    let begin: String = text.chars().take(ENDS).collect();
    let end: String = text.chars().skip(n_chars - ENDS).collect();
    let left_out = wording::grouped(left_out as u64);
    format!("{begin} … {left_out} characters … {end}")
}

/// Lines longer than this (bytes) are not compared by words, and their middle is omitted.
pub(crate) const LONG: usize = 2_000;

/// Characters shown at each end of a long line.
pub(crate) const ENDS: usize = 600;
