//! The line of a lane's head that compares the policy's own fill estimate with the actual fill.

use crate::app::shell::layout::PanelInput;
use crate::app::theme::palette;
use crate::app::wording;
use crate::units::Share;
use egui::{Label, RichText, TextStyle, Ui};

/// Height of the line in points. All heads reserve it if any lane's policy has an estimate of its own.
pub(in crate::app) const HEIGHT: f32 = 16.0;

/// Returns whether any lane's policy has an estimate of its own.
pub(in crate::app) fn is_any(input: &PanelInput<'_>) -> bool {
    let mut lanes = input.runs.lanes.iter();
    lanes.any(|lane| lane.policy.believes.is_some())
}

/// Shows the line of a lane at the selected call.
pub(in crate::app) fn show(ui: &mut Ui, input: &PanelInput<'_>, lane: usize) {
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
    // In a narrow lane the color and the hover text replace the omitted words.
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

/// Returns whether the policy believes it is below its limit while the actual context exceeds the usable window.
fn is_blind(believed: Share, really: Share) -> bool {
    believed.0 < 1.0 && really.0 > 1.0
}

fn hint(input: &PanelInput<'_>, lane: usize, (believed, really): (Share, Share)) -> String {
    let step = input.selection.step;
    let counts = input.runs.lanes[lane].outcome.samples.get(step).map(|s| {
        format!(
            "Call {}: the policy counts {} tokens, which is {} of its own limit. Actual: {} tokens, {}.",
            wording::number(step),
            wording::tokens(s.metered),
            wording::percent(believed),
            wording::tokens(s.tokens),
            wording::of_usable(really)
        )
    });
    counts.unwrap_or_default()
}
