//! How full a lane's policy believes itself to be, beside how full it is: one line in its head.

use super::PanelInput;
use crate::app::theme::palette;
use crate::app::wording;
use crate::units::Share;
use egui::{Label, RichText, TextStyle, Ui};

/// Height of the line; the heads have it where any lane's policy says what it believes.
pub(super) const HEIGHT: f32 = 16.0;

/// Whether any lane's policy says how full it believes itself to be.
pub(super) fn is_any(input: &PanelInput<'_>) -> bool {
    let mut lanes = input.runs.lanes.iter();
    lanes.any(|lane| lane.policy.believes.is_some())
}

/// Shows the line of a lane, at the selected call.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, lane: usize) {
    let step = input.selection.step;
    let Some((believed, really)) = input.runs.lanes[lane].belief(step) else {
        return;
    };
    let color = if is_blind(believed, really) {
        palette(ui).bad
    } else {
        palette(ui).weak
    };
    let full = wording::belief(believed, really);
    let text = |said: &str| {
        RichText::new(said)
            .text_style(TextStyle::Small)
            .color(color)
    };
    let font = TextStyle::Small.resolve(ui.style());
    let width = ui
        .painter()
        .layout_no_wrap(full.clone(), font, color)
        .size()
        .x;
    // Where it is narrow, the color and the tooltip say what the shorter words leave out.
    let said = if width <= ui.available_width() {
        full
    } else {
        full.replace("believes ", "").replace("really ", "")
    };
    ui.add(Label::new(text(&said)).truncate())
        .on_hover_ui(|ui| {
            ui.label(hint(input, lane, (believed, really)));
        });
}

/// It takes itself to be below its limit and is above what is usable.
fn is_blind(believed: Share, really: Share) -> bool {
    believed.0 < 1.0 && really.0 > 1.0
}

fn hint(input: &PanelInput<'_>, lane: usize, (believed, really): (Share, Share)) -> String {
    let step = input.selection.step;
    let counts = input.runs.lanes[lane].outcome.samples.get(step).map(|s| {
        format!(
            "Call {}: it counts {} tokens, which is {} of its own limit. Really {} tokens are sent: {}.",
            wording::number(step),
            wording::tokens(s.metered),
            wording::percent(believed),
            wording::tokens(s.tokens),
            wording::of_usable(really)
        )
    });
    counts.unwrap_or_default()
}
