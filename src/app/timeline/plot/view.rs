//! The visible part of the session, and the input that changes it.

use super::layout::Steps;
use egui::{EventFilter, Key, Modifiers, Response, Ui, Vec2};
use egui_plot::PlotTransform;

/// A range of the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl View {
    /// Returns the whole axis.
    pub(super) fn whole(end: f64) -> Self {
        Self { from: 0.0, to: end }
    }

    fn span(self) -> f64 {
        self.to - self.from
    }

    /// Returns the view scaled by `factor` around the fixed position `about`.
    pub(super) fn zoomed(self, about: f64, factor: f64, steps: Steps<'_>) -> Self {
        let end = steps.end();
        let span = (self.span() / factor).clamp(steps.least(), end);
        let from = about - (about - self.from) * span / self.span();
        Self {
            from,
            to: from + span,
        }
        .within(end)
    }

    /// Returns the view moved by a distance.
    pub(super) fn moved(self, by: f64, end: f64) -> Self {
        Self {
            from: self.from + by,
            to: self.to + by,
        }
        .within(end)
    }

    /// Returns the nearest view within the axis.
    pub(super) fn within(self, end: f64) -> Self {
        let span = self.span().min(end);
        let from = self.from.clamp(0.0, (end - span).max(0.0));
        Self {
            from,
            to: from + span,
        }
    }

    /// Returns the view moved as little as needed to include a position.
    pub(super) fn showing(self, x: f64, end: f64) -> Self {
        let margin = self.span() * 0.1;
        if x < self.from {
            self.moved(x - self.from - margin, end)
        } else if x > self.to {
            self.moved(x - self.to + margin, end)
        } else {
            self
        }
    }
}

/// Applies mouse and wheel input over the plot.
pub(super) fn gestures(
    ui: &Ui,
    plot: &Response,
    transform: &PlotTransform,
    view: View,
    steps: Steps<'_>,
) -> View {
    let mut view = view;
    let end = steps.end();
    let per_point = transform.dvalue_dpos()[0];
    if plot.dragged() {
        view = view.moved(-f64::from(plot.drag_delta().x) * per_point, end);
    }
    if plot.double_clicked() {
        view = View::whole(end);
    }
    // Also over the handle of a threshold, which handles presses but not the wheel.
    let Some(pointer) = ui
        .input(|input| input.pointer.hover_pos())
        .filter(|_| ui.rect_contains_pointer(plot.rect))
    else {
        return view;
    };
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta, input.zoom_delta()));
    let factor = f64::from(pinch) * (f64::from(scroll.y) / 240.0).exp();
    if (factor - 1.0).abs() > 1e-6 {
        view = view.zoomed(transform.value_from_position(pointer).x, factor, steps);
    }
    if scroll.x != 0.0 {
        view = view.moved(-f64::from(scroll.x) * per_point, end);
    }
    if scroll != Vec2::ZERO {
        ui.input_mut(|input| input.smooth_scroll_delta = Vec2::ZERO);
    }
    view
}

/// Result of key input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keys {
    /// The call to select.
    pub(super) step: Option<usize>,
    /// The new view.
    pub(super) view: Option<View>,
}

/// Reads and consumes the keys of the timeline.
pub(super) fn keys(
    ui: &Ui,
    plot: &Response,
    takes_keys: bool,
    steps: Steps<'_>,
    view: View,
    (selected, last): (Option<usize>, usize),
) -> Keys {
    if plot.has_focus() {
        let filter = EventFilter {
            horizontal_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(plot.id, filter));
    } else if !takes_keys {
        return Keys::default();
    }
    let pressed =
        |modifiers: Modifiers, key: Key| ui.input_mut(|input| input.consume_key(modifiers, key));
    let here = selected.unwrap_or_else(|| steps.nearest(view.from));
    let mut out = Keys::default();
    for (modifiers, by) in [(Modifiers::SHIFT, 10), (Modifiers::NONE, 1)] {
        if pressed(modifiers, Key::ArrowLeft) {
            out.step = Some(here.saturating_sub(by));
        }
        if pressed(modifiers, Key::ArrowRight) {
            out.step = Some((here + by).min(last));
        }
    }
    if pressed(Modifiers::NONE, Key::Home) {
        out.step = Some(0);
    }
    if pressed(Modifiers::NONE, Key::End) {
        out.step = Some(last);
    }
    let end = steps.end();
    let (middle, far) = (f64::midpoint(view.from, view.to), view.span() * 0.2);
    let about = selected
        .map(|step| steps.x(step))
        .filter(|x| (view.from..=view.to).contains(x));
    let moves = [
        (Key::W, view.zoomed(about.unwrap_or(middle), 1.4, steps)),
        (
            Key::S,
            view.zoomed(about.unwrap_or(middle), 1.0 / 1.4, steps),
        ),
        (Key::A, view.moved(-far, end)),
        (Key::D, view.moved(far, end)),
        (Key::F, View::whole(end)),
    ];
    for (key, to) in moves {
        if pressed(Modifiers::NONE, key) {
            out.view = Some(to);
        }
    }
    out
}
