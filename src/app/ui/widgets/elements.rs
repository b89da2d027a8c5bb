//! Small text and line elements: section heads, labelled figures, swatches and hairlines.

use crate::app::state::model::tone::Tone;
use crate::app::ui::theme;
use crate::app::ui::theme::{palette, space};
use egui::{Color32, Response, RichText, Sense, TextStyle, Ui, vec2};

/// Shows the head of a panel section: small, semibold, weak capitals.
pub fn section(ui: &mut Ui, title: &str) -> Response {
    let text = RichText::new(title.to_uppercase())
        .text_style(theme::small_strong())
        .extra_letter_spacing(0.8)
        .color(palette(ui).weak);
    ui.label(text)
}

/// Shows a value below its label.
pub fn figure(ui: &mut Ui, label: &str, value: &str, tone: Tone) -> Response {
    let palette = palette(ui);
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.label(RichText::new(label).text_style(TextStyle::Small).color(palette.weak));
        ui.label(RichText::new(value).text_style(theme::strong()).color(palette.tone(tone)));
    })
    .response
}

/// Shows a small square in the color of a kind or lane.
pub fn swatch(ui: &mut Ui, color: Color32) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(9.0, 9.0), Sense::hover());
    ui.painter().rect_filled(rect, 2.0, color);
    response
}

/// Draws a separator across the available width.
pub fn hairline(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 1.0), Sense::hover());
    let rect = rect.expand2(vec2(space::XS, 0.0)).intersect(ui.clip_rect());
    ui.painter().hline(rect.x_range(), rect.center().y, palette(ui).line());
}
