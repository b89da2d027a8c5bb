//! View settings of the timeline.

use super::plot::Axis;
use crate::session::Kind;

/// View settings of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineView {
    /// Unit of the axis.
    pub axis: Axis,
    /// Series of the area.
    pub area: Area,
    /// The only kind in the area; `None` for all.
    pub isolated: Option<Kind>,
}

impl Default for TimelineView {
    fn default() -> Self {
        Self { axis: Axis::Calls, area: Area::Recorded, isolated: None }
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
