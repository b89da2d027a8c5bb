//! How far back the agent reached, under the knobs that say how much is kept: what each value would have missed.

use super::{PanelInput, small};
use crate::analysis::loss::Distances;
use crate::app::widgets::{KnobSpec, knob_curve};
use crate::app::wording;
use crate::engine::{Knob, KnobRole};
use egui::Ui;

/// Uses from which on a curve says anything.
const FEW: usize = 20;

/// Shows the curve of a knob, where it has one.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, knob: &Knob, spec: &KnobSpec<'_>) {
    let Some((distances, hint)) = distances(input, knob) else {
        return;
    };
    if distances.uses() < FEW {
        return;
    }
    let miss = |value: f64| distances.miss(value.max(0.0) as u64);
    let share = wording::percent(miss(spec.value));
    let said = format!("{share} of later uses reach further back than this.");
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let uses = wording::count(distances.uses(), "use");
        let hint = format!("{hint} By {uses} of names that had been said before.");
        knob_curve(ui, spec, &miss, &said).on_hover_text(&hint);
        ui.label(small(ui, &said)).on_hover_text(hint);
    });
}

/// The distances that a knob is measured by, and what a value of it would miss.
fn distances<'a>(input: &PanelInput<'a>, knob: &Knob) -> Option<(&'a Distances, &'static str)> {
    let curves = &input.reach?.curves;
    match (knob.role?, &*knob.unit) {
        (KnobRole::KeepRecent, "messages") => Some((
            &curves.messages,
            "What would be missed if all but so many of the newest messages were gone and what is written in their place held nothing.",
        )),
        (KnobRole::PruneProtect, "tokens") => Some((
            &curves.results,
            "What would be missed if all tool results beyond so many tokens were cleared, of what only results hold.",
        )),
        _ => None,
    }
}
