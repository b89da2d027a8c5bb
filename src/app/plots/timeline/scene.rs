//! Everything the parts of the timeline share while a frame is drawn, and what is kept between frames.

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
/// Where there are no flags: only room for the topmost handle.
const NO_FLAGS: f32 = 10.0;
const AXIS: f32 = 20.0;
const HEAT: f32 = 10.0;
/// What of it lies between the plot and the strip.
const HEAT_GAP: f32 = 3.0;
const OVERVIEW: f32 = 18.0;
const BOTTOM: f32 = 6.0;

/// At most so many dots of reported usage across the plot.
const DOTS: usize = 100;

/// The places of the timeline's parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Areas {
    pub(super) legend: Rect,
    /// The end of the legend's row that is the caller's.
    pub(super) corner: Rect,
    pub(super) flags: Rect,
    pub(super) plot: Rect,
    /// What stayed, by step.
    pub(super) heat: Rect,
    pub(super) axis: Rect,
    pub(super) overview: Rect,
    /// Right of the plot, where the thresholds' handles stand.
    pub(super) handles: Rect,
}

impl Areas {
    /// Divides a rectangle, on whole points, so that hairlines are sharp.
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

/// A frame's worth of shared values.
pub(super) struct Scene<'a> {
    pub(super) input: &'a TimelineInput<'a>,
    pub(super) palette: &'static Palette,
    pub(super) areas: Areas,
    pub(super) steps: Steps<'a>,
    pub(super) whole: Arc<Whole>,
    pub(super) view: View,
    pub(super) transform: PlotTransform,
    /// The last step in view, whose thresholds the handles show.
    pub(super) last: usize,
}

impl Scene<'_> {
    /// Where a step lies on the screen.
    pub(super) fn x(&self, step: usize) -> f32 {
        self.at(self.steps.x(step))
    }

    /// Where a place of the axis lies on the screen.
    pub(super) fn at(&self, x: f64) -> f32 {
        self.transform.position_from_point_x(x)
    }

    /// How high tokens lie on the screen.
    pub(super) fn y(&self, tokens: f64) -> f32 {
        self.transform.position_from_point_y(tokens)
    }

    /// A point of a curve on the screen.
    pub(super) fn point(&self, [x, tokens]: [f64; 2]) -> Pos2 {
        pos2(self.at(x), self.y(tokens))
    }

    /// The step under a place on the screen.
    pub(super) fn step_at(&self, at: Pos2) -> usize {
        self.steps.nearest(self.transform.value_from_position(at).x)
    }

    /// Whether a place of the axis is in view.
    pub(super) fn shows(&self, x: f64) -> bool {
        (self.view.from..=self.view.to).contains(&x)
    }
}

/// The transform from steps and tokens to the screen.
pub(super) fn transform(plot: Rect, view: View, top: f64) -> PlotTransform {
    let bounds = PlotBounds::from_min_max([view.from, 0.0], [view.to, top]);
    PlotTransform::new(plot, bounds, false)
}

/// What the timeline remembers between frames.
#[derive(Clone, Default)]
pub(super) struct Memory {
    /// None shows everything, however much that becomes.
    pub(super) view: Option<View>,
    pub(super) selected: Option<usize>,
    /// The height of the plot while a threshold is dragged, which must not move what it is dragged along.
    pub(super) top: Option<f64>,
    /// The view before it began to be dragged.
    before: Option<View>,
    /// How far from the line it was grabbed.
    pub(super) grab: f32,
    /// The step whose menu is open.
    pub(super) menu: usize,
    /// What is dragged of the overview.
    pub(super) brush: Option<super::overview::Grip>,
    /// The part of the axis where a brush began.
    pub(super) brush_from: f64,
    curves: Option<Arc<Curves>>,
    whole: Option<Arc<Whole>>,
}

/// Samples thinned to columns.
pub(super) struct Curves {
    key: (u64, Grid),
    pub(super) bars: Vec<Bar>,
    pub(super) lanes: Vec<Curve>,
    /// The focused lane's own count, where it is another.
    pub(super) count: Curve,
    pub(super) dots: Curve,
    pub(super) windows: Vec<(f64, f64, Tokens)>,
    /// The steps that have a mark on the strip of what stayed.
    pub(super) hot: Vec<usize>,
}

/// What is true of the whole session, whichever part of it is in view.
pub(super) struct Whole {
    key: (u64, usize),
    /// Its outline.
    pub(super) bars: Vec<Bar>,
    /// The heaviest of all curves.
    pub(super) heaviest: Tokens,
    /// The largest window.
    pub(super) window: Tokens,
    /// The kinds that occur.
    pub(super) kinds: Vec<Kind>,
    /// What the lowest of them is called.
    pub(super) lowest: &'static str,
    /// By lane: the first step of each run of overflows.
    pub(super) overflows: Vec<Vec<usize>>,
}

impl Memory {
    /// The view as it is, or as it was before the drag of one of these that Esc has just ended.
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

    /// The thinned curves for this view, made anew where the data, the view or the width are others.
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

    /// What is true of the whole session.
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

/// What stands before everything else may be in the file, known only by its weight, or both.
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

/// Tells one set of data from another without reading any of it: the caller's revision, where things lie and how many there
/// are.
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

/// The size of a triangle or cross that marks a step.
pub(super) const MARK: Vec2 = Vec2::splat(8.0);
