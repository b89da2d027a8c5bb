//! A table cell for a sum of money.

use crate::app::state::model::tone::Tone;
use crate::app::state::wording;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::text::weak;
use crate::units::Usd;
use egui::{Response, RichText, Ui};

/// Shows a sum in a cell: a dash if unknown, weak if zero.
pub(crate) fn sum(ui: &mut Ui, usd: Option<Usd>, tone: Tone) -> Response {
    match usd {
        None => ui.label(weak(ui, "–")),
        Some(Usd::ZERO) => ui.label(weak(ui, wording::usd(Usd::ZERO))),
        Some(usd) => ui.label(RichText::new(wording::usd(usd)).color(palette(ui).tone(tone))),
    }
}
