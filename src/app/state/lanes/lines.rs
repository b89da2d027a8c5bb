//! The displayed lines of the lanes: rows, and folds of small messages with equal status.

use crate::app::state::model::lane_context::{LaneContext, Row};
use crate::units::Tokens;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// Small messages in consecutive rows with equal status in each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Indices of the rows.
    pub rows: Range<usize>,
    /// Its messages.
    pub messages: RangeInclusive<u32>,
    /// Total tokens of the messages in each column, the recorded one first.
    pub tokens: Vec<Tokens>,
}

/// A displayed line of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A row, by index.
    Row(usize),
    /// A fold.
    Fold(FoldLine),
}

/// The line of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldLine {
    /// Index of the fold.
    pub fold: usize,
    /// Whether its rows follow.
    pub is_open: bool,
}

/// The displayed lines of the lanes: all rows except those in closed folds.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    runs: Vec<Run>,
    /// Number of lines.
    pub len: usize,
}

/// Consecutive lines of consecutive rows.
#[derive(Clone, Copy, Debug)]
struct Run {
    first_line: usize,
    first_row: usize,
    /// The fold whose line precedes the rows, if any.
    fold: Option<FoldLine>,
}

impl Lines {
    /// Returns the lines of all rows. Folds that contain a message of `unfolded` are open.
    pub(crate) fn new(folds: &[Fold], n_rows: usize, unfolded: &BTreeSet<u32>) -> Self {
        let mut lines = Self::default();
        let mut row = 0;
        for (idx, fold) in folds.iter().enumerate() {
            lines.push(row, None, fold.rows.start - row);
            let is_open = unfolded.range(fold.messages.clone()).next().is_some();
            let n_rows = if is_open { fold.rows.len() } else { 0 };
            let line = FoldLine { fold: idx, is_open };
            lines.push(fold.rows.start, Some(line), 1 + n_rows);
            row = fold.rows.end;
        }
        lines.push(row, None, n_rows - row);
        lines
    }

    fn push(&mut self, first_row: usize, fold: Option<FoldLine>, n_lines: usize) {
        self.runs.push(Run { first_line: self.len, first_row, fold });
        self.len += n_lines;
    }

    /// Returns the line at an index.
    pub fn at(&self, line: usize) -> Line {
        let at = self.runs.partition_point(|run| run.first_line <= line);
        let run = self.runs[at.saturating_sub(1)];
        let nth = line - run.first_line;
        match run.fold {
            Some(fold) if nth == 0 => Line::Fold(fold),
            Some(_) => Line::Row(run.first_row + nth - 1),
            None => Line::Row(run.first_row + nth),
        }
    }

    /// Returns the line of a row; the line of its fold if that is closed.
    pub fn of_row(&self, row: usize) -> usize {
        let at = self.runs.partition_point(|run| run.first_row <= row);
        let run = self.runs[at.saturating_sub(1)];
        let nth = row - run.first_row;
        match run.fold {
            Some(fold) if fold.is_open => run.first_line + 1 + nth,
            Some(_) => run.first_line,
            None => run.first_line + nth,
        }
    }
}

/// Minimum number of rows in a fold.
const MIN_FOLD: usize = 4;
/// A message is small below 1/8 of the heaviest message.
const SMALL: u64 = 8;

/// Returns the folds of rows. `heaviest` has the tokens of the heaviest message.
pub(crate) fn folds(rows: &[Row], lanes: &[&LaneContext], heaviest: Tokens) -> Vec<Fold> {
    let small = Tokens(heaviest.0 / SMALL);
    let message = |row: &Row| match row {
        Row::Message(m) => Some(*m as usize),
        Row::Written(_) => None,
    };
    let is_small =
        |m: usize| lanes.iter().filter_map(|lane| lane.messages.get(m)).all(|s| s.tokens < small);
    let status = |lane: &LaneContext, m: usize| lane.messages.get(m).map(|s| s.status);
    let is_alike = |a: &Row, b: &Row| match (message(a), message(b)) {
        (Some(a), Some(b)) => {
            is_small(a)
                && is_small(b)
                && lanes.iter().all(|lane| status(lane, a) == status(lane, b))
        }
        _ => false,
    };
    let mut folds = Vec::new();
    let mut start = 0;
    for run in rows.chunk_by(is_alike) {
        let range = start..start + run.len();
        start = range.end;
        let (Some(Row::Message(first)), Some(Row::Message(last))) = (run.first(), run.last())
        else {
            continue;
        };
        if run.len() >= MIN_FOLD {
            let sum = |lane: &&LaneContext| {
                let seen = run.iter().filter_map(|row| lane.messages.get(message(row)?));
                seen.map(|s| s.tokens).sum()
            };
            folds.push(Fold {
                rows: range,
                messages: *first..=*last,
                tokens: lanes.iter().map(sum).collect(),
            });
        }
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::model::lane_context::LaneMessage;
    use crate::engine::MessageStatus;

    /// Returns the folds of ten messages of one lane; the fifth is heavy.
    fn ten() -> Vec<Fold> {
        let seen = |m: u32| LaneMessage {
            status: if m < 8 { MessageStatus::Kept } else { MessageStatus::Dropped },
            tokens: Tokens(if m == 4 { 800 } else { 1 }),
        };
        let lane = LaneContext { messages: (0..10).map(seen).collect(), ..LaneContext::default() };
        let rows: Vec<Row> = (0..10).map(Row::Message).collect();
        folds(&rows, &[&lane], Tokens(800))
    }

    fn fold(is_open: bool) -> Line {
        Line::Fold(FoldLine { fold: 0, is_open })
    }

    #[test]
    fn small_messages_with_equal_status_are_folded() {
        let folds = ten();
        let lines = Lines::new(&folds, 10, &BTreeSet::new());
        let all: Vec<_> = (0..lines.len).map(|line| lines.at(line)).collect();
        let mut expected = vec![fold(false)];
        expected.extend((4..10).map(Line::Row));
        assert_eq!(all, expected);
        assert_eq!(folds[0].tokens, [Tokens(4)]);
        assert_eq!((lines.of_row(2), lines.of_row(4)), (0, 1));
    }

    #[test]
    fn an_open_fold_shows_its_rows_below_its_line() {
        let lines = Lines::new(&ten(), 10, &BTreeSet::from([2]));
        let all: Vec<_> = (0..lines.len).map(|line| lines.at(line)).collect();
        let mut expected = vec![fold(true)];
        expected.extend((0..10).map(Line::Row));
        assert_eq!(all, expected);
        assert_eq!((lines.of_row(0), lines.of_row(9)), (1, 10));
    }
}
