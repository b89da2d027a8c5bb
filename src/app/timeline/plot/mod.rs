//! The timeline: fill of the context at each call, with the thresholds.
//!
//! `model` defines the input. `columns` and `layout` compute positions, independent of the UI. `view` selects the
//! visible part. `paint`, `marks`, `flags`, `card`, `handles` and `overview` draw it. `egui_plot` transforms between
//! calls and pixels.

mod card;
mod columns;
mod flags;
mod handles;
mod heat;
mod layout;
mod legend;
mod marks;
mod model;
mod overview;
mod paint;
mod scene;
#[cfg(test)]
mod tests;
mod view;

pub(in crate::app) use layout::ticks;
pub use model::{Axis, Ghost, LaneLine, TimelineInput, TimelineResponse};

use crate::app::theme::palette;
use egui::{Align2, Id, Role, Sense, TextStyle, Ui, WidgetInfo, vec2};
use layout::{Grid, Steps};
use scene::{Areas, Curves, Memory, Scene};
use view::View;

/// Draws the timeline in the remaining space.
pub fn timeline(ui: &mut Ui, input: &TimelineInput<'_>) -> TimelineResponse {
    let id = ui.make_persistent_id("timeline");
    let size = ui.available_size().max(vec2(200.0, 160.0));
    let (outer, _) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(outer, 0.0, palette(ui).background);
    if input.steps() == 0 {
        let font = TextStyle::Body.resolve(ui.style());
        ui.painter().text(
            outer.center(),
            Align2::CENTER_CENTER,
            "No model calls to show",
            font,
            palette(ui).weak,
        );
        return TimelineResponse::default();
    }
    let mut memory: Memory = ui.data_mut(|data| data.get_temp(id)).unwrap_or_default();
    let areas = Areas::of(outer, input);
    let out = show(ui, id, input, areas, &mut memory);
    ui.data_mut(|data| data.insert_temp(id, memory));
    out
}

fn show(
    ui: &Ui,
    id: Id,
    input: &TimelineInput<'_>,
    areas: Areas,
    memory: &mut Memory,
) -> TimelineResponse {
    let steps = Steps::new(input);
    let end = steps.end();
    let mut out = TimelineResponse {
        corner: Some(areas.corner),
        ..TimelineResponse::default()
    };
    let plot = ui.interact(areas.plot, id.with("plot"), Sense::click_and_drag());
    let data = scene::fingerprint(input);
    let columns = (areas.plot.width() * ui.ctx().pixels_per_point())
        .round()
        .max(1.0) as usize;
    let whole = memory.whole(input, data, columns);
    let top = memory
        .top
        .unwrap_or_else(|| layout::ceiling(whole.heaviest, whole.window));
    let mut view = memory.view.unwrap_or(View::whole(end)).within(end);
    view = view::gestures(
        ui,
        &plot,
        &scene::transform(areas.plot, view, top),
        view,
        steps,
    );
    view = overview::interact(ui, id, areas.overview, view, steps, memory).unwrap_or(view);
    view = memory.dragged(ui.ctx(), [plot.id, id.with("overview")], view, end);
    let keys = view::keys(
        ui,
        &plot,
        input.takes_keys,
        steps,
        view,
        (input.selected, input.steps() - 1),
    );
    view = keys.view.unwrap_or(view);
    out.clicked_step = keys.step;
    if input.selected != memory.selected {
        memory.selected = input.selected;
        view = input
            .selected
            .map_or(view, |step| view.showing(steps.x(step), end));
    }
    memory.view = Some(view).filter(|view| *view != View::whole(end));
    let transform = scene::transform(areas.plot, view, top);
    let last = steps.nearest(view.to);
    let scene = Scene {
        input,
        palette: palette(ui),
        areas,
        steps,
        whole,
        view,
        transform,
        last,
    };
    let pointer = plot
        .hover_pos()
        .filter(|at| areas.plot.contains(*at) && ui.rect_contains_pointer(areas.plot));
    out.hovered = pointer.map(|at| scene.step_at(at));
    if plot.clicked() {
        plot.request_focus();
        out.clicked_step = plot
            .interact_pointer_pos()
            .map(|at| scene.step_at(at))
            .or(out.clicked_step);
    }
    let tolerance = top / f64::from(areas.plot.height()) * 0.5;
    let grid = Grid {
        from: view.from,
        to: view.to,
        columns,
        tolerance,
    };
    let curves = memory.curves(input, data, grid);
    if plot.secondary_clicked()
        && let Some(at) = pointer
    {
        memory.menu = scene.step_at(at);
    }
    let has_menu = menu(&plot, input, memory.menu, &mut out);
    out.hovered = out.hovered.filter(|_| !has_menu);
    paint(ui, id, &scene, &curves, memory, &mut out);
    name(ui, &plot, &scene, &out);
    out
}

fn paint(
    ui: &Ui,
    id: Id,
    scene: &Scene<'_>,
    curves: &Curves,
    memory: &mut Memory,
    out: &mut TimelineResponse,
) {
    paint::ground(ui, scene, curves);
    paint::axes(ui, scene);
    legend::legend(ui, scene);
    handles::paint_lines(ui, scene, &curves.windows);
    flags::flags(ui, scene);
    flags::placed(ui, scene);
    marks::lanes(ui, scene, curves);
    marks::ghosts(ui, scene);
    flags::cursors(ui, scene, out.hovered);
    overview::paint(ui, scene);
    out.clicked_step = heat::show(ui, id, scene, &curves.hot).or(out.clicked_step);
    handles::show(ui, id, scene, memory, out);
    if let Some(step) = out.hovered.filter(|_| memory.top.is_none()) {
        card::card(ui, id, scene, step);
    }
}

/// Shows the context menu of a call. Returns whether it is open.
fn menu(
    plot: &egui::Response,
    input: &TimelineInput<'_>,
    step: usize,
    out: &mut TimelineResponse,
) -> bool {
    let is_marked = input.restarts.binary_search(&step).is_ok();
    let shown = plot.context_menu(|ui| {
        let call = step + 1;
        if ui.button(format!("Look at call {call}")).clicked() {
            out.clicked_step = Some(step);
        }
        let name = if is_marked {
            format!("Remove the restart mark before call {call}")
        } else {
            format!("Mark a restart before call {call}")
        };
        let help =
            "Assumes a restart of the agent's program before this call (R at the selected call)";
        if ui.button(name).on_hover_text(help).clicked() {
            out.restart = Some(step);
        }
    });
    shown.is_some()
}

/// Tells assistive tools what this is and where it stands.
fn name(ui: &Ui, plot: &egui::Response, scene: &Scene<'_>, out: &TimelineResponse) {
    plot.widget_info(|| WidgetInfo::labeled(Role::Canvas, ui.is_enabled(), "timeline"));
    let step = out.clicked_step.or(scene.input.selected);
    let value = step.map_or_else(String::new, |step| card::title(scene, step));
    ui.ctx()
        .accesskit_node_builder(plot.id, |node| node.set_value(value));
}
