//! The window's fonts: two weights of a sans-serif with tabular figures, and the usual fallbacks.

use crate::app::ui::theme;
use egui::{Color32, Context, FontData, FontDefinitions, FontFamily, FontId, TextStyle, Ui};
use std::sync::Arc;

/// Name of the semibold family.
pub const SEMIBOLD: &str = "semibold";

const FACES: [(&str, &[u8]); 2] = [
    ("Plimsoll Sans", include_bytes!("../../../../assets/fonts/PlimsollSans-Regular.ttf")),
    (
        "Plimsoll Sans SemiBold",
        include_bytes!("../../../../assets/fonts/PlimsollSans-SemiBold.ttf"),
    ),
];

/// Adds both weights, with egui's fonts and the system's fonts as fallbacks.
pub fn install(ctx: &Context) {
    ctx.set_fonts(definitions());
}

/// Rasterizes common glyphs before they are shown, a part of them in each frame, since all of them take as long as a frame.
pub(crate) fn prepare(ui: &Ui) {
    let letters: String = (' '..='~').collect();
    // Each of the four subpixel positions has its own glyph image.
    let turn = ui.ctx().cumulative_frame_nr() as usize % 4 * letters.len() / 4;
    let turned = format!("{}{}", &letters[turn..], &letters[..turn]);
    for style in [TextStyle::Body, TextStyle::Monospace] {
        let font = style.resolve(ui.style());
        let painter = ui.painter();
        let _ = painter.layout_no_wrap(turned.clone(), font, Color32::PLACEHOLDER);
    }
}

/// Maximum number of characters that are checked for missing glyphs.
const MAX_CHECKED: usize = 2_000;

/// Returns a hint if no installed font has glyphs for a text; `None` if all glyphs exist.
pub fn missing(ctx: &Context, text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    // The bundled fonts cover everything below.
    let letters = text.chars().filter(|c| *c >= '\u{250}' && c.is_alphabetic());
    let font = FontId::new(theme::TEXT, FontFamily::Proportional);
    let lost = ctx.fonts_mut(|fonts| {
        let mut letters = letters.take(MAX_CHECKED);
        letters.find(|c| !fonts.has_glyph(&font, *c))
    });
    let (writing, package) = match lost? {
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}' => ("Chinese, Japanese or Korean", "fonts-noto-cjk"),
        _ => ("some of these", "fonts-noto-core"),
    };
    Some(format!(
        "No font on this machine has {writing} letters. They are shown as boxes. Install one (on Debian and Ubuntu: `sudo apt \
         install {package}`) and start the program again."
    ))
}

fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let fallbacks = fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    let families = [FontFamily::Proportional, FontFamily::Name(SEMIBOLD.into())];
    for ((name, bytes), family) in FACES.into_iter().zip(families) {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
        let chain = std::iter::once(name.to_owned()).chain(fallbacks.iter().cloned());
        fonts.families.insert(family, chain.collect());
    }
    fonts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::ui::theme;

    #[test]
    fn missing_glyphs_are_reported_with_the_font_to_install() {
        let ctx = Context::default();
        theme::apply(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            let hint = |text: &str| missing(ui.ctx(), text).unwrap_or_default();
            assert_eq!(hint("plain, é, Ω, Ж, – and ✔"), "");
            for text in ["漢字", "かな", "한글"] {
                assert!(hint(text).contains("fonts-noto-cjk"), "{text}");
            }
            assert!(hint("שלום").contains("fonts-noto-core"));
        });
        output.textures_delta.clear();
    }

    #[test]
    fn figures_have_equal_widths_in_both_weights() {
        let ctx = Context::default();
        theme::apply(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            for style in [TextStyle::Body, TextStyle::Small, theme::strong(), theme::small_strong()]
            {
                let font = style.resolve(ui.style());
                let width = |text: &str| {
                    let galley =
                        ui.painter().layout_no_wrap(text.to_owned(), font.clone(), Color32::WHITE);
                    galley.size().x
                };
                let widths: Vec<_> =
                    ('0'..='9').map(|digit| width(&digit.to_string().repeat(10))).collect();
                assert!(
                    widths.iter().all(|w| (w - widths[0]).abs() < 0.01),
                    "{style:?}: {widths:?}"
                );
                assert!((width("111,111k") - width("208,947k")).abs() < 0.01, "{style:?}");
            }
        });
        output.textures_delta.clear();
    }
}
