//! A curve below the knobs that set how much content is kept: the share of later references that each value misses.

use super::input::SettingsInput;
use crate::analysis::loss::Distances;
use crate::app::widgets::text::small;
use crate::app::widgets::{KnobSpec, knob_curve};
use crate::app::wording;
use crate::engine::{Knob, KnobRole};
use egui::Ui;

/// Minimum number of references for a meaningful curve.
const FEW: usize = 20;

/// Shows the curve of a knob, if it has one.
pub(super) fn show(ui: &mut Ui, input: &SettingsInput<'_>, knob: &Knob, spec: &KnobSpec<'_>) {
    let Some((distances, hint)) = distances(input, knob) else {
        return;
    };
    if distances.uses() < FEW {
        return;
    }
    let miss = |value: f64| distances.miss(value.max(0.0) as u64);
    let share = wording::percent(miss(spec.value));
    let text = format!("{share} of later references are to older content.");
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let uses = wording::count(distances.uses(), "reference");
        let hint = format!("{hint} Based on {uses} to earlier names.");
        knob_curve(ui, spec, &miss, &text).on_hover_text(&hint);
        ui.label(small(ui, &text)).on_hover_text(hint);
    });
}

/// Returns the distances that apply to a knob and the hover text of its curve.
fn distances<'a>(input: &SettingsInput<'a>, knob: &Knob) -> Option<(&'a Distances, &'static str)> {
    let curves = &input.reuse?.curves;
    match (knob.role?, &*knob.unit) {
        (KnobRole::KeepRecent, "messages") => Some((
            &curves.messages,
            "Share of references at risk if only this many of the newest messages are kept and their replacement contains no names.",
        )),
        (KnobRole::PruneProtect, "tokens") => Some((
            &curves.results,
            "Share of references at risk if all tool results beyond this many tokens are cleared. Counts only names that occur in no other message.",
        )),
        _ => None,
    }
}
