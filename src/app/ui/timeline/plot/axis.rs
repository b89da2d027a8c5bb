//! The horizontal axis of the timeline. It counts calls, or turns of equal width, from 0.

use crate::app::state::timeline::state::Axis;
use crate::app::ui::timeline::plot::input::{ComparedCurve, TimelineInput};

/// Converts between calls and positions on the axis.
#[derive(Clone, Copy)]
pub(crate) struct CallAxis<'a> {
    unit: Axis,
    turn_starts: &'a [usize],
    calls: usize,
    end: f64,
    last_number: usize,
}

impl<'a> CallAxis<'a> {
    /// Creates the axis of a session. It ends with the longer session if another one is compared by its calls.
    pub(crate) fn new(input: &TimelineInput<'a>) -> Self {
        let own = Self::of(input.axis, input.turn_starts, input.calls());
        let compared = input.compared_session.filter(|other| !other.is_by_share);
        let Some(other) = compared.map(|other| own.of_compared(other)) else {
            return own;
        };
        Self {
            end: own.end.max(other.end),
            last_number: own.last_number.max(other.last_number),
            ..own
        }
    }

    fn of(unit: Axis, turn_starts: &'a [usize], calls: usize) -> Self {
        let unit = if turn_starts.is_empty() { Axis::Calls } else { unit };
        let axis = Self {
            unit,
            turn_starts,
            calls,
            end: 1.0,
            last_number: match unit {
                Axis::Calls => calls,
                Axis::Turns => turn_starts.len(),
            },
        };
        let last = calls.saturating_sub(1);
        let end = if calls <= 1 { 1.0 } else { axis.x(last) };
        Self { end, ..axis }
    }

    /// Returns the axis of a compared session, in the same unit.
    pub(crate) fn of_compared<'b>(self, other: &ComparedCurve<'b>) -> CallAxis<'b> {
        CallAxis::of(self.unit, other.turn_starts, other.contexts.len())
    }

    /// Returns the right end of the axis; never 0.
    pub(crate) fn end(self) -> f64 {
        self.end
    }

    /// Returns the length of the shortest visible range.
    pub(crate) fn min_span(self) -> f64 {
        match self.unit {
            Axis::Calls => self.end().min(6.0),
            Axis::Turns => self.end().min(1.0),
        }
    }

    /// Returns the largest number on the axis.
    pub(crate) fn last_number(self) -> usize {
        self.last_number
    }

    /// Returns the position of a call.
    pub(crate) fn x(self, call: usize) -> f64 {
        match self.unit {
            Axis::Calls => call as f64,
            Axis::Turns => {
                let turn =
                    self.turn_starts.partition_point(|start| *start <= call).saturating_sub(1);
                let (start, length) = self.turn(turn);
                turn as f64 + call.saturating_sub(start) as f64 / length
            }
        }
    }

    /// Returns the call nearest to a position.
    pub(crate) fn nearest(self, x: f64) -> usize {
        let call = match self.unit {
            Axis::Calls => x,
            Axis::Turns => {
                let turn = (x.max(0.0) as usize).min(self.turn_starts.len().saturating_sub(1));
                let (start, length) = self.turn(turn);
                start as f64 + (x - turn as f64) * length
            }
        };
        (call.round().max(0.0) as usize).min(self.calls.saturating_sub(1))
    }

    /// Returns the first call and the length of a turn.
    fn turn(self, turn: usize) -> (usize, f64) {
        let start = self.turn_starts.get(turn).copied().unwrap_or_default();
        let next = self.turn_starts.get(turn + 1).copied();
        let length = next.unwrap_or(self.calls).saturating_sub(start);
        (start, length.max(1) as f64)
    }

    /// Returns the unit of the axis.
    pub(crate) fn unit(self) -> &'static str {
        match self.unit {
            Axis::Calls => "call",
            Axis::Turns => "turn",
        }
    }
}
