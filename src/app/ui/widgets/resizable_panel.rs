//! A resizable panel that shrinks in a small window and returns to the size chosen by the user when there is enough
//! space.

use crate::app::ui::widgets;
use crate::app::ui::widgets::{drag, slider};
use egui::{Context, CursorIcon, Frame, Id, Panel, Pos2, Rangef, Rect, Sense, Ui, UiBuilder};
use std::collections::BTreeMap;

/// A resizable panel.
pub(crate) struct ResizablePanel {
    /// Unique name of the panel.
    pub(crate) name: &'static str,
    /// Side of the window.
    pub(crate) side: Side,
    /// Initial size, in points.
    pub(crate) usual: f32,
    /// Minimum and maximum size, in points.
    pub(crate) range: Rangef,
    /// Background and margins.
    pub(crate) frame: Frame,
}

/// Side at which a panel is placed. Selects its resizable dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Bottom, with a resizable height.
    Bottom,
    /// Left, with a resizable width.
    Left,
    /// Right, with a resizable width.
    Right,
}

/// The draggable edge of a panel.
pub(crate) struct Edge {
    id: Id,
    side: Side,
    range: Rangef,
    panel: Rect,
}

/// Names of the panels whose sizes a workspace keeps.
const KEPT: [&str; 4] = ["settings", "drawer", "lanes", "detail"];

fn edge_id(name: &str) -> Id {
    Id::unique((name, "edge"))
}

/// Returns the sizes that the user chose, by panel.
pub(crate) fn chosen_sizes(ctx: &Context) -> BTreeMap<String, f32> {
    let size = |name: &str| ctx.data(|data| data.get_temp(edge_id(name)));
    let sizes = KEPT.iter();
    let sizes = sizes.filter_map(|name| Some(((*name).to_owned(), size(name)?)));
    sizes.collect()
}

/// Sets the sizes of panels; others get their usual size.
pub(crate) fn set_sizes(ctx: &Context, sizes: &BTreeMap<String, f32>) {
    for name in KEPT {
        let size = sizes.get(name).filter(|size| size.is_finite());
        ctx.data_mut(|data| match size {
            Some(size) => drop(data.insert_temp(edge_id(name), *size)),
            None => data.remove::<f32>(edge_id(name)),
        });
    }
}

impl ResizablePanel {
    /// Returns the panel's height or width before it is placed, in points.
    pub(crate) fn extent(&self, ui: &Ui) -> f32 {
        let id = edge_id(self.name);
        let chosen: Option<f32> = ui.data(|data| data.get_temp(id));
        self.range.clamp(chosen.unwrap_or(self.usual))
    }

    /// Allocates the panel next to the panels placed before. Returns the `Ui` of its content and its edge. The content
    /// can be shown later, because keyboard focus follows the order in which panels are shown.
    pub(crate) fn place(self, ui: &mut Ui) -> (Ui, Edge) {
        let (id, extent) = (edge_id(self.name), self.extent(ui));
        let panel = match self.side {
            Side::Bottom => Panel::bottom(self.name),
            Side::Left => Panel::left(self.name),
            Side::Right => Panel::right(self.name),
        };
        let panel = panel.resizable(false).exact_size(extent).frame(self.frame);
        let shown = panel.show(ui, |ui| {
            let rect = ui.available_rect_before_wrap();
            ui.advance_cursor_after_rect(rect);
            ui.new_child(UiBuilder::new().max_rect(rect))
        });
        let edge = Edge { id, side: self.side, range: self.range, panel: shown.response.rect };
        (shown.inner, edge)
    }
}

impl Edge {
    /// Shows the rest of the area beside a panel whose content is shown, and makes the edge draggable.
    pub(crate) fn beside<R>(self, ui: &mut Ui, rest: impl FnOnce(&mut Ui) -> R) -> R {
        let clip = widgets::clip_to_rest(ui);
        let shown = rest(ui);
        ui.set_clip_rect(clip);
        self.show(ui);
        shown
    }

    /// Makes the edge draggable. Must be called after the content on both sides, which would take the pointer
    /// otherwise.
    pub(crate) fn show(self, ui: &Ui) {
        let reach = ui.style().interaction.resize_grab_radius_side;
        let (extent, grip, icon) = match self.side {
            Side::Bottom => (
                self.panel.height(),
                self.panel.with_max_y(self.panel.top()),
                CursorIcon::ResizeVertical,
            ),
            Side::Left => (
                self.panel.width(),
                self.panel.with_min_x(self.panel.right()),
                CursorIcon::ResizeHorizontal,
            ),
            Side::Right => (
                self.panel.width(),
                self.panel.with_max_x(self.panel.left()),
                CursorIcon::ResizeHorizontal,
            ),
        };
        let response = ui.interact(grip.expand(reach), self.id, Sense::DRAG);
        let range = f64::from(self.range.min)..=f64::from(self.range.max);
        let requested =
            slider::requested_value(ui, &response, "Resize panel", extent.into(), &range, 20.0);
        let mut chosen = requested.map(|extent| extent as f32);
        let before = self.id.with("before");
        if response.drag_started() {
            ui.data_mut(|data| data.insert_temp(before, extent));
        }
        if response.dragged()
            && let Some(pointer) = response.interact_pointer_pos()
        {
            chosen = Some(self.range.clamp(self.extent_at(pointer)));
        }
        if drag::cancelled(ui.ctx()) == Some(self.id) {
            chosen = ui.data(|data| data.get_temp(before));
        }
        if let Some(chosen) = chosen.filter(|chosen| (chosen - extent).abs() > 0.5) {
            ui.data_mut(|data| data.insert_temp(self.id, chosen));
            ui.ctx().request_repaint();
        }
        if response.hovered() || response.dragged() {
            let visuals = ui.style().interact(&response);
            ui.painter().rect_filled(grip.expand(0.5), 0.0, visuals.fg_stroke.color);
        }
        response.on_hover_and_drag_cursor(icon);
    }

    /// Returns the panel's size with its edge at the pointer, in points.
    fn extent_at(&self, pointer: Pos2) -> f32 {
        match self.side {
            Side::Bottom => self.panel.bottom() - pointer.y,
            Side::Left => pointer.x - self.panel.left(),
            Side::Right => self.panel.right() - pointer.x,
        }
    }
}
