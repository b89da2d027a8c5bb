//! The lanes' contexts side by side: one row a message, the same row in every lane, and rows for what a policy wrote.

use crate::engine::{Case, Context, Fate, Written};
use crate::session::{Session, WrittenKind};
use crate::units::Tokens;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All rows at one step.
#[derive(Clone, Debug, Default)]
pub struct LaneRows {
    /// In the order the model would see them.
    pub rows: Vec<Row>,
    /// One a lane.
    pub lanes: Vec<LaneContext>,
    /// The heaviest message, which the bars are scaled by.
    pub heaviest: Tokens,
    /// The row to look at first: the last message that any lane removed. The last row if none did.
    pub frontier: usize,
    /// Index of the step.
    pub step: usize,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A message of the session, by index.
    Message(u32),
    /// What a lane wrote in the place of messages, which may differ from lane to lane.
    Written(Place),
}

/// Where a written entry stands: behind the messages it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index of the first message behind what it covers.
    pub before: u32,
    /// Tells entries at the same place apart.
    pub nth: u32,
}

/// One lane's context at the step.
#[derive(Clone, Debug, Default)]
pub struct LaneContext {
    /// By message index.
    pub messages: Vec<Seen>,
    /// What the policy wrote.
    pub written: BTreeMap<Place, WrittenSeen>,
    /// True tokens of the whole context.
    pub total: Tokens,
    /// Messages in it, written ones included.
    pub n_entries: usize,
}

/// A message in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What became of it.
    pub fate: Fate,
    /// What it weighs in this lane now.
    pub tokens: Tokens,
}

/// A message that a policy wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSeen {
    /// Summary or notice.
    pub kind: WrittenKind,
    /// What it weighs.
    pub tokens: Tokens,
    /// Messages it stands for.
    pub n_covered: usize,
    /// A stand-in of the right size.
    pub is_predicted: bool,
    /// Its text.
    pub text: Arc<str>,
}

impl LaneRows {
    /// Aligns the lanes' contexts at `step`.
    pub fn new<'a>(case: &Case, step: usize, contexts: impl Iterator<Item = &'a Context>) -> Self {
        let session = &case.session;
        let mut end = 0;
        let lanes: Vec<_> = contexts
            .inspect(|context| end = context.messages_end.max(end))
            .map(|context| LaneContext::new(context, session.messages.len()))
            .collect();
        let rows = rows(session, end, &lanes);
        let heaviest = (0..end)
            .filter(|m| session.messages[*m].in_history)
            .map(|m| case.ledger.message(m))
            .max();
        let frontier = frontier(&rows, &lanes);
        Self {
            rows,
            lanes,
            heaviest: heaviest.unwrap_or_default(),
            frontier,
            step,
        }
    }

    /// The row of a message, if it is shown at this step.
    pub fn row_of(&self, message: usize) -> Option<usize> {
        self.rows
            .iter()
            .position(|row| *row == Row::Message(message as u32))
    }
}

impl LaneContext {
    fn new(context: &Context, n_messages: usize) -> Self {
        let seen = |(fate, tokens): (Fate, u32)| Seen {
            fate,
            tokens: Tokens::from(tokens),
        };
        let messages = context.fates(n_messages).into_iter().map(seen).collect();
        let mut lane = Self {
            messages,
            written: BTreeMap::new(),
            total: context.tokens(),
            n_entries: context.entries.len(),
        };
        for (written, tokens) in context.written() {
            lane.write(written, tokens);
        }
        lane
    }

    fn write(&mut self, written: &Written, tokens: Tokens) {
        let before = written.covers.last().map_or(0, |range| range.end);
        let nth = self
            .written
            .range(
                Place { before, nth: 0 }..=Place {
                    before,
                    nth: u32::MAX,
                },
            )
            .count();
        let seen = WrittenSeen {
            kind: written.kind,
            tokens,
            n_covered: written.covers.iter().map(ExactSizeIterator::len).sum(),
            is_predicted: written.is_predicted,
            text: Arc::clone(&written.text),
        };
        self.written.insert(
            Place {
                before,
                nth: nth as u32,
            },
            seen,
        );
    }
}

/// Messages of the history in order, each place where a lane wrote something once.
fn rows(session: &Session, end: usize, lanes: &[LaneContext]) -> Vec<Row> {
    let mut places: Vec<Place> = lanes
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

fn frontier(rows: &[Row], lanes: &[LaneContext]) -> usize {
    let is_touched = |row: &Row| match row {
        Row::Written(_) => true,
        Row::Message(m) => lanes
            .iter()
            .filter_map(|lane| lane.messages.get(*m as usize))
            .any(|s| s.fate != Fate::Kept && s.fate != Fate::Absent),
    };
    rows.iter()
        .rposition(is_touched)
        .unwrap_or(rows.len().saturating_sub(1))
}
