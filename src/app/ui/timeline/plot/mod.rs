//! The timeline: tokens of the context at each call, with the thresholds.
//!
//! `input` defines what is shown. `state` reduces its samples to pixel columns with `reduce` and keeps the `view`. A
//! `chart` holds both for one frame. `egui_plot` draws the axes, the grid and the layers of the plot: `stack`, `lanes`,
//! `flags`, `thresholds`. Around it are `legend`, `cumulative`, `overview`, the handles of the thresholds and the `card`.

mod axis;
pub(crate) mod card;
mod chart;
mod compared;
pub mod compared_curve;
mod cumulative;
mod dashes;
mod flags;
mod input;
pub mod kept_zoom;
mod lanes;
mod layers;
mod legend;
mod overview;
mod range;
mod reduce;
mod stack;
mod state;
#[cfg(test)]
mod tests;
mod thresholds;
mod view;

pub use input::{
    CompactionFlag, ComparedCurve, LaneLine, ReferenceCurve, TimelineInput, TimelineResponse,
};

use crate::app::state::model::selection::CallRange;
use crate::app::ui::theme::palette;
use axis::CallAxis;
use chart::{Areas, Chart};
use egui::{Align2, Id, Response, Role, Sense, TextStyle, Ui, WidgetInfo, vec2};
use reduce::Columns;
use state::TimelineState;
use view::View;

/// Shows the timeline in the remaining space.
pub fn timeline(ui: &mut Ui, input: &TimelineInput<'_>) -> TimelineResponse {
    let id = ui.make_persistent_id("timeline");
    let size = ui.available_size().max(vec2(200.0, 160.0));
    let (outer, _) = ui.allocate_exact_size(size, Sense::hover());
    let palette = palette(ui);
    ui.painter().rect_filled(outer, 0.0, palette.background);
    if input.calls() == 0 {
        let font = TextStyle::Body.resolve(ui.style());
        ui.painter().text(
            outer.center(),
            Align2::CENTER_CENTER,
            "No model calls to show",
            font,
            palette.weak,
        );
        return TimelineResponse::default();
    }
    let mut state: TimelineState = ui.data_mut(|data| data.get_temp(id)).unwrap_or_default();
    let areas = Areas::new(outer, input);
    let plot = ui.interact(areas.plot, id.with("plot"), Sense::click_and_drag());
    let frame = FrameInput { id, input, areas, axis: CallAxis::new(input), plot: &plot };
    let mut out = TimelineResponse { corner: Some(areas.corner), ..TimelineResponse::default() };
    let mut chart = chart(ui, frame, &mut state, &mut out);
    out.hovered = chart.hovered;
    click(ui, &plot, &chart, &mut out);
    let dragged = range::interact(ui, &plot, &chart, &mut state.range_from, &mut out);
    chart.range = dragged.or(input.range);
    out.shown_range = chart.range.map(|shown| {
        let part = range::area(&chart, shown).unwrap_or(areas.plot);
        (shown, part.intersect(areas.plot))
    });
    layers::show(ui, &chart);
    out.kind = legend::show(ui, &chart);
    out.flag = flags::show(ui, &chart);
    overview::paint(ui, &chart);
    out.clicked_call = cumulative::show(ui, id, &chart).or(out.clicked_call);
    thresholds::show(ui, id, &chart, &mut state, &mut out);
    if menu(&plot, &chart, &mut state.menu_call, &mut out) {
        out.hovered = None;
    }
    if let Some(call) = out.hovered
        && shows_card(&chart, &state, call)
    {
        card::show(ui, id, &chart, call);
    }
    describe(ui, &plot, &chart, out.clicked_call);
    ui.data_mut(|data| data.insert_temp(id, state));
    out
}

/// Returns whether the card of the call under the pointer is shown.
fn shows_card(chart: &Chart<'_>, state: &TimelineState, call: usize) -> bool {
    // A drag leaves the pointer at an end of its range, where the card would cover the chip of the range.
    let is_end = |range: CallRange| [range.first, range.last].contains(&call);
    state.held_top.is_none() && !chart.range.is_some_and(is_end)
}

/// The inputs of one frame, before its view is known.
#[derive(Clone, Copy)]
struct FrameInput<'a> {
    id: Id,
    input: &'a TimelineInput<'a>,
    areas: Areas,
    axis: CallAxis<'a>,
    plot: &'a Response,
}

/// Applies the input to the view and reduces the samples to the columns of the view.
fn chart<'a>(
    ui: &Ui,
    frame: FrameInput<'a>,
    state: &mut TimelineState,
    out: &mut TimelineResponse,
) -> Chart<'a> {
    let FrameInput { input, areas, axis, plot, .. } = frame;
    let data = state::fingerprint(input);
    let width = areas.plot.width() * ui.ctx().pixels_per_point();
    let count = width.round().max(1.0) as usize;
    let session = state.session(input, data, count);
    let top = state.held_top.unwrap_or_else(|| session.top());
    let view = navigate(ui, frame, top, state, out);
    let transform = chart::transform(areas.plot, view, top);
    let columns = Columns {
        from: view.from,
        to: view.to,
        count,
        tolerance: transform.bounds().height() / f64::from(areas.plot.height()) * 0.5,
    };
    let mut chart = Chart {
        input,
        palette: palette(ui),
        areas,
        axis,
        session,
        visible: state.visible(input, data, columns),
        view,
        transform,
        last: axis.nearest(view.to),
        hovered: None,
        range: None,
        zoom_box: view::zoom_box(plot, state.zoom_from),
    };
    let pointer = plot.hover_pos().filter(|at| {
        let is_dragged = state.zoom_from.is_some() || state.range_from.is_some();
        areas.plot.contains(*at) && ui.rect_contains_pointer(areas.plot) && !is_dragged
    });
    chart.hovered = pointer.map(|at| chart.call_at(at));
    chart
}

/// Returns the view after input by pointer and keys, within the axes. Keys can also select calls. `top` is the top of the
/// vertical axis.
fn navigate(
    ui: &Ui,
    frame: FrameInput<'_>,
    top: f64,
    state: &mut TimelineState,
    out: &mut TimelineResponse,
) -> View {
    let FrameInput { id, input, areas, axis, plot } = frame;
    let end = axis.end();
    if let Some(view) = kept_zoom::take_requested(ui.ctx(), end) {
        state.selected = input.selected;
        state.set_view(view, end);
    }
    let view = state.view.unwrap_or(View::whole(end)).within(end, top);
    let transform = chart::transform(areas.plot, view, top);
    let mut view = view::gestures(ui, plot, &transform, axis, view, &mut state.zoom_from);
    view = overview::interact(ui, id, areas.overview, view, axis, state).unwrap_or(view);
    view = state.undo_cancelled_drag(ui.ctx(), [plot.id, id.with("overview")], view, end);
    let keys = view::keys(ui, plot, input, axis, view);
    (out.clicked_call, out.range) = (keys.call, keys.range);
    view = keys.view.unwrap_or(view);
    if let Some(range) = input.range.filter(|_| input.zooms_to_range) {
        view = view.of_calls(range, axis);
    }
    if input.selected != state.selected {
        state.selected = input.selected;
        let selected = input.selected.map(|call| axis.x(call));
        view = selected.map_or(view, |x| view.including(x, end));
    }
    view = view.within(end, top);
    state.set_view(view, end);
    kept_zoom::remember(ui.ctx(), state.view);
    view
}

/// Handles a click: selects the call, or compares it with the selected one while Ctrl is held.
fn click(ui: &Ui, plot: &Response, chart: &Chart<'_>, out: &mut TimelineResponse) {
    let Some(call) = chart.clicked_call(plot) else {
        return;
    };
    plot.request_focus();
    if ui.input(|input| input.modifiers.command) {
        out.compared = Some(call);
    } else {
        out.clicked_call = Some(call);
        let range = chart.input.range;
        out.clears_range = range.is_some_and(|range| !range.contains(call));
    }
}

/// Shows the context menu of a call and stores the call in `menu_call`. Returns whether the menu is open.
fn menu(
    plot: &Response,
    chart: &Chart<'_>,
    menu_call: &mut usize,
    out: &mut TimelineResponse,
) -> bool {
    if plot.secondary_clicked() {
        *menu_call = chart.hovered.unwrap_or(*menu_call);
    }
    let (call, number) = (*menu_call, *menu_call + 1);
    let is_marked = chart.input.restarts.binary_search(&call).is_ok();
    let shown = plot.context_menu(|ui| {
        if ui.button(format!("Select call {number}")).clicked() {
            out.clicked_call = Some(call);
        }
        if ui
            .button(format!("Compare call {number} with the selected call"))
            .on_hover_text("Shows the difference of their contexts (Ctrl+click)")
            .clicked()
        {
            out.compared = Some(call);
        }
        if ui.button(format!("Copy call {number}")).clicked() {
            out.copied = Some(call);
        }
        let name = if is_marked {
            format!("Remove the restart mark before call {number}")
        } else {
            format!("Mark a restart before call {number}")
        };
        let help =
            "Assumes a restart of the agent's program before this call (R at the selected call)";
        if ui.button(name).on_hover_text(help).clicked() {
            out.restart = Some(call);
        }
    });
    shown.is_some()
}

/// Sets the accessible name of the plot, and the selected call as its value.
fn describe(ui: &Ui, plot: &Response, chart: &Chart<'_>, clicked: Option<usize>) {
    plot.widget_info(|| WidgetInfo::labeled(Role::Canvas, ui.is_enabled(), "timeline"));
    let call = clicked.or(chart.input.selected);
    let value = call.map_or_else(String::new, |call| card::title(chart, call));
    ui.ctx().accesskit_node_builder(plot.id, |node| node.set_value(value));
}
