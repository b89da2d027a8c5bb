//! The difference between two texts: unchanged, removed and added lines, with changed words and folded long runs.
//!
//! Common lines at both ends are found first and cost nothing, so that a truncated text of any size is compared
//! completely. Comparison of the rest is limited in lines, bytes and time.

use crate::app::state::changes::diff_line::{DiffLine, Side};
use crate::app::state::changes::edits::{edits, replaced};
use crate::app::state::changes::long_line::pair;
use crate::app::state::changes::plain_line::{LONG, plain};
use crate::app::state::wording;
use similar::DiffOp;
use std::time::{Duration, Instant};

/// Maximum number of differing lines that are compared, and their bytes.
const MAX_LINES: usize = 20_000;
const MAX_BYTES: usize = 1 << 20;
/// Time limit for the smallest difference. After it, a larger difference is accepted.
const TIME: Duration = Duration::from_millis(400);
/// Unchanged lines shown around a change.
const AROUND_LINES: usize = 3;
/// Lines shown at the start and at the end of a long removed or added run.
const BEGIN: usize = 12;
const END: usize = 6;
/// Maximum number of lines of a fold that can be unfolded.
const MAX_FOLDED: usize = 400;

/// An item of the diff view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A line.
    Line(DiffLine),
    /// Folded lines of one side.
    Fold(Fold),
}

/// Folded lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Their side.
    pub side: Side,
    /// Lines that can be unfolded.
    pub lines: Vec<DiffLine>,
    /// Number of further lines, which cannot be unfolded.
    pub more: usize,
}

/// The difference between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The rows to show, in order.
    pub rows: Vec<Row>,
    /// Message about the compared part, if the texts were not compared completely.
    pub notice: Option<String>,
}

/// Consecutive lines of one side, some of which may not be stored.
struct Run {
    side: Side,
    lines: Vec<DiffLine>,
    n_unstored: usize,
}

impl Diff {
    /// Compares two texts, which must be safe to show.
    pub fn new(old: &str, new: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let same = |(old, new): &(&&str, &&str)| old == new;
        let before = old.iter().zip(&new).take_while(same).count();
        let [old_rest, new_rest] = [&old[before..], &new[before..]];
        let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
        let after = ends.take_while(same).count();
        let [all_removed, all_added] = [old_rest, new_rest].map(|rest| &rest[..rest.len() - after]);
        if all_removed.is_empty() && all_added.is_empty() {
            return Self::default();
        }
        let [removed, added] = [all_removed, all_added].map(bounded);
        let left_out = [
            (Side::Removed, all_removed.len() - removed.len()),
            (Side::Added, all_added.len() - added.len()),
        ];
        let is_whole = left_out.iter().all(|(_, n)| *n == 0);
        let shown = removed.len().max(added.len());
        let mut runs = compared(removed, added);
        if before + after == 0 && runs.iter().all(Run::is_of_one_text) {
            // All lines are removed: show the replacement first.
            runs.sort_by_key(|run| run.side == Side::Removed);
        }
        let mut rows = Vec::new();
        let n_held = before.min(AROUND_LINES + MAX_FOLDED);
        let run = unchanged(&old[before - n_held..before], before - n_held);
        run.fold((0, AROUND_LINES), &mut rows);
        for run in runs {
            let ends = run.ends();
            run.fold(ends, &mut rows);
        }
        rows.extend(left_out.into_iter().filter_map(not_compared));
        let n_held = after.min(AROUND_LINES + MAX_FOLDED);
        let from = old.len() - after;
        let run = unchanged(&old[from..from + n_held], after - n_held);
        run.fold((AROUND_LINES, 0), &mut rows);
        let notice = (!is_whole).then(|| {
            let lines = wording::count(shown, "line");
            format!("Shown: the first {lines} that differ.")
        });
        Self { rows, notice }
    }

    /// Returns whether the texts are equal, ignoring the last line ending.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Returns a run of unchanged lines, and of further ones that are not stored.
fn unchanged(lines: &[&str], n_unstored: usize) -> Run {
    Run {
        side: Side::Same,
        lines: lines.iter().map(|line| plain(Side::Same, line)).collect(),
        n_unstored,
    }
}

/// Returns a fold of lines that were not compared.
fn not_compared((side, more): (Side, usize)) -> Option<Row> {
    let lines = Vec::new();
    (more > 0).then_some(Row::Fold(Fold { side, lines, more }))
}

/// Returns the lines within the comparison limits.
fn bounded<'l, 't>(lines: &'l [&'t str]) -> &'l [&'t str] {
    let mut bytes = 0;
    let fits = lines.iter().take(MAX_LINES).take_while(|line| {
        bytes += line.len();
        bytes <= MAX_BYTES
    });
    // One line is always shown; the middle of a long one is omitted.
    let n = fits.count().max(1).min(lines.len());
    &lines[..n]
}

/// Returns the differing runs of two line ranges.
fn compared(old: &[&str], new: &[&str]) -> Vec<Run> {
    let until = Instant::now() + TIME;
    let mut runs: Vec<Run> = Vec::new();
    for edit in edits(old, new, until) {
        for line in changes(&edit, (old, new), until) {
            match runs.last_mut() {
                Some(run) if run.side == line.side => run.lines.push(line),
                _ => runs.push(Run { side: line.side, lines: vec![line], n_unstored: 0 }),
            }
        }
    }
    runs
}

/// Returns the lines of one edit.
fn changes(edit: &DiffOp, (old, new): (&[&str], &[&str]), until: Instant) -> Vec<DiffLine> {
    let (removed, added) = (&old[edit.old_range()], &new[edit.new_range()]);
    let plain_lines = |side: Side, lines: &[&str]| -> Vec<DiffLine> {
        lines.iter().map(|line| plain(side, line)).collect()
    };
    let has_long = || removed.iter().chain(added).any(|line| line.len() > LONG);
    match (edit, removed, added) {
        (DiffOp::Equal { .. }, ..) => plain_lines(Side::Same, removed),
        (DiffOp::Replace { .. }, [removed], [added]) if has_long() => pair(removed, added).into(),
        (DiffOp::Replace { .. }, ..) if !has_long() => replaced(removed, added, until),
        _ => {
            let mut lines = plain_lines(Side::Removed, removed);
            lines.extend(plain_lines(Side::Added, added));
            lines
        }
    }
}

impl Run {
    /// Returns whether the run is in one text only, and resembles no line of the other.
    fn is_of_one_text(&self) -> bool {
        let mut pieces = self.lines.iter().flat_map(|line| &line.pieces);
        self.side != Side::Same && pieces.all(|piece| !piece.is_changed)
    }

    /// Returns the number of lines shown at the start and at the end of the run.
    fn ends(&self) -> (usize, usize) {
        match self.side {
            Side::Same => (AROUND_LINES, AROUND_LINES),
            Side::Removed | Side::Added => (BEGIN, END),
        }
    }

    /// Converts the run to rows, with this many lines at its ends and the others folded.
    fn fold(mut self, (begin, end): (usize, usize), rows: &mut Vec<Row>) {
        // A fold takes one row itself.
        if self.lines.len() + self.n_unstored <= begin + end + 1 {
            rows.extend(self.lines.into_iter().map(Row::Line));
            return;
        }
        let last = self.lines.split_off(self.lines.len() - end);
        let mut folded = self.lines.split_off(begin);
        let more = self.n_unstored + folded.len().saturating_sub(MAX_FOLDED);
        folded.truncate(MAX_FOLDED);
        rows.extend(self.lines.into_iter().map(Row::Line));
        rows.push(Row::Fold(Fold { side: self.side, lines: folded, more }));
        rows.extend(last.into_iter().map(Row::Line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the rows as text: a sign, with changes in brackets.
    fn formatted(diff: &Diff) -> Vec<String> {
        let line = |line: &DiffLine| {
            let sign = match line.side {
                Side::Same => ' ',
                Side::Removed => '-',
                Side::Added => '+',
            };
            let pieces = line.pieces.iter().map(|piece| {
                if piece.is_changed { format!("[{}]", piece.text) } else { piece.text.clone() }
            });
            format!("{sign}{}", pieces.collect::<String>())
        };
        let row = |row: &Row| match row {
            Row::Line(of) => line(of),
            Row::Fold(fold) => format!("{:?} {}+{}", fold.side, fold.lines.len(), fold.more),
        };
        diff.rows.iter().map(row).collect()
    }

    fn numbered(range: std::ops::Range<usize>) -> String {
        let lines = range.map(|n| format!("line {n}"));
        lines.chain([String::new()]).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn changed_lines_are_paired_with_their_changed_words() {
        let diff = Diff::new("a\nthe red fox\nz", "a\nthe brown fox\nz");
        assert_eq!(formatted(&diff), [" a", "-the [red] fox", "+the [brown] fox", " z"]);
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert!(Diff::new("a\nb", "a\nb").is_empty());
        assert!(Diff::new("a\nb\n", "a\nb").is_empty());
        assert!(Diff::new("", "").is_empty());
    }

    #[test]
    fn a_replacement_of_all_lines_comes_first() {
        let diff = Diff::new("one\ntwo", "[cleared]");
        assert_eq!(formatted(&diff), ["+[cleared]", "-one", "-two"]);
    }

    #[test]
    fn removed_runs_show_their_ends_and_unchanged_runs_are_folded() {
        let old = numbered(0..1_000);
        let new = format!("{}[cut]\n{}", numbered(0..100), numbered(900..1_000));
        let formatted = formatted(&Diff::new(&old, &new));
        assert_eq!(formatted[0], "Same 97+0");
        assert_eq!(&formatted[1..4], [" line 97", " line 98", " line 99"]);
        let removed = formatted.iter().filter(|row| row.starts_with('-')).count();
        assert_eq!(removed, BEGIN + END);
        assert!(
            formatted.contains(&format!("Removed {MAX_FOLDED}+{}", 800 - BEGIN - END - MAX_FOLDED))
        );
        assert!(formatted.contains(&"+[cut]".to_owned()));
        assert_eq!(formatted[formatted.len() - 1], "Same 97+0");
    }

    #[test]
    fn texts_of_any_size_with_common_ends_are_compared_completely() {
        let old = numbered(0..300_000);
        let new = old.replacen("line 150000\n", "line one\n", 1);
        let diff = Diff::new(&old, &new);
        let formatted = formatted(&diff);
        assert_eq!(diff.notice, None);
        assert!(formatted.iter().any(|row| row.starts_with("-line")));
        assert_eq!(
            formatted[0],
            format!("Same {MAX_FOLDED}+{}", 150_000 - AROUND_LINES - MAX_FOLDED)
        );
    }

    #[test]
    fn large_differences_are_limited_and_state_the_limit() {
        let (old, new) = (numbered(0..30_000), numbered(50_000..90_000));
        let diff = Diff::new(&old, &new);
        let left_out = |side, more| Row::Fold(Fold { side, lines: Vec::new(), more });
        assert!(diff.rows.contains(&left_out(Side::Removed, 10_000)));
        assert!(diff.rows.contains(&left_out(Side::Added, 20_000)));
        let text = diff.notice.unwrap_or_default();
        assert!(text.starts_with("Shown: the first 20"), "{text}");
    }
}
