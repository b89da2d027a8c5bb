//! View settings of the timeline.

use crate::app::state::model::view::View;
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

/// Unit of the horizontal axis.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Model calls.
    #[default]
    Calls,
    /// Turns, all of equal width.
    Turns,
}

impl View {
    /// Returns the view settings of the timeline.
    pub fn timeline(&self) -> TimelineView {
        *self.get()
    }

    /// Returns the view of another session: with the same tab and the same timeline, else with the default settings.
    #[must_use]
    pub fn of_another_session(&self) -> Self {
        let mut view = Self::default();
        view.tab = self.tab;
        *view.timeline_mut() = self.timeline();
        view
    }

    /// Returns the view settings of the timeline, to change them.
    pub fn timeline_mut(&mut self) -> &mut TimelineView {
        self.get_mut()
    }
}
