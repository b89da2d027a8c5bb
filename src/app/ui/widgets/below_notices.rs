//! Room for buttons that notices must not cover.

use egui::{Id, Rect, Ui};

/// Notes the place of the buttons at the lower right of this frame, so that notices do not cover them.
pub(crate) fn keep_clear(ui: &Ui, buttons: Rect) {
    ui.data_mut(|data| data.insert_temp(foot_id(), Some(buttons)));
}

pub(crate) fn foot_id() -> Id {
    Id::unique("buttons below notices")
}

/// Returns the height of the buttons at the bottom of the window; 0 without buttons there.
pub(crate) fn foot(ui: &Ui) -> f32 {
    let buttons = ui.data_mut(|data| data.remove_temp::<Option<Rect>>(foot_id()));
    let bottom = ui.ctx().content_rect().bottom();
    let buttons = buttons.flatten().filter(|buttons| bottom - buttons.bottom() < LOW);
    buttons.map_or(0.0, |buttons| bottom - buttons.top())
}

/// Distance from the bottom of the window below which buttons are kept clear, in points.
pub(crate) const LOW: f32 = 40.0;
