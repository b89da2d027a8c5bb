//! The contexts of the lanes side by side: one row per message, aligned across lanes, and rows for messages that a
//! policy wrote.

use crate::engine::{Case, Context, Event, MessageStatus, Outcome, Written};
use crate::session::{Session, WrittenKind};
use crate::units::Tokens;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// All rows at one call.
#[derive(Clone, Debug, Default)]
pub struct LaneRows {
    /// The rows, in context order.
    pub rows: Vec<Row>,
    /// One entry per lane.
    pub lanes: Vec<LaneContext>,
    /// The recorded context.
    pub recorded: LaneContext,
    /// Tokens of the heaviest message, which sets the scale of the bars.
    pub heaviest: Tokens,
    /// The row to scroll to first: the last message that any lane removed, or the last row.
    pub frontier: usize,
    /// Index of the call.
    pub call: usize,
    /// Folded runs of rows whose status is equal in every lane.
    pub folds: Vec<Fold>,
    /// State of each lane at the call; `None` at the last call, where the run has it.
    pub until: Vec<Option<LaneState>>,
}

/// State of a lane at a call: the part of the run that is shown. The curve always covers the whole run.
#[derive(Clone, Debug)]
pub struct LaneState {
    /// The context.
    pub context: Context,
    /// The events up to the call, in order.
    pub events: Vec<Event>,
}

impl From<Outcome> for LaneState {
    fn from(outcome: Outcome) -> Self {
        let (mut context, mut events) = (outcome.context, outcome.events);
        // The vectors are kept, so excess capacity is freed.
        context.entries.shrink_to_fit();
        events.shrink_to_fit();
        Self { context, events }
    }
}

/// Small messages in consecutive rows with equal status in each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Indices of the rows.
    pub rows: Range<usize>,
    /// First and last message.
    pub messages: (u32, u32),
    /// Total tokens of the messages in each column, the recorded one first.
    pub tokens: Vec<Tokens>,
}

/// A displayed line of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A row, by index.
    Row(usize),
    /// A fold, by index, and whether its rows follow.
    Fold(usize, bool),
}

/// The displayed lines of the lanes: all rows except those in closed folds.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    stretches: Vec<Stretch>,
    /// Number of lines.
    pub len: usize,
}

/// Consecutive lines: first line, first row, and the fold at its start with whether its rows follow.
type Stretch = (usize, usize, Option<(usize, bool)>);

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A message of the session, by index.
    Message(u32),
    /// A message that a lane wrote in place of others. It may differ between lanes.
    Written(WrittenPosition),
}

impl Row {
    /// Returns the sort key of a row.
    fn order(self) -> (u32, u32) {
        match self {
            Self::Message(message) => (message, u32::MAX),
            Self::Written(place) => (place.before, place.nth),
        }
    }
}

/// Position of a written message: after the messages it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WrittenPosition {
    /// Index of the first message after the replaced ones.
    pub before: u32,
    /// Distinguishes several entries at one position.
    pub nth: u32,
}

impl WrittenPosition {
    /// Returns the written messages of a context with position and tokens.
    pub fn all(context: &Context) -> Vec<(Self, &Written, Tokens)> {
        let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
        let placed = context.written().map(|(written, tokens)| {
            let before = written.covers.last().map_or(0, |range| range.end);
            let nth = seen.entry(before).or_default();
            let place = Self { before, nth: *nth };
            *nth += 1;
            (place, written, tokens)
        });
        placed.collect()
    }
}

/// The context of one lane at the call.
#[derive(Clone, Debug, Default)]
pub struct LaneContext {
    /// By message index.
    pub messages: Vec<LaneMessage>,
    /// Messages that the policy wrote.
    pub written: BTreeMap<WrittenPosition, WrittenStatus>,
    /// True tokens of the whole context.
    pub total: Tokens,
    /// Messages in it, written ones included.
    pub n_entries: usize,
}

/// A message in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneMessage {
    /// Status of the message.
    pub status: MessageStatus,
    /// Current tokens in this lane.
    pub tokens: Tokens,
}

/// A message that a policy wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenStatus {
    /// Summary or notice.
    pub kind: WrittenKind,
    /// Tokens.
    pub tokens: Tokens,
    /// Number of replaced messages.
    pub n_covered: usize,
    /// The text is a placeholder of the expected size.
    pub is_predicted: bool,
    /// Its text.
    pub text: Arc<str>,
}

impl LaneRows {
    /// Aligns the recorded context and those of the lanes at `call`.
    pub fn new<'a>(
        case: &Case,
        call: usize,
        recorded: &Context,
        contexts: impl Iterator<Item = &'a Context>,
    ) -> Self {
        let session = &case.session;
        let mut end = recorded.messages_end;
        let lanes: Vec<_> = contexts
            .inspect(|context| end = context.messages_end.max(end))
            .map(|context| LaneContext::new(context, session.messages.len()))
            .collect();
        let recorded = LaneContext::new(recorded, session.messages.len());
        let rows = rows(session, end, &lanes);
        let heaviest = (0..end)
            .filter(|m| session.messages[*m].in_history)
            .map(|m| case.ledger.message(m))
            .max();
        let heaviest = heaviest.unwrap_or_default();
        let columns: Vec<_> = std::iter::once(&recorded).chain(&lanes).collect();
        Self {
            frontier: frontier(&rows, &lanes),
            folds: folds(&rows, &columns, Tokens(heaviest.0 / SMALL)),
            rows,
            lanes,
            recorded,
            heaviest,
            call,
            until: Vec::new(),
        }
    }

    /// Returns the context of a lane, or the recorded one.
    pub fn context(&self, lane: Option<usize>) -> Option<&LaneContext> {
        match lane {
            Some(lane) => self.lanes.get(lane),
            None => Some(&self.recorded),
        }
    }

    /// Returns the contexts from left to right, the recorded one first.
    pub fn columns(&self) -> impl Iterator<Item = (Option<usize>, &LaneContext)> {
        let lanes = self.lanes.iter().enumerate();
        let lanes = lanes.map(|(lane, context)| (Some(lane), context));
        std::iter::once((None, &self.recorded)).chain(lanes)
    }

    /// Returns the lines to show while the folds that contain a message of `unfolded` are open.
    pub fn lines(&self, unfolded: &BTreeSet<u32>) -> Lines {
        let mut lines = Lines::default();
        let mut row = 0;
        for (idx, fold) in self.folds.iter().enumerate() {
            lines.stretches.push((lines.len, row, None));
            lines.len += fold.rows.start - row;
            let (first, last) = fold.messages;
            let is_open = unfolded.range(first..=last).next().is_some();
            lines
                .stretches
                .push((lines.len, fold.rows.start, Some((idx, is_open))));
            lines.len += 1 + if is_open { fold.rows.len() } else { 0 };
            row = fold.rows.end;
        }
        lines.stretches.push((lines.len, row, None));
        lines.len += self.rows.len() - row;
        lines
    }

    /// Returns the row of a message or written entry, or the next row if it is missing.
    pub fn row_at(&self, sought: Row) -> Option<usize> {
        let at = self
            .rows
            .partition_point(|row| row.order() < sought.order());
        Some(at.min(self.rows.len().checked_sub(1)?))
    }

    /// Returns the number of folded rows above a row, which changes if other folds moved it.
    pub fn folded_above(&self, row: usize) -> usize {
        let above = self.folds.iter().take_while(|fold| fold.rows.end <= row);
        above.map(|fold| fold.rows.len() - 1).sum()
    }
}

impl Lines {
    /// Returns the line at an index.
    pub fn at(&self, line: usize) -> Line {
        let at = self.stretches.partition_point(|(first, ..)| *first <= line);
        let (first, row, fold) = self.stretches[at.saturating_sub(1)];
        match fold {
            Some((fold, is_open)) if line == first => Line::Fold(fold, is_open),
            Some(_) => Line::Row(row + line - first - 1),
            None => Line::Row(row + line - first),
        }
    }

    /// Returns the line of a row; the line of its fold if that is closed.
    pub fn of_row(&self, row: usize) -> usize {
        let at = self
            .stretches
            .partition_point(|(_, first, _)| *first <= row);
        match self.stretches[at.saturating_sub(1)] {
            (line, _, Some((_, false))) => line,
            (line, first, Some((_, true))) => line + 1 + row - first,
            (line, first, None) => line + row - first,
        }
    }
}

impl LaneContext {
    fn new(context: &Context, n_messages: usize) -> Self {
        let seen = |(status, tokens): (MessageStatus, u32)| LaneMessage {
            status,
            tokens: Tokens::from(tokens),
        };
        let messages = context.statuses(n_messages).into_iter().map(seen).collect();
        let mut lane = Self {
            messages,
            written: BTreeMap::new(),
            total: context.tokens(),
            n_entries: context.entries.len(),
        };
        for (place, written, tokens) in WrittenPosition::all(context) {
            lane.written
                .insert(place, WrittenStatus::new(written, tokens));
        }
        lane
    }
}

impl WrittenStatus {
    fn new(written: &Written, tokens: Tokens) -> Self {
        Self {
            kind: written.kind,
            tokens,
            n_covered: written.covers.iter().map(ExactSizeIterator::len).sum(),
            is_predicted: written.is_predicted,
            text: Arc::clone(&written.text),
        }
    }
}

/// Returns the messages in order, with each position of written entries once.
fn rows(session: &Session, end: usize, lanes: &[LaneContext]) -> Vec<Row> {
    let mut places: Vec<WrittenPosition> = lanes
        .iter()
        .flat_map(|lane| lane.written.keys().copied())
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut places = places.into_iter().peekable();
    let mut rows = Vec::with_capacity(end + places.len());
    for (idx, message) in session.messages.iter().enumerate().take(end) {
        while let Some(place) = places.next_if(|p| p.before as usize <= idx) {
            rows.push(Row::Written(place));
        }
        if message.in_history {
            rows.push(Row::Message(idx as u32));
        }
    }
    rows.extend(places.map(Row::Written));
    rows
}

/// Minimum number of rows in a fold.
const MIN_FOLD: usize = 4;
/// A message is small below 1/8 of the heaviest message.
const SMALL: u64 = 8;

fn folds(rows: &[Row], lanes: &[&LaneContext], small: Tokens) -> Vec<Fold> {
    let message = |row: &Row| match row {
        Row::Message(m) => Some(*m as usize),
        Row::Written(_) => None,
    };
    let is_small = |m: usize| {
        lanes
            .iter()
            .filter_map(|lane| lane.messages.get(m))
            .all(|s| s.tokens < small)
    };
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
                let seen = run
                    .iter()
                    .filter_map(|row| lane.messages.get(message(row)?));
                seen.map(|s| s.tokens).sum()
            };
            folds.push(Fold {
                rows: range,
                messages: (*first, *last),
                tokens: lanes.iter().map(sum).collect(),
            });
        }
    }
    folds
}

fn frontier(rows: &[Row], lanes: &[LaneContext]) -> usize {
    let is_touched = |row: &Row| match row {
        Row::Written(_) => true,
        Row::Message(m) => lanes
            .iter()
            .filter_map(|lane| lane.messages.get(*m as usize))
            .any(|s| s.status != MessageStatus::Kept && s.status != MessageStatus::Absent),
    };
    rows.iter()
        .rposition(is_touched)
        .unwrap_or(rows.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten messages of one lane; the fifth is heavy.
    fn ten() -> LaneRows {
        let seen = |m: u32| LaneMessage {
            status: if m < 8 {
                MessageStatus::Kept
            } else {
                MessageStatus::Dropped
            },
            tokens: Tokens(if m == 4 { 800 } else { 1 }),
        };
        let lane = LaneContext {
            messages: (0..10).map(seen).collect(),
            ..LaneContext::default()
        };
        let rows: Vec<Row> = (0..10).map(Row::Message).collect();
        let lanes = vec![lane];
        LaneRows {
            folds: folds(&rows, &[&lanes[0]], Tokens(100)),
            rows,
            lanes,
            ..LaneRows::default()
        }
    }

    #[test]
    fn small_messages_with_equal_status_are_folded() {
        let rows = ten();
        let lines = rows.lines(&BTreeSet::new());
        let all: Vec<_> = (0..lines.len).map(|line| lines.at(line)).collect();
        let mut expected = vec![Line::Fold(0, false)];
        expected.extend((4..10).map(Line::Row));
        assert_eq!(all, expected);
        assert_eq!(rows.folds[0].tokens, [Tokens(4)]);
        assert_eq!((lines.of_row(2), lines.of_row(4)), (0, 1));
    }

    #[test]
    fn rows_are_found_by_message_and_written_position() {
        let written = |before| Row::Written(WrittenPosition { before, nth: 0 });
        let rows = LaneRows {
            // Message 4 is not part of the history.
            rows: vec![
                Row::Message(2),
                Row::Message(3),
                written(5),
                Row::Message(5),
            ],
            ..LaneRows::default()
        };
        let at = |row| rows.row_at(row);
        assert_eq!(at(Row::Message(3)), Some(1));
        assert_eq!(at(written(5)), Some(2));
        assert_eq!(
            (at(Row::Message(4)), at(Row::Message(9))),
            (Some(2), Some(3))
        );
        assert_eq!(LaneRows::default().row_at(Row::Message(0)), None);
    }

    #[test]
    fn an_open_fold_shows_its_rows_below_its_line() {
        let lines = ten().lines(&BTreeSet::from([2]));
        let all: Vec<_> = (0..lines.len).map(|line| lines.at(line)).collect();
        let mut expected = vec![Line::Fold(0, true)];
        expected.extend((0..10).map(Line::Row));
        assert_eq!(all, expected);
        assert_eq!((lines.of_row(0), lines.of_row(9)), (1, 10));
    }
}
