//! A part of a message with its text.

use crate::app::state::messages::text::Section;
use crate::app::state::wording;
use crate::app::ui::theme::{fonts, palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::small;
use egui::{Id, TextStyle, Ui};

/// Shows a page of a section below its title.
pub(crate) fn show_section(
    ui: &mut Ui,
    section: &Section,
    text: &str,
    id: Id,
    highlights: widgets::Highlights<'_>,
) {
    ui.add_space(space::XS);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if let Some(kind) = section.kind {
            widgets::swatch(ui, palette(ui).kind(kind));
        }
        let tokens =
            section.tokens.map_or_else(String::new, |t| format!(" · {} tok", wording::tokens(t)));
        ui.label(small(ui, format!("{}{tokens}", section.title)));
    });
    if text.is_empty() {
        return;
    }
    let style = if section.kind.is_some() && text.len() < 4_000 && !text.contains("  ") {
        TextStyle::Body
    } else {
        TextStyle::Monospace
    };
    if let Some(sentence) = fonts::missing(ui.ctx(), text) {
        let sentence = small(ui, sentence).color(palette(ui).warn);
        ui.add(egui::Label::new(sentence).wrap());
        ui.add_space(space::S);
    }
    widgets::long_text(ui, id, text, &style, highlights);
}
