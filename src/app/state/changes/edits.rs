//! Edits between two sequences of texts: lines of a message, or words of replaced lines.
//!
//! Only one algorithm of `similar` is called: its general functions contain all of them, half a megabyte.

use crate::app::state::changes::diff_line::{DiffLine, DiffPiece, Side};
use crate::app::state::changes::plain_line::plain;
use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};
use std::time::Instant;

/// Share of equal words from which changed words are marked. Below it, the lines have little in common.
const MIN_EQUAL: f64 = 0.5;

/// Returns the edits between two sequences. After `until`, more edits than necessary are accepted.
pub(crate) fn edits(old: &[&str], new: &[&str], until: Instant) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), old, new);
    let (all_old, all_new) = (0..old.len(), 0..new.len());
    let Ok(()) = myers::diff_deadline(&mut hook, old, all_old, new, all_new, Some(until));
    hook.into_inner().into_inner().into_ops()
}

/// Returns replaced lines with their changed words.
pub(crate) fn replaced(removed: &[&str], added: &[&str], until: Instant) -> Vec<DiffLine> {
    let (old, new) = (Words::of(removed), Words::of(added));
    let mut is_changed = [vec![true; old.texts.len()], vec![true; new.texts.len()]];
    let mut n_equal = 0;
    for edit in edits(&old.texts, &new.texts, until) {
        if let DiffOp::Equal { len, .. } = edit {
            is_changed[0][edit.old_range()].fill(false);
            is_changed[1][edit.new_range()].fill(false);
            n_equal += len;
        }
    }
    if 2.0 * n_equal as f64 / ((old.texts.len() + new.texts.len()) as f64) < MIN_EQUAL {
        let removed = removed.iter().map(|line| plain(Side::Removed, line));
        return removed.chain(added.iter().map(|line| plain(Side::Added, line))).collect();
    }
    let mut lines = old.lines(Side::Removed, &is_changed[0]);
    lines.extend(new.lines(Side::Added, &is_changed[1]));
    lines
}

/// Words and the white space between them, of several lines.
struct Words<'a> {
    texts: Vec<&'a str>,
    /// End of each line in `texts`.
    ends: Vec<usize>,
}

impl<'a> Words<'a> {
    fn of(lines: &[&'a str]) -> Self {
        let (mut texts, mut ends) = (Vec::new(), Vec::new());
        for line in lines {
            let mut rest = *line;
            while let Some(first) = rest.chars().next() {
                let is_other = |c: char| c.is_whitespace() != first.is_whitespace();
                let (word, after) = rest.split_at(rest.find(is_other).unwrap_or(rest.len()));
                texts.push(word);
                rest = after;
            }
            ends.push(texts.len());
        }
        Self { texts, ends }
    }

    /// Returns the lines. Adjacent words that are all changed or all unchanged are one piece.
    fn lines(&self, side: Side, is_changed: &[bool]) -> Vec<DiffLine> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let of_line = |(start, end): (usize, &usize)| {
            let mut pieces: Vec<DiffPiece> = Vec::new();
            let words = self.texts[start..*end].iter().zip(&is_changed[start..*end]);
            for (text, is_changed) in words {
                match pieces.last_mut() {
                    Some(last) if last.is_changed == *is_changed => last.text.push_str(text),
                    _ => {
                        pieces
                            .push(DiffPiece { text: (*text).to_owned(), is_changed: *is_changed });
                    }
                }
            }
            DiffLine { side, pieces }
        };
        starts.zip(&self.ends).map(of_line).collect()
    }
}
