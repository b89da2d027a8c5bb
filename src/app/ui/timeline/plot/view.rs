//! The visible part of the session, and the input that changes it.

use crate::app::state::model::selection::{CallRange, ExtendedRange};
use crate::app::ui::timeline::plot::axis::CallAxis;
use crate::app::ui::timeline::plot::input::TimelineInput;
use crate::app::ui::widgets::drag;
use egui::{
    CursorIcon, EventFilter, Key, Modifiers, PointerButton, Pos2, Rect, Response, Ui, Vec2,
};
use egui_plot::PlotTransform;

/// Shorter sides of a zoom box do not zoom their axis.
const MIN_SIDE: f32 = 16.0;

/// The visible ranges of both axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// The visible tokens; `None` from 0 to a top that fits the curves.
    pub(crate) tokens: Option<[f64; 2]>,
}

impl View {
    /// Returns the view of the whole session.
    pub(crate) fn whole(end: f64) -> Self {
        Self { from: 0.0, to: end, tokens: None }
    }

    fn span(self) -> f64 {
        self.to - self.from
    }

    /// Returns the view scaled by `factor` around the fixed position `about`.
    pub(crate) fn zoomed(self, about: f64, factor: f64, axis: CallAxis<'_>) -> Self {
        let span = (self.span() / factor).clamp(axis.min_span(), axis.end());
        let from = about - (about - self.from) * span / self.span();
        self.showing(from, from + span, axis.end())
    }

    /// Returns the view moved by a distance.
    pub(crate) fn moved(self, by: f64, end: f64) -> Self {
        self.showing(self.from + by, self.to + by, end)
    }

    /// Returns the view with another range, moved into the axis.
    pub(crate) fn showing(self, from: f64, to: f64, end: f64) -> Self {
        let span = (to - from).min(end);
        let from = from.clamp(0.0, (end - span).max(0.0));
        Self { from, to: from + span, ..self }
    }

    /// Returns the nearest view within the axes. `top` is the top of the vertical axis.
    pub(crate) fn within(self, end: f64, top: f64) -> Self {
        let tokens = self.tokens.map(|[bottom, to]| {
            let span = (to - bottom).min(top);
            let bottom = bottom.clamp(0.0, top - span);
            [bottom, bottom + span]
        });
        Self { tokens, ..self.showing(self.from, self.to, end) }
    }

    /// Returns the view moved as little as needed to include a position.
    pub(crate) fn including(self, x: f64, end: f64) -> Self {
        let margin = self.span() * 0.1;
        if x < self.from {
            self.moved(x - self.from - margin, end)
        } else if x > self.to {
            self.moved(x - self.to + margin, end)
        } else {
            self
        }
    }

    /// Returns the view of these calls with some space around them.
    pub(crate) fn of_calls(self, range: CallRange, axis: CallAxis<'_>) -> Self {
        let (from, to) = (axis.x(range.first), axis.x(range.last));
        let span = ((to - from) * 1.1).max(axis.min_span());
        let from = f64::midpoint(from, to) - span / 2.0;
        self.showing(from, from + span, axis.end())
    }

    /// Returns the view of a part of the plot.
    fn zoomed_to(self, part: Rect, transform: &PlotTransform, axis: CallAxis<'_>) -> Self {
        let plot = transform.frame();
        let (first, last) = (
            transform.value_from_position(part.left_bottom()),
            transform.value_from_position(part.right_top()),
        );
        let span = (last.x - first.x).max(axis.min_span());
        let from = f64::midpoint(first.x, last.x) - span / 2.0;
        let view = self.showing(from, from + span, axis.end());
        if part.height() < plot.height() {
            let tokens = Some([first.y.max(0.0), last.y]);
            Self { tokens, ..view }
        } else {
            view
        }
    }
}

/// Returns the view after the wheel and drags over the plot. Drags with the primary button change it only while Space is
/// held. `zoom_from` keeps the corner of a zoom box during its drag.
pub(crate) fn gestures(
    ui: &Ui,
    plot: &Response,
    transform: &PlotTransform,
    axis: CallAxis<'_>,
    mut view: View,
    zoom_from: &mut Option<Pos2>,
) -> View {
    let per_point = transform.dvalue_dpos();
    let is_pan_key = ui.input(|input| input.key_down(Key::Space));
    if is_pan_key && plot.contains_pointer() {
        ui.ctx().set_cursor_icon(CursorIcon::Grab);
    }
    if plot.dragged_by(PointerButton::Middle)
        || is_pan_key && plot.dragged_by(PointerButton::Primary)
    {
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        let by = -plot.drag_delta();
        view = view.moved(f64::from(by.x) * per_point[0], axis.end());
        if let Some([bottom, top]) = &mut view.tokens {
            let by = f64::from(by.y) * per_point[1];
            *bottom += by;
            *top += by;
        }
    }
    if plot.drag_started_by(PointerButton::Secondary) {
        *zoom_from = ui.input(|input| input.pointer.press_origin());
    }
    if plot.drag_stopped()
        && let Some(part) = zoom_box(plot, zoom_from.take())
        && drag::cancelled(ui.ctx()).is_none()
    {
        view = view.zoomed_to(part, transform, axis);
    }
    if plot.double_clicked() {
        view = View::whole(axis.end());
    }
    wheel(ui, plot, transform, axis, view)
}

/// Returns the part of the plot in a zoom box: the full height or width if the box is low or narrow.
pub(crate) fn zoom_box(plot: &Response, from: Option<Pos2>) -> Option<Rect> {
    let (from, to) = (from?, plot.interact_pointer_pos()?);
    let part = Rect::from_two_pos(from, to).intersect(plot.rect);
    let (is_wide, is_high) = (part.width() >= MIN_SIDE, part.height() >= MIN_SIDE);
    let x = if is_wide { part } else { plot.rect }.x_range();
    let y = if is_high { part } else { plot.rect }.y_range();
    (is_wide || is_high).then(|| Rect::from_x_y_ranges(x, y))
}

/// Applies the wheel: zooms around the pointer, and moves sideways.
fn wheel(
    ui: &Ui,
    plot: &Response,
    transform: &PlotTransform,
    axis: CallAxis<'_>,
    mut view: View,
) -> View {
    // Also over the handle of a threshold, which handles presses but not the wheel.
    let Some(pointer) =
        ui.input(|input| input.pointer.hover_pos()).filter(|_| ui.rect_contains_pointer(plot.rect))
    else {
        return view;
    };
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta, input.zoom_delta()));
    let factor = f64::from(pinch) * (f64::from(scroll.y) / 240.0).exp();
    if (factor - 1.0).abs() > 1e-6 {
        view = view.zoomed(transform.value_from_position(pointer).x, factor, axis);
    }
    if scroll.x != 0.0 {
        let by = -f64::from(scroll.x) * transform.dvalue_dpos()[0];
        view = view.moved(by, axis.end());
    }
    if scroll != Vec2::ZERO {
        ui.input_mut(|input| input.smooth_scroll_delta = Vec2::ZERO);
    }
    view
}

/// Result of keys.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyInput {
    /// The call to select.
    pub(crate) call: Option<usize>,
    /// The calls to select.
    pub(crate) range: Option<CallRange>,
    /// The new view.
    pub(crate) view: Option<View>,
}

/// Reads and consumes the keys of the timeline.
pub(crate) fn keys(
    ui: &Ui,
    plot: &Response,
    input: &TimelineInput<'_>,
    axis: CallAxis<'_>,
    view: View,
) -> KeyInput {
    let (selected, range, last) = (input.selected, input.range, input.calls() - 1);
    if plot.has_focus() {
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(plot.id, filter));
    } else if !input.takes_keys {
        return KeyInput::default();
    }
    let pressed =
        |modifiers: Modifiers, key: Key| ui.input_mut(|input| input.consume_key(modifiers, key));
    let current = selected.unwrap_or_else(|| axis.nearest(view.from));
    let mut out = KeyInput::default();
    for (key, by) in [(Key::ArrowLeft, -1), (Key::ArrowRight, 1)] {
        if pressed(Modifiers::SHIFT, key) {
            let extended = ExtendedRange::new(range, current, by, last);
            (out.range, out.call) = (Some(extended.calls), Some(extended.moved_to));
        }
    }
    for (modifiers, by) in [(Modifiers::COMMAND, 10), (Modifiers::NONE, 1)] {
        if pressed(modifiers, Key::ArrowLeft) {
            out.call = Some(current.saturating_sub(by));
        }
        if pressed(modifiers, Key::ArrowRight) {
            out.call = Some((current + by).min(last));
        }
    }
    if pressed(Modifiers::NONE, Key::Home) {
        out.call = Some(0);
    }
    if pressed(Modifiers::NONE, Key::End) {
        out.call = Some(last);
    }
    let end = axis.end();
    let (middle, far) = (f64::midpoint(view.from, view.to), view.span() * 0.2);
    let selected = selected.map(|call| axis.x(call));
    let about = selected.filter(|x| (view.from..=view.to).contains(x));
    let about = about.unwrap_or(middle);
    let views = [
        (Key::W, view.zoomed(about, 1.4, axis)),
        (Key::S, view.zoomed(about, 1.0 / 1.4, axis)),
        (Key::A, view.moved(-far, end)),
        (Key::D, view.moved(far, end)),
        (Key::F, View::whole(end)),
    ];
    if let Some(range) = range.filter(|_| pressed(Modifiers::NONE, Key::Z)) {
        out.view = Some(view.of_calls(range, axis));
    }
    for (key, view) in views {
        if pressed(Modifiers::NONE, key) {
            out.view = Some(view);
        }
    }
    out
}
