//! Values shared by the parts of the timeline in a frame, and state kept between frames.

use super::columns::{self, Bar, Curve};
use super::layout::{self, Grid, Steps};
use super::model::TimelineInput;
use super::view::View;
use crate::app::theme::Palette;
use crate::app::widgets::drag;
use crate::app::wording;
use crate::engine::Sample;
use crate::session::Kind;
use crate::units::Tokens;
use egui::{Context, Id, Pos2, Rect, Vec2, pos2};
use egui_plot::{PlotBounds, PlotTransform};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

const LEFT: f32 = 56.0;
const RIGHT: f32 = 80.0;
const LEGEND: f32 = 20.0;
const FLAGS: f32 = 20.0;
/// Top space without flags: room for the topmost handle.
const NO_FLAGS: f32 = 10.0;
const AXIS: f32 = 20.0;
const HEAT: f32 = 10.0;
/// Gap between plot and strip.
const HEAT_GAP: f32 = 3.0;
const OVERVIEW: f32 = 18.0;
const BOTTOM: f32 = 6.0;

/// Maximum number of dots of reported usage.
const DOTS: usize = 100;

/// The rectangles of the timeline's parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Areas {
    pub(super) legend: Rect,
    /// Right end of the legend row, for the caller.
    pub(super) corner: Rect,
    pub(super) flags: Rect,
    pub(super) plot: Rect,
    /// The strip of cumulative tokens.
    pub(super) heat: Rect,
    pub(super) axis: Rect,
    pub(super) overview: Rect,
    /// Right of the plot: the handles of the thresholds.
    pub(super) handles: Rect,
}

impl Areas {
    /// Divides a rectangle at whole points, so that thin lines are sharp.
    pub(super) fn of(outer: Rect, input: &TimelineInput<'_>) -> Self {
        let (left, right) = (
            (outer.left() + LEFT).round(),
            (outer.right() - RIGHT).round(),
        );
        let right = right.max(left + 40.0);
        let row =
            |top: f32, height: f32| Rect::from_min_max(pos2(left, top), pos2(right, top + height));
        let flags = if input.recorded_compactions.is_empty() {
            NO_FLAGS
        } else {
            FLAGS
        };
        let top = outer.top().round();
        let bottom = outer.bottom().round() - BOTTOM;
        let plot_top = top + LEGEND + flags;
        let heat = if input.heat.is_empty() { 0.0 } else { HEAT };
        let plot_bottom = (bottom - OVERVIEW - 4.0 - AXIS - heat).max(plot_top + 40.0);
        let plot = row(plot_top, plot_bottom - plot_top);
        let end = outer.right() - 8.0;
        let begin = end - input.corner;
        let across = |from: f32, to: f32| {
            Rect::from_min_max(pos2(from, top), pos2(to.max(from), top + LEGEND))
        };
        Self {
            legend: across(left, begin),
            corner: across(begin, end),
            flags: row(top + LEGEND, flags),
            plot,
            heat: row(plot_bottom + HEAT_GAP, (heat - HEAT_GAP).max(0.0)),
            axis: row(plot_bottom + heat, AXIS),
            overview: row(plot_bottom + heat + AXIS + 4.0, OVERVIEW),
            handles: Rect::from_min_max(plot.right_top(), pos2(outer.right(), plot.bottom())),
        }
    }
}

/// Values shared within a frame.
pub(super) struct Scene<'a> {
    pub(super) input: &'a TimelineInput<'a>,
    pub(super) palette: &'static Palette,
    pub(super) areas: Areas,
    pub(super) steps: Steps<'a>,
    pub(super) whole: Arc<Whole>,
    pub(super) view: View,
    pub(super) transform: PlotTransform,
    /// The last call in view, whose thresholds the handles show.
    pub(super) last: usize,
}

impl Scene<'_> {
    /// Returns the screen position of a call.
    pub(super) fn x(&self, step: usize) -> f32 {
        self.at(self.steps.x(step))
    }

    /// Returns the screen position of an axis value.
    pub(super) fn at(&self, x: f64) -> f32 {
        self.transform.position_from_point_x(x)
    }

    /// Returns the screen height of a number of tokens.
    pub(super) fn y(&self, tokens: f64) -> f32 {
        self.transform.position_from_point_y(tokens)
    }

    /// Returns the screen position of a curve's point.
    pub(super) fn point(&self, [x, tokens]: [f64; 2]) -> Pos2 {
        pos2(self.at(x), self.y(tokens))
    }

    /// Returns the call at a screen position.
    pub(super) fn step_at(&self, at: Pos2) -> usize {
        self.steps.nearest(self.transform.value_from_position(at).x)
    }

    /// Returns whether an axis value is in view.
    pub(super) fn shows(&self, x: f64) -> bool {
        (self.view.from..=self.view.to).contains(&x)
    }
}

/// Returns the transform from calls and tokens to the screen.
pub(super) fn transform(plot: Rect, view: View, top: f64) -> PlotTransform {
    let bounds = PlotBounds::from_min_max([view.from, 0.0], [view.to, top]);
    PlotTransform::new(plot, bounds, false)
}

/// State of the timeline between frames.
#[derive(Clone, Default)]
pub(super) struct Memory {
    /// The visible range; `None` for everything, even if it grows.
    pub(super) view: Option<View>,
    pub(super) selected: Option<usize>,
    /// Height of the plot during the drag of a threshold, so that the scale does not change.
    pub(super) top: Option<f64>,
    /// The view before a drag.
    before: Option<View>,
    /// Distance from the line at which it was grabbed.
    pub(super) grab: f32,
    /// The call whose menu is open.
    pub(super) menu: usize,
    /// The dragged part of the overview.
    pub(super) brush: Option<super::overview::Grip>,
    /// Axis value at the start of a drag in the overview.
    pub(super) brush_from: f64,
    curves: Option<Arc<Curves>>,
    whole: Option<Arc<Whole>>,
}

/// Samples reduced to columns.
pub(super) struct Curves {
    key: (u64, Grid),
    pub(super) bars: Vec<Bar>,
    pub(super) lanes: Vec<Curve>,
    /// The focused lane's own count, if it differs.
    pub(super) count: Curve,
    pub(super) dots: Curve,
    pub(super) windows: Vec<(f64, f64, Tokens)>,
    /// The calls marked on the strip of cumulative tokens.
    pub(super) hot: Vec<usize>,
}

/// Properties of the whole session, independent of the view.
pub(super) struct Whole {
    key: (u64, usize),
    /// Its outline.
    pub(super) bars: Vec<Bar>,
    /// Maximum of all curves.
    pub(super) heaviest: Tokens,
    /// The largest window.
    pub(super) window: Tokens,
    /// The kinds that occur.
    pub(super) kinds: Vec<Kind>,
    /// Label of the lowest kind.
    pub(super) lowest: &'static str,
    /// First call of each run of overflows, by lane.
    pub(super) overflows: Vec<Vec<usize>>,
}

impl Memory {
    /// Returns the current view, or the one before a drag of these parts that Esc just canceled.
    pub(super) fn dragged(&mut self, ctx: &Context, grips: [Id; 2], view: View, end: f64) -> View {
        let is_one = |id: Option<Id>| id.is_some_and(|id| grips.contains(&id));
        if is_one(ctx.drag_started_id()) {
            self.before = self.view;
        }
        if is_one(drag::cancelled(ctx)) {
            return self.before.unwrap_or(View::whole(end));
        }
        view
    }

    /// Returns the reduced curves for this view. Recomputed if the data, the view or the width change.
    pub(super) fn curves(
        &mut self,
        input: &TimelineInput<'_>,
        data: u64,
        grid: Grid,
    ) -> Arc<Curves> {
        if let Some(kept) = self.curves.as_ref().filter(|kept| kept.key == (data, grid)) {
            return Arc::clone(kept);
        }
        let steps = Steps::new(input);
        let fresh = Arc::new(Curves {
            key: (data, grid),
            bars: columns::bars(input.area, steps, &grid),
            lanes: input
                .lanes
                .iter()
                .map(|lane| columns::curve(lane.samples, steps, &grid))
                .collect(),
            count: input.counting().map_or_else(Curve::new, |lane| {
                columns::curve_of(lane.samples, |sample| sample.metered, steps, &grid)
            }),
            dots: columns::dots(
                input.recorded_usage,
                steps,
                &grid,
                i64::try_from(grid.columns / DOTS).unwrap_or(1),
            ),
            windows: layout::window_runs(input, steps, &grid),
            hot: columns::hottest(input.heat, steps, &grid),
        });
        self.curves = Some(Arc::clone(&fresh));
        fresh
    }

    /// Returns the properties of the whole session.
    pub(super) fn whole(
        &mut self,
        input: &TimelineInput<'_>,
        data: u64,
        columns: usize,
    ) -> Arc<Whole> {
        if let Some(kept) = self
            .whole
            .as_ref()
            .filter(|kept| kept.key == (data, columns))
        {
            return Arc::clone(kept);
        }
        let steps = Steps::new(input);
        let grid = Grid {
            from: 0.0,
            to: steps.end(),
            columns,
            tolerance: 0.0,
        };
        let longest = || {
            input
                .lanes
                .iter()
                .map(|lane| lane.samples)
                .max_by_key(|samples| samples.len())
        };
        let samples = if input.area.is_empty() {
            longest().unwrap_or_default()
        } else {
            input.area
        };
        let occurs = |kind: &Kind| {
            input
                .area
                .iter()
                .any(|sample| sample.by_kind[kind.index()] > 0)
        };
        let fresh = Arc::new(Whole {
            key: (data, columns),
            bars: columns::bars(samples, steps, &grid),
            heaviest: input.heaviest(),
            window: input.windows.iter().copied().max().unwrap_or_default(),
            kinds: Kind::ALL.into_iter().filter(occurs).collect(),
            lowest: lowest(input),
            overflows: input
                .lanes
                .iter()
                .map(|lane| columns::overflow_runs(lane.samples))
                .collect(),
        });
        self.whole = Some(Arc::clone(&fresh));
        fresh
    }
}

/// Content before the first message may be recorded, known only by its size, or both.
pub(super) fn lowest(input: &TimelineInput<'_>) -> &'static str {
    let samples = input.area.iter().enumerate();
    let parts = samples.map(|(step, sample)| {
        let system = Tokens::from(sample.by_kind[Kind::System.index()]);
        let unseen = (input.unseen)(step).min(system);
        (unseen > Tokens::ZERO, system > unseen)
    });
    let (is_unseen, is_seen) =
        parts.fold((false, false), |any, one| (any.0 | one.0, any.1 | one.1));
    match (is_unseen, is_seen) {
        (true, false) => wording::UNSEEN,
        (true, true) => wording::PARTLY_UNSEEN,
        _ => wording::kind(Kind::System),
    }
}

/// Returns a key of the data without reading it: revision, addresses and lengths.
pub(super) fn fingerprint(input: &TimelineInput<'_>) -> u64 {
    let samples = |samples: &[Sample]| (samples.as_ptr() as usize, samples.len());
    let lanes = input.lanes.iter().map(|lane| samples(lane.samples));
    let mut hasher = DefaultHasher::new();
    (input.revision, input.axis, input.output_reserve).hash(&mut hasher);
    (samples(input.area), lanes.collect::<Vec<_>>()).hash(&mut hasher);
    (input.windows.as_ptr() as usize, input.windows.len()).hash(&mut hasher);
    (input.turn_starts.len(), input.recorded_usage.len()).hash(&mut hasher);
    (input.heat.as_ptr() as usize, input.heat.len()).hash(&mut hasher);
    hasher.finish()
}

/// Size of a triangle or cross that marks a call.
pub(super) const MARK: Vec2 = Vec2::splat(8.0);
