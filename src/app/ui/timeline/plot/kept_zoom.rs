//! Access to the zoom of the timeline from outside of it, to save it in a workspace and restore it.

use crate::app::ui::timeline::plot::view::View;
use egui::{Context, Id};

/// The visible range of the axis; `None` for the whole session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct KeptZoom(Option<[f64; 2]>);

fn shown_id() -> Id {
    Id::unique("shown zoom of the timeline")
}

fn requested_id() -> Id {
    Id::unique("requested zoom of the timeline")
}

/// Returns the visible range of the axis; `None` for the whole session.
pub fn zoom(ctx: &Context) -> Option<[f64; 2]> {
    ctx.data(|data| data.get_temp::<KeptZoom>(shown_id()).unwrap_or_default().0)
}

/// Shows this range of the axis from the next frame on.
pub fn request_zoom(ctx: &Context, range: Option<[f64; 2]>) {
    let zoom = KeptZoom(range.filter(|[from, to]| *from >= 0.0 && from < to && to.is_finite()));
    ctx.data_mut(|data| {
        data.insert_temp(shown_id(), zoom);
        data.insert_temp(requested_id(), zoom);
    });
}

/// Returns the view with the requested range, if a range was requested.
pub(crate) fn take_requested(ctx: &Context, end: f64) -> Option<View> {
    let requested = ctx.data_mut(|data| data.remove_temp::<KeptZoom>(requested_id()))?;
    let whole = View::whole(end);
    Some(match requested.0 {
        Some([from, to]) => whole.showing(from, to, end),
        None => whole,
    })
}

/// Remembers the view of this frame.
pub(crate) fn remember(ctx: &Context, view: Option<View>) {
    let zoom = KeptZoom(view.map(|view| [view.from, view.to]));
    ctx.data_mut(|data| data.insert_temp(shown_id(), zoom));
}
