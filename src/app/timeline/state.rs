//! View settings of the timeline.

use super::plot::Axis;

/// View settings of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineView {
    /// Unit of the axis.
    pub axis: Axis,
    /// Series of the area.
    pub area: Area,
}

impl Default for TimelineView {
    fn default() -> Self {
        Self {
            axis: Axis::Calls,
            area: Area::Recorded,
        }
    }
}

/// The series of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The recorded lane.
    Recorded,
    /// The focused lane.
    FocusedLane,
}
