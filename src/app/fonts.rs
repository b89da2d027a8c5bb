//! The window's typeface: two weights of a sans whose figures are tabular, with the usual fallbacks behind it.

use egui::{Color32, Context, FontData, FontDefinitions, FontFamily, TextStyle, Ui};
use std::sync::Arc;

/// Name of the family of the heavier weight.
pub const SEMIBOLD: &str = "semibold";

const FACES: [(&str, &[u8]); 2] = [
    (
        "Plimsoll Sans",
        include_bytes!("../../assets/fonts/PlimsollSans-Regular.ttf"),
    ),
    (
        "Plimsoll Sans SemiBold",
        include_bytes!("../../assets/fonts/PlimsollSans-SemiBold.ttf"),
    ),
];

/// Adds both weights; what they lack comes from egui's own fonts and then from the system's.
pub fn install(ctx: &Context) {
    ctx.set_fonts(definitions());
}

/// Draws what most texts are made of ahead of the first of them, a part in each frame of waiting: all of it at once takes as
/// long as a frame may.
pub(super) fn prepare(ui: &Ui) {
    let letters: String = (' '..='~').collect();
    // Another place on the line is another drawing of a letter, of which there are four.
    let turn = ui.ctx().cumulative_frame_nr() as usize % 4 * letters.len() / 4;
    let turned = format!("{}{}", &letters[turn..], &letters[..turn]);
    for style in [TextStyle::Body, TextStyle::Monospace] {
        let font = style.resolve(ui.style());
        let painter = ui.painter();
        let _ = painter.layout_no_wrap(turned.clone(), font, Color32::PLACEHOLDER);
    }
}

fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let fallbacks = fonts
        .families
        .get(&FontFamily::Proportional)
        .cloned()
        .unwrap_or_default();
    let families = [FontFamily::Proportional, FontFamily::Name(SEMIBOLD.into())];
    for ((name, bytes), family) in FACES.into_iter().zip(families) {
        fonts
            .font_data
            .insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
        let chain = std::iter::once(name.to_owned()).chain(fallbacks.iter().cloned());
        fonts.families.insert(family, chain.collect());
    }
    fonts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::theme;

    #[test]
    fn figures_are_as_wide_as_one_another_in_both_weights() {
        let ctx = Context::default();
        theme::apply(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            for style in [
                TextStyle::Body,
                TextStyle::Small,
                theme::strong(),
                theme::small_strong(),
            ] {
                let font = style.resolve(ui.style());
                let width = |text: &str| {
                    let galley =
                        ui.painter()
                            .layout_no_wrap(text.to_owned(), font.clone(), Color32::WHITE);
                    galley.size().x
                };
                let widths: Vec<_> = ('0'..='9')
                    .map(|digit| width(&digit.to_string().repeat(10)))
                    .collect();
                assert!(
                    widths.iter().all(|w| (w - widths[0]).abs() < 0.01),
                    "{style:?}: {widths:?}"
                );
                assert!(
                    (width("111 111k") - width("208 947k")).abs() < 0.01,
                    "{style:?}"
                );
            }
        });
        output.textures_delta.clear();
    }
}
