//! A panel at the foot of the window with a height that a person chooses: it gives way in a small window and is as high as
//! it was chosen once there is room again.

use egui::containers::panel::PanelState;
use egui::{Color32, Frame, Panel, Rangef, Ui};

/// A panel as it is shown.
pub(super) struct LowerPanel {
    /// What tells it from others.
    pub(super) name: &'static str,
    /// Its height until it is dragged.
    pub(super) usual: f32,
    /// What there is room for.
    pub(super) range: Rangef,
    /// Its ground.
    pub(super) fill: Color32,
}

impl LowerPanel {
    /// Shows it above those that were shown before.
    pub(super) fn show(self, ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
        let id = ui.scope_id().with(self.name);
        let key = id.with("chosen height");
        let chosen: Option<f32> = ui.data(|data| data.get_temp(key));
        let height = self.range.clamp(chosen.unwrap_or(self.usual));
        // The panel itself only knows how high it was the last time, squeezed or not.
        if let Some(mut state) = PanelState::load(ui.ctx(), id) {
            let top = state.outer_rect.bottom() - height;
            state.outer_rect.set_top(top);
            ui.data_mut(|data| data.insert_persisted(id, state));
        }
        let panel = Panel::bottom(self.name)
            .resizable(true)
            .default_size(height)
            .size_range(self.range)
            .frame(Frame::new().fill(self.fill));
        let shown = panel.show(ui, content).response.rect.height();
        let is_dragged = ui.input(|i| i.pointer.any_down() || i.pointer.any_released());
        if is_dragged && (shown - height).abs() > 1.0 {
            ui.data_mut(|data| data.insert_temp(key, shown));
        }
    }
}
