//! The line of a lane's head that compares the policy's own fill estimate with the actual fill.

use super::input::LanesInput;
use crate::app::theme::palette;
use crate::app::wording;
use crate::units::Share;
use egui::{Label, RichText, TextStyle, Ui};

/// Height of the line in points. All heads reserve it if any lane's policy has an estimate of its own.
pub(super) const HEIGHT: f32 = 16.0;

/// Returns whether any lane's policy has an estimate of its own.
pub(super) fn is_any(input: &LanesInput<'_>) -> bool {
    let mut lanes = input.runs.lanes.iter();
    lanes.any(|lane| lane.policy.believed_fill.is_some())
}

/// Shows the line of a lane at the selected call.
pub(super) fn show(ui: &mut Ui, input: &LanesInput<'_>, lane: usize) {
    let call = input.selection.call;
    let Some((believed, actual)) = input.runs.lanes[lane].believed_fill(call) else {
        return;
    };
    let color = if is_blind(believed, actual) {
        palette(ui).bad
    } else {
        palette(ui).weak
    };
    let full = wording::believed_fill(believed, actual);
    let font = TextStyle::Small.resolve(ui.style());
    let width = ui
        .painter()
        .layout_no_wrap(full.clone(), font, color)
        .size()
        .x;
    // In a narrow lane the color and the hover text replace the omitted words.
    let text = if width <= ui.available_width() {
        full
    } else {
        full.replace("believed ", "").replace("actual ", "")
    };
    let text = RichText::new(text)
        .text_style(TextStyle::Small)
        .color(color);
    ui.add(Label::new(text).truncate()).on_hover_ui(|ui| {
        ui.label(hint(input, lane, believed, actual));
    });
}

/// Returns whether the policy believes it is below its limit while the actual context exceeds the usable window.
fn is_blind(believed: Share, actual: Share) -> bool {
    believed.0 < 1.0 && actual.0 > 1.0
}

fn hint(input: &LanesInput<'_>, lane: usize, believed: Share, actual: Share) -> String {
    let call = input.selection.call;
    let counts = input.runs.lanes[lane].outcome.samples.get(call).map(|s| {
        format!(
            "Call {}: the policy counts {} tokens, which is {} of its own limit. Actual: {} tokens, {}.",
            wording::number(call),
            wording::tokens(s.metered),
            wording::percent(believed),
            wording::tokens(s.tokens),
            wording::of_usable(actual)
        )
    });
    counts.unwrap_or_default()
}
