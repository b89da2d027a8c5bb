//! The contexts of the lanes side by side: one row per message, aligned across lanes, and rows for messages that a
//! policy wrote.

use crate::app::state::lanes::lines::{Fold, Lines, folds};
use crate::app::state::model::lane_context::{LaneContext, Row, WrittenPosition};
use crate::app::state::model::runs::replays::{LaneRun, Runs};
use crate::engine::{Case, Context, Event, MessageStatus, Outcome, recorded, simulate};
use crate::session::Session;
use crate::units::Tokens;
use rayon::prelude::*;
use std::collections::BTreeSet;
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
    /// The row to scroll to first: the last one that any lane changed, or the last row.
    pub frontier: usize,
    /// Index of the call.
    pub call: usize,
    /// Folded runs of rows whose status is equal in every lane.
    pub folds: Vec<Fold>,
    /// State of each lane at the call; `None` at the last call, where it is the outcome of the run.
    pub states: Vec<Option<LaneState>>,
}

/// Context and events of a lane at a call.
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
        // The state is kept for a long time, so excess capacity is freed.
        context.entries.shrink_to_fit();
        events.shrink_to_fit();
        Self { context, events }
    }
}

impl LaneRows {
    /// Replays all lanes up to a call and aligns their contexts. At the last call, aligns the contexts at the end of the
    /// session, with the last answer.
    pub fn at_call(runs: &Runs, call: usize) -> Self {
        let is_before_end = call < runs.case.session.calls.len().saturating_sub(1);
        let state = |lane: &Arc<LaneRun>| {
            let run = || simulate(&runs.case, &lane.policy, &lane.knobs, Some(call));
            is_before_end.then(|| LaneState::from(run()))
        };
        let as_recorded = || {
            let run = || recorded(&runs.case, runs.output_reserve, Some(call));
            is_before_end.then(|| run().context)
        };
        let (as_recorded, states): (_, Vec<_>) =
            rayon::join(as_recorded, || runs.lanes.par_iter().map(state).collect());
        let as_recorded = as_recorded.as_ref();
        let as_recorded = as_recorded.unwrap_or(&runs.recorded.outcome.context);
        let contexts = runs.lanes.iter().zip(&states).map(|(lane, state)| {
            let at_call = state.as_ref().map(|state| &state.context);
            at_call.unwrap_or(&lane.outcome.context)
        });
        let rows = Self::new(&runs.case, call, as_recorded, contexts);
        Self { states, ..rows }
    }

    /// Aligns the recorded context and those of the lanes at `call`.
    fn new<'a>(
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
            folds: folds(&rows, &columns, heaviest),
            rows,
            lanes,
            recorded,
            heaviest,
            call,
            states: Vec::new(),
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
        Lines::new(&self.folds, self.rows.len(), unfolded)
    }

    /// Returns the row of a message or written entry, or the next row if it is missing.
    pub fn row_at(&self, sought: Row) -> Option<usize> {
        let at = self.rows.partition_point(|row| row.order() < sought.order());
        Some(at.min(self.rows.len().checked_sub(1)?))
    }

    /// Returns the number of rows above `row` that closed folds would hide.
    pub fn n_foldable_above(&self, row: usize) -> usize {
        let above = self.folds.iter().take_while(|fold| fold.rows.end <= row);
        above.map(|fold| fold.rows.len() - 1).sum()
    }
}

/// Returns the messages in order, with each position of written entries once.
fn rows(session: &Session, end: usize, lanes: &[LaneContext]) -> Vec<Row> {
    let mut positions: Vec<WrittenPosition> =
        lanes.iter().flat_map(|lane| lane.written.keys().copied()).collect();
    positions.sort_unstable();
    positions.dedup();
    let mut positions = positions.into_iter().peekable();
    let mut rows = Vec::with_capacity(end + positions.len());
    for (idx, message) in session.messages.iter().enumerate().take(end) {
        while let Some(position) = positions.next_if(|p| p.before as usize <= idx) {
            rows.push(Row::Written(position));
        }
        if message.in_history {
            rows.push(Row::Message(idx as u32));
        }
    }
    rows.extend(positions.map(Row::Written));
    rows
}

/// Returns the last row that any lane changed, or the last row.
fn frontier(rows: &[Row], lanes: &[LaneContext]) -> usize {
    let is_changed = |row: &Row| match row {
        Row::Written(_) => true,
        Row::Message(m) => lanes
            .iter()
            .filter_map(|lane| lane.messages.get(*m as usize))
            .any(|s| s.status != MessageStatus::Kept && s.status != MessageStatus::Absent),
    };
    rows.iter().rposition(is_changed).unwrap_or(rows.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_message_and_written_position() {
        let written = |before| Row::Written(WrittenPosition { before, nth: 0 });
        let rows = LaneRows {
            // Message 4 is not part of the history.
            rows: vec![Row::Message(2), Row::Message(3), written(5), Row::Message(5)],
            ..LaneRows::default()
        };
        let at = |row| rows.row_at(row);
        assert_eq!(at(Row::Message(3)), Some(1));
        assert_eq!(at(written(5)), Some(2));
        assert_eq!((at(Row::Message(4)), at(Row::Message(9))), (Some(2), Some(3)));
        assert_eq!(LaneRows::default().row_at(Row::Message(0)), None);
    }
}
