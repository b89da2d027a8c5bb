//! A panel with an extent that a person chooses: it gives way in a small window and is as large as it was chosen once there
//! is room again.

use egui::containers::panel::PanelState;
use egui::{Color32, Frame, Panel, Rangef, Ui};

/// A panel as it is shown.
pub(super) struct RoomyPanel {
    /// What tells it from others.
    pub(super) name: &'static str,
    /// Where it stands.
    pub(super) side: Side,
    /// How large it is until it is dragged.
    pub(super) usual: f32,
    /// What there is room for.
    pub(super) range: Rangef,
    /// Its ground.
    pub(super) fill: Color32,
}

/// Where a panel stands, which says what of it can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// At the foot: its height.
    Bottom,
    /// At the right: its width.
    Right,
}

impl RoomyPanel {
    /// Shows it before those that were shown before.
    pub(super) fn show(self, ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
        let id = ui.scope_id().with(self.name);
        let key = id.with("chosen");
        let chosen: Option<f32> = ui.data(|data| data.get_temp(key));
        let extent = self.range.clamp(chosen.unwrap_or(self.usual));
        // The panel itself only knows how large it was the last time, squeezed or not.
        if let Some(mut state) = PanelState::load(ui.ctx(), id) {
            let rect = &mut state.outer_rect;
            match self.side {
                Side::Bottom => rect.set_top(rect.bottom() - extent),
                Side::Right => rect.set_left(rect.right() - extent),
            }
            ui.data_mut(|data| data.insert_persisted(id, state));
        }
        let panel = match self.side {
            Side::Bottom => Panel::bottom(self.name),
            Side::Right => Panel::right(self.name),
        };
        let panel = panel
            .resizable(true)
            .default_size(extent)
            .size_range(self.range)
            .frame(Frame::new().fill(self.fill));
        let shown = panel.show(ui, content).response.rect;
        let shown = match self.side {
            Side::Bottom => shown.height(),
            Side::Right => shown.width(),
        };
        let is_dragged = ui.input(|i| i.pointer.any_down() || i.pointer.any_released());
        if is_dragged && (shown - extent).abs() > 1.0 {
            ui.data_mut(|data| data.insert_temp(key, shown));
        }
    }
}
