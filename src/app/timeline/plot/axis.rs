//! The horizontal axis of the timeline. It counts calls, or turns of equal width, from 0.

use super::input::{Axis, TimelineInput};

/// Converts between calls and positions on the axis.
#[derive(Clone, Copy)]
pub(super) struct CallAxis<'a> {
    unit: Axis,
    turn_starts: &'a [usize],
    calls: usize,
}

impl<'a> CallAxis<'a> {
    pub(super) fn new(input: &TimelineInput<'a>) -> Self {
        let unit = if input.turn_starts.is_empty() {
            Axis::Calls
        } else {
            input.axis
        };
        Self {
            unit,
            turn_starts: input.turn_starts,
            calls: input.calls(),
        }
    }

    /// Returns the right end of the axis; never 0.
    pub(super) fn end(self) -> f64 {
        match self.unit {
            _ if self.calls <= 1 => 1.0,
            Axis::Calls => (self.calls - 1) as f64,
            Axis::Turns => self.x(self.calls - 1),
        }
    }

    /// Returns the length of the shortest visible range.
    pub(super) fn min_span(self) -> f64 {
        match self.unit {
            Axis::Calls => self.end().min(6.0),
            Axis::Turns => self.end().min(1.0),
        }
    }

    /// Returns the largest number on the axis.
    pub(super) fn last_number(self) -> usize {
        match self.unit {
            Axis::Calls => self.calls,
            Axis::Turns => self.turn_starts.len(),
        }
    }

    /// Returns the position of a call.
    pub(super) fn x(self, call: usize) -> f64 {
        match self.unit {
            Axis::Calls => call as f64,
            Axis::Turns => {
                let turn = self
                    .turn_starts
                    .partition_point(|start| *start <= call)
                    .saturating_sub(1);
                let (start, length) = self.turn(turn);
                turn as f64 + call.saturating_sub(start) as f64 / length
            }
        }
    }

    /// Returns the call nearest to a position.
    pub(super) fn nearest(self, x: f64) -> usize {
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
    pub(super) fn unit(self) -> &'static str {
        match self.unit {
            Axis::Calls => "call",
            Axis::Turns => "turn",
        }
    }
}
