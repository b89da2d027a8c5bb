//! State of the timeline between frames: the view, drags, and samples reduced to pixel columns.

use crate::app::state::wording;
use crate::app::ui::timeline::plot::axis::CallAxis;
use crate::app::ui::timeline::plot::input::TimelineInput;
use crate::app::ui::timeline::plot::reduce::{Bar, Columns, Curve, WindowRun};
use crate::app::ui::timeline::plot::view::View;
use crate::app::ui::timeline::plot::{compared_curve, reduce};
use crate::app::ui::widgets::drag;
use crate::engine::Sample;
use crate::session::Kind;
use crate::units::Tokens;
use egui::{Context, Id, Pos2};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// The dragged part of the brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grip {
    From,
    To,
    Middle,
    /// Outside the brush: a new range is selected.
    New,
}

/// Maximum number of dots of reported usage.
const DOTS: usize = 100;

/// State of the timeline between frames.
#[derive(Clone, Default)]
pub(crate) struct TimelineState {
    /// The visible part; `None` for everything, even if it grows.
    pub(crate) view: Option<View>,
    /// The view before a drag.
    view_before_drag: Option<View>,
    /// The selected call of the previous frame.
    pub(crate) selected: Option<usize>,
    /// Top of the plot during the drag of a threshold, so that the scale does not change.
    pub(crate) held_top: Option<f64>,
    /// Distance between the pointer and the dragged threshold.
    pub(crate) grab: f32,
    /// A corner of the zoom box that is being dragged.
    pub(crate) zoom_from: Option<Pos2>,
    /// The call at the start of a drag that selects calls.
    pub(crate) range_from: Option<usize>,
    /// The call whose menu is open.
    pub(crate) menu_call: usize,
    /// The dragged part of the overview.
    pub(crate) grip: Option<Grip>,
    /// Axis value at the start of a drag in the overview.
    pub(crate) grip_from: f64,
    visible: Cached<(u64, Columns), VisiblePart>,
    session: Cached<(u64, usize), WholeSession>,
}

/// The latest result of a computation, with its key.
type Cached<K, T> = Option<(K, Arc<T>)>;

/// Returns the cached result for a key, or computes it.
fn cached<K: PartialEq, T>(
    cache: &mut Cached<K, T>,
    key: K,
    compute: impl FnOnce() -> T,
) -> Arc<T> {
    if let Some((known, result)) = cache
        && *known == key
    {
        return Arc::clone(result);
    }
    let result = Arc::new(compute());
    *cache = Some((key, Arc::clone(&result)));
    result
}

/// The visible samples, reduced to pixel columns.
pub(crate) struct VisiblePart {
    pub(crate) bars: Vec<Bar>,
    pub(crate) lanes: Vec<Curve>,
    /// The focused lane's own count, if it differs from the actual one.
    pub(crate) own_count: Curve,
    pub(crate) reported: Curve,
    /// The curve of another session.
    pub(crate) compared: Curve,
    pub(crate) windows: Vec<WindowRun>,
    /// The calls marked on the strip of cumulative tokens.
    pub(crate) hottest: Vec<usize>,
}

/// Properties of the session that do not depend on the view.
pub(crate) struct WholeSession {
    /// The stacked area, for the overview.
    pub(crate) bars: Vec<Bar>,
    /// Maximum of all curves.
    pub(crate) heaviest: Tokens,
    /// The largest window.
    window: Tokens,
    /// The kinds that occur.
    pub(crate) kinds: Vec<Kind>,
    /// Label of the lowest kind.
    pub(crate) lowest: &'static str,
    /// First call of each run of overflows, by lane.
    pub(crate) overflows: Vec<Vec<usize>>,
}

impl TimelineState {
    /// Keeps the view for the next frame. The view of the whole session grows with it.
    pub(crate) fn set_view(&mut self, view: View, end: f64) {
        self.view = Some(view).filter(|view| *view != View::whole(end));
    }

    /// Returns the current view, or the one before a drag of these parts that Esc just canceled.
    pub(crate) fn undo_cancelled_drag(
        &mut self,
        ctx: &Context,
        parts: [Id; 2],
        view: View,
        end: f64,
    ) -> View {
        let is_part = |id: Option<Id>| id.is_some_and(|id| parts.contains(&id));
        if is_part(ctx.drag_started_id()) {
            self.view_before_drag = self.view;
        }
        if is_part(drag::cancelled(ctx)) {
            return self.view_before_drag.unwrap_or(View::whole(end));
        }
        view
    }

    /// Returns the reduced samples. `data` is the [`fingerprint`] of the input.
    pub(crate) fn visible(
        &mut self,
        input: &TimelineInput<'_>,
        data: u64,
        columns: Columns,
    ) -> Arc<VisiblePart> {
        let compute = || VisiblePart::new(input, &columns);
        cached(&mut self.visible, (data, columns), compute)
    }

    /// Returns the properties of the session, for an overview with this number of pixel columns. `data` is the
    /// [`fingerprint`] of the input.
    pub(crate) fn session(
        &mut self,
        input: &TimelineInput<'_>,
        data: u64,
        columns: usize,
    ) -> Arc<WholeSession> {
        let compute = || WholeSession::new(input, columns);
        cached(&mut self.session, (data, columns), compute)
    }
}

impl VisiblePart {
    fn new(input: &TimelineInput<'_>, columns: &Columns) -> Self {
        let axis = CallAxis::new(input);
        let curve = |samples| reduce::curve(samples, axis, columns);
        let own_count =
            |samples: &[Sample]| reduce::curve_of(samples, |s| s.metered, axis, columns);
        let counting = input.counting().map(|lane| lane.samples);
        let apart = i64::try_from(columns.count / DOTS).unwrap_or(1);
        Self {
            bars: reduce::bars(input.area, axis, columns),
            lanes: input.lanes.iter().map(|lane| curve(lane.samples)).collect(),
            own_count: counting.map_or_else(Curve::new, own_count),
            compared: compared_curve::curve(input, axis, columns),
            reported: reduce::dots(input.recorded_usage, axis, columns, apart),
            windows: reduce::window_runs(input, axis, columns),
            hottest: reduce::hottest(input.heat, axis, columns),
        }
    }
}

impl WholeSession {
    fn new(input: &TimelineInput<'_>, n_columns: usize) -> Self {
        let axis = CallAxis::new(input);
        let lanes = || input.lanes.iter().map(|lane| lane.samples);
        let compared_window = input.compared_session.map(|other| other.window);
        let samples = if input.area.is_empty() {
            let longest = lanes().max_by_key(|samples| samples.len());
            longest.unwrap_or_default()
        } else {
            input.area
        };
        let occurs = |kind: &Kind| {
            let mut samples = input.area.iter();
            samples.any(|sample| sample.by_kind[kind.index()] > 0)
        };
        Self {
            bars: reduce::bars(samples, axis, &Columns::whole(axis, n_columns)),
            heaviest: input.heaviest(),
            window: input.windows.iter().copied().chain(compared_window).max().unwrap_or_default(),
            kinds: Kind::ALL.into_iter().filter(occurs).collect(),
            lowest: lowest_label(input),
            overflows: lanes().map(reduce::overflow_runs).collect(),
        }
    }

    /// Returns the top of the vertical axis: above the window if the curves come near it, else above the curves.
    pub(crate) fn top(&self) -> f64 {
        let (heaviest, window) = (self.heaviest.as_f64().max(100.0), self.window.as_f64());
        if window <= heaviest * 5.0 { heaviest.max(window) * 1.12 } else { heaviest * 1.6 }
    }
}

/// Returns the label of the lowest kind. Content before the first message may be recorded, known only by its size, or
/// both.
pub(crate) fn lowest_label(input: &TimelineInput<'_>) -> &'static str {
    let (mut is_any_unrecorded, mut is_any_recorded) = (false, false);
    for (call, sample) in input.area.iter().enumerate() {
        let system = Tokens::from(sample.by_kind[Kind::System.index()]);
        let unrecorded = (input.unrecorded)(call).min(system);
        is_any_unrecorded |= unrecorded > Tokens::ZERO;
        is_any_recorded |= system > unrecorded;
    }
    match (is_any_unrecorded, is_any_recorded) {
        (true, false) => wording::NOT_RECORDED,
        (true, true) => wording::PARTLY_NOT_RECORDED,
        _ => wording::kind(Kind::System),
    }
}

/// Returns a key of the data without reading it: revision, addresses and lengths.
pub(crate) fn fingerprint(input: &TimelineInput<'_>) -> u64 {
    let samples = |samples: &[Sample]| (samples.as_ptr() as usize, samples.len());
    let lanes = input.lanes.iter().map(|lane| samples(lane.samples));
    let mut hasher = DefaultHasher::new();
    (input.revision, input.axis, input.output_reserve).hash(&mut hasher);
    (samples(input.area), lanes.collect::<Vec<_>>()).hash(&mut hasher);
    (input.windows.as_ptr() as usize, input.windows.len()).hash(&mut hasher);
    (input.turn_starts.len(), input.recorded_usage.len()).hash(&mut hasher);
    (input.heat.as_ptr() as usize, input.heat.len()).hash(&mut hasher);
    let compared = input.compared_session.map(|other| {
        let contexts = other.contexts;
        (
            contexts.as_ptr() as usize,
            contexts.len(),
            (other.window, other.usable_window),
            other.is_by_share,
        )
    });
    compared.hash(&mut hasher);
    hasher.finish()
}
