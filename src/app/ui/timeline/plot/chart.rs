//! The timeline of one frame: its data, its areas on the screen, and conversions between the two.

use crate::app::state::model::selection::CallRange;
use crate::app::ui::theme::Palette;
use crate::app::ui::timeline::plot::axis::CallAxis;
use crate::app::ui::timeline::plot::input::TimelineInput;
use crate::app::ui::timeline::plot::state::{VisiblePart, WholeSession};
use crate::app::ui::timeline::plot::view::View;
use egui::{Pos2, Rect, Response, pos2};
use egui_plot::{PlotBounds, PlotTransform};
use std::sync::Arc;

/// Width of the numbers of the vertical axis, and height of those of the horizontal one.
pub(crate) const AXES: [f32; 2] = [56.0, 17.0];
/// Width of the handles.
const HANDLES: f32 = 80.0;
/// Height of the legend.
const LEGEND: f32 = 20.0;
/// Height of the flags.
const FLAGS: f32 = 20.0;
/// Space above the plot without flags, for the topmost handle.
const NO_FLAGS: f32 = 10.0;
/// Height of the strip of cumulative tokens.
const STRIP: f32 = 7.0;
/// Space above and below the strip.
const STRIP_GAP: f32 = 3.0;
/// Height of the overview.
const OVERVIEW: f32 = 18.0;
/// Space above and below the overview.
const OVERVIEW_GAPS: [f32; 2] = [4.0, 6.0];

/// The areas of the timeline's parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Areas {
    pub(crate) legend: Rect,
    /// Right end of the legend row, for the caller.
    pub(crate) corner: Rect,
    pub(crate) flags: Rect,
    pub(crate) plot: Rect,
    /// The strip of cumulative tokens; without height if they are unknown.
    pub(crate) strip: Rect,
    /// The numbers of the horizontal axis.
    pub(crate) numbers: Rect,
    pub(crate) overview: Rect,
    /// Right of the plot: the handles of the thresholds.
    pub(crate) handles: Rect,
}

impl Areas {
    /// Divides a rectangle at whole points, so that thin lines are sharp.
    pub(crate) fn new(outer: Rect, input: &TimelineInput<'_>) -> Self {
        let left = (outer.left() + AXES[0]).round();
        let right = (outer.right() - HANDLES).round().max(left + 40.0);
        let row = |top: f32, height: f32| Rect::from_x_y_ranges(left..=right, top..=top + height);
        let flags = if input.recorded_compactions.is_empty() { NO_FLAGS } else { FLAGS };
        let strip = if input.heat.is_empty() { 0.0 } else { STRIP_GAP + STRIP };
        let below = strip + STRIP_GAP + AXES[1] + OVERVIEW_GAPS[0] + OVERVIEW + OVERVIEW_GAPS[1];
        let legend = outer.top().round();
        let top = legend + LEGEND + flags;
        let bottom = (outer.bottom().round() - below).max(top + 40.0);
        let numbers = bottom + strip + STRIP_GAP;
        let end = outer.right() - 8.0;
        let corner = (end - input.corner).max(left);
        let in_legend_row =
            |x: std::ops::RangeInclusive<f32>| Rect::from_x_y_ranges(x, legend..=legend + LEGEND);
        Self {
            legend: in_legend_row(left..=corner),
            corner: in_legend_row(corner..=end),
            flags: row(legend + LEGEND, flags),
            plot: row(top, bottom - top),
            strip: row(bottom + strip.min(STRIP_GAP), (strip - STRIP_GAP).max(0.0)),
            numbers: row(numbers, AXES[1]),
            overview: row(numbers + AXES[1] + OVERVIEW_GAPS[0], OVERVIEW),
            handles: Rect::from_x_y_ranges(right..=outer.right(), top..=bottom),
        }
    }
}

/// The timeline of one frame.
pub(crate) struct Chart<'a> {
    pub(crate) input: &'a TimelineInput<'a>,
    pub(crate) palette: &'static Palette,
    pub(crate) areas: Areas,
    pub(crate) axis: CallAxis<'a>,
    pub(crate) session: Arc<WholeSession>,
    pub(crate) visible: Arc<VisiblePart>,
    pub(crate) view: View,
    pub(crate) transform: PlotTransform,
    /// The last call in view, whose thresholds the handles show.
    pub(crate) last: usize,
    /// The call under the pointer.
    pub(crate) hovered: Option<usize>,
    /// The selected calls, or those of the drag.
    pub(crate) range: Option<CallRange>,
    /// The part of the plot in the zoom box that is being dragged.
    pub(crate) zoom_box: Option<Rect>,
}

impl Chart<'_> {
    /// Returns the screen position of a call.
    pub(crate) fn x(&self, call: usize) -> f32 {
        self.at(self.axis.x(call))
    }

    /// Returns the screen position of an axis value.
    pub(crate) fn at(&self, x: f64) -> f32 {
        self.transform.position_from_point_x(x)
    }

    /// Returns the screen height of a number of tokens.
    pub(crate) fn y(&self, tokens: f64) -> f32 {
        self.transform.position_from_point_y(tokens)
    }

    /// Returns the screen positions of a curve.
    pub(crate) fn points(&self, curve: &[[f64; 2]]) -> Vec<Pos2> {
        let point = |[x, tokens]: &[f64; 2]| pos2(self.at(*x), self.y(*tokens));
        curve.iter().map(point).collect()
    }

    /// Returns the call at a screen position.
    pub(crate) fn call_at(&self, at: Pos2) -> usize {
        self.axis.nearest(self.transform.value_from_position(at).x)
    }

    /// Returns the call of a click into the plot or the flags above it.
    pub(crate) fn clicked_call(&self, plot: &Response) -> Option<usize> {
        let at = plot.interact_pointer_pos().filter(|_| plot.clicked())?;
        Some(self.call_at(at))
    }

    /// Returns whether a call is in view.
    pub(crate) fn shows(&self, call: usize) -> bool {
        (self.view.from..=self.view.to).contains(&self.axis.x(call))
    }

    /// Returns the top of the vertical axis.
    pub(crate) fn top(&self) -> f64 {
        self.transform.bounds().max()[1]
    }
}

/// Returns the transform from calls and tokens to the screen. `top` is the top of the vertical axis unless it is zoomed.
pub(crate) fn transform(plot: Rect, view: View, top: f64) -> PlotTransform {
    let [bottom, top] = view.tokens.unwrap_or([0.0, top]);
    let bounds = PlotBounds::from_min_max([view.from, bottom], [view.to, top]);
    PlotTransform::new(plot, bounds, false)
}
