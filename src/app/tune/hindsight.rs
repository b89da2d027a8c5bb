//! The savings of the hindsight optimum.

use super::input::TuneInput;
use crate::app::widgets::text::weak;
use crate::app::wording;
use crate::units::Tokens;
use egui::Ui;

/// Shows the savings of the hindsight optimum.
pub(super) fn hindsight(ui: &mut Ui, input: &TuneInput<'_>) {
    let (Some(bounds), Some(losses)) = (input.bounds, input.losses) else {
        return;
    };
    let cost = losses.cheapest.map_or_else(String::new, |run| {
        format!(
            " In money: ≈{}, {}; what happened: ≈{} by the same cache model.",
            wording::usd(run.usd),
            run.text(),
            wording::usd(run.recorded)
        )
    });
    let (sent, none) = (bounds.hindsight.tokens_sent(), bounds.none.tokens_sent());
    if none == Tokens::ZERO {
        return;
    }
    let text = format!(
        "Hindsight optimum: if each tool result were cleared right after its last use, {} tokens would be sent instead of {} without compaction.{cost}",
        wording::short(sent),
        wording::short(none)
    );
    ui.label(weak(ui, text));
}
