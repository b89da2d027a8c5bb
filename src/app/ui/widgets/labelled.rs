//! A form line: a label and its control.

use crate::app::ui::theme::{palette, space};
use egui::{Align, Id, Layout, RichText, Ui, vec2};

/// Shows a label in `width` points, and its control at a distance of `gap` points. The label aligns with the first line.
pub fn labelled<R>(
    ui: &mut Ui,
    label: &str,
    width: f32,
    gap: f32,
    content: impl FnOnce(&mut Ui, Id) -> R,
) -> R {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let size = vec2(width, space::CONTROL);
        let layout = Layout::left_to_right(Align::Center);
        let label = ui.allocate_ui_with_layout(size, layout, |ui| {
            ui.set_min_size(size);
            ui.label(RichText::new(label).color(palette(ui).weak)).id
        });
        content(ui, label.inner)
    })
    .inner
}
