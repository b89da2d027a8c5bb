//! A curve below the knobs that set how much content is kept: the expected re-reads of a compaction at each value.

use crate::analysis::rereads::{RetentionCurve, rereads_number};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::plots::knob_curve::knob_curve;
use crate::app::ui::widgets::KnobSpec;
use crate::app::ui::widgets::text::small;
use crate::engine::{Knob, KnobRole};
use crate::units::{Share, Usd};
use egui::Ui;

/// Share of the re-reads that remain at the value that the hover text names.
const FEW: f64 = 0.1;
/// Re-reads below this count as none: they would be shown as 0.0.
const NONE: f64 = 0.05;

/// Shows the curve of a knob, if it has one.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, knob: &Knob, spec: &KnobSpec<'_>) {
    let Some((curve, kept)) = curve(input, knob) else {
        return;
    };
    let at = |value: f64| curve.at(value.max(0.0) as u64);
    let most = at(*spec.range.start()).rereads;
    if most <= 0.0 {
        return;
    }
    let now = at(spec.value);
    let value = wording::knob_value(knob, spec.value);
    let text = text(&value, now.rereads, now.usd);
    let enough = wording::grouped(curve.smallest(FEW));
    let hint = format!(
        "Expected re-reads after one compaction that keeps {kept}, on average over the session. Keeping {enough} or more avoids 90 % of them."
    );
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let share = |value: f64| Share(at(value).rereads / most);
        knob_curve(ui, spec, &share, &text).on_hover_text(format!("{text}\n{hint}"));
        ui.label(small(ui, &text)).on_hover_text(hint);
    });
}

/// Returns `Keeping 10: about 1.4 re-reads, $0.02 a compaction on average.`
fn text(kept: &str, rereads: f64, price: Option<Usd>) -> String {
    if rereads < NONE {
        return format!("Keeping {kept}: no re-reads expected.");
    }
    let n = rereads_number(rereads);
    let noun = if n == "1.0" { "re-read" } else { "re-reads" };
    let price = price.map_or_else(String::new, |usd| format!(", {}", wording::usd(usd)));
    format!("Keeping {kept}: about {n} {noun}{price} a compaction on average.")
}

/// Returns the curve of a knob and the content that it keeps.
fn curve<'a>(input: &OpenSession<'a>, knob: &Knob) -> Option<(&'a RetentionCurve, &'static str)> {
    let curves = &input.derived.rereads()?.curves;
    match (knob.role?, &*knob.unit) {
        (KnobRole::KeepRecent, "messages") => {
            Some((&curves.messages, "this many of the newest messages"))
        }
        (KnobRole::PruneProtect, "tokens") => {
            Some((&curves.results, "this many tokens of the newest tool results"))
        }
        _ => None,
    }
}
