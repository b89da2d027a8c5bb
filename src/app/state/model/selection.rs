//! The selected call, message, lane and event, and the commands that select.

pub use crate::analysis::CallRange;
pub use crate::analysis::query::Direction;

use crate::app::state::model::lane_context::WrittenPosition;

/// An event of the replays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventId {
    /// Index of its lane; `None` for the recorded one.
    pub lane: Option<usize>,
    /// Index in the events of the lane's run.
    pub index: usize,
}

/// A range of calls after one of its ends moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedRange {
    /// The range.
    pub calls: CallRange,
    /// The call at the end that moved.
    pub moved_to: usize,
}

impl ExtendedRange {
    /// Moves an end of a range by a number of calls, at most to the call `last`. Moves the end at `current`, else the
    /// last one. Without a range, starts one at `current`.
    pub fn new(range: Option<CallRange>, current: usize, by: isize, last: usize) -> Self {
        let (fixed, moved) = match range {
            Some(range) if range.first == current => (range.last, range.first),
            Some(range) => (range.first, range.last),
            None => (current, current),
        };
        let moved_to = moved.saturating_add_signed(by).min(last);
        Self { calls: CallRange::between(fixed, moved_to), moved_to }
    }
}

/// The selected items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Index of the call.
    pub call: usize,
    /// Selected calls, to which tables are limited.
    pub calls: Option<CallRange>,
    /// Index of a call whose context is compared with that of the selected call.
    pub compared: Option<usize>,
    /// Index of a message.
    pub message: Option<usize>,
    /// Index of the message at the other end of a selected range of table rows.
    pub anchor: Option<usize>,
    /// Position of a written message, if one is selected instead of a message.
    pub written: Option<WrittenPosition>,
    /// Index of the focused lane; `None` for the recorded one.
    pub lane: Option<usize>,
    /// An event; `None` if only a call is selected.
    pub event: Option<EventId>,
}

impl Selection {
    /// The first call, without a message, lane or event.
    pub const NONE: Self = Self {
        call: 0,
        calls: None,
        compared: None,
        message: None,
        anchor: None,
        written: None,
        lane: None,
        event: None,
    };

    /// Returns whether tables list items of this call.
    pub fn lists(&self, call: usize) -> bool {
        self.calls.is_none_or(|calls| calls.contains(call))
    }
}

/// A place to show in all panels; panels keep what is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// Index of a lane.
    pub lane: Option<usize>,
    /// Index of a call.
    pub call: Option<usize>,
    /// Index of a message.
    pub message: Option<usize>,
}

/// A kind of noteworthy occurrence at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landmark {
    /// A compaction of the focused lane.
    Compaction,
    /// The first of consecutive overflows of the focused lane.
    Overflow,
    /// A recorded cache miss.
    CacheMiss,
}

/// A command that selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectCommand {
    /// Select this call in all panels.
    Call(usize),
    /// Select the next or previous call with this landmark.
    Jump(Landmark, Direction),
    /// Limit the tables to these calls; `None` for no limit.
    Calls(Option<CallRange>),
    /// Zoom the timeline to the selected calls.
    ZoomToCalls,
    /// Compare the context of this call with that of the selected one; `None` to stop.
    Compare(Option<usize>),
    /// Select this message in all panels.
    Message(usize),
    /// Select the message that this lane wrote at this position.
    Written(usize, WrittenPosition),
    /// Select no message and close the detail.
    NoMessage,
    /// Select the table rows from the selected message to this one.
    ExtendTo(usize),
    /// Add this message to the selected ones, or remove it.
    Toggle(usize),
    /// Select the lane, call and message that are given, without changing tabs.
    Spot(Spot),
    /// Select an event of a lane's policy or of the recorded program.
    Event(EventId),
    /// Select the message with this number (from 1), or the nearest one.
    MessageNumber(usize),
    /// Select the recorded compaction with this index, and its summary if there is one.
    RecordedCompaction(usize),
    /// Select a lane and show its settings; `None` for the recorded lane.
    Lane(Option<usize>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_at_the_selected_call_moves() {
        let extended = |range, current, by| {
            let range = ExtendedRange::new(range, current, by, 9);
            (range.calls, range.moved_to)
        };
        let range = |a, b| CallRange::between(a, b);
        assert_eq!(extended(None, 4, 1), (range(4, 5), 5));
        assert_eq!(extended(Some(range(4, 5)), 5, 1), (range(4, 6), 6));
        assert_eq!(extended(Some(range(4, 6)), 4, -1), (range(3, 6), 3));
        assert_eq!(extended(Some(range(4, 5)), 5, -1), (range(4, 4), 4));
        // Another call is selected: the last end moves.
        assert_eq!(extended(Some(range(4, 6)), 1, 1), (range(4, 7), 7));
        assert_eq!(extended(Some(range(4, 9)), 9, 1), (range(4, 9), 9));
    }
}
