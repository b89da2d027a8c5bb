//! Marks of the states of facts: the bar of a cell, the strip of a fact over the calls, and their legend.

use crate::analysis::facts::{FactState, KindSurvival, StateChange};
use crate::app::state::wording;
use crate::app::ui::theme::{Palette, palette};
use crate::app::ui::widgets::text::small;
use crate::report::survival_share;
use egui::{Color32, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

/// The states in the order of a bar, with their words.
const STATES: [(FactState, &str); 4] = [
    (FactState::Verbatim, "verbatim"),
    (FactState::Partial, "partial"),
    (FactState::Unknown, "unknown"),
    (FactState::Gone, "gone"),
];

/// Returns the word for a state.
pub(crate) fn word(state: FactState) -> &'static str {
    let named = STATES.iter().find(|(other, _)| *other == state);
    named.map_or("", |(_, word)| word)
}

/// Returns the fill of a state; unknown ones are outlined instead.
fn fill(palette: &Palette, state: FactState) -> Option<Color32> {
    match state {
        FactState::Verbatim => Some(palette.ok),
        FactState::Partial => Some(palette.panel.lerp_to_gamma(palette.ok, 0.5)),
        FactState::Gone => Some(palette.bad),
        FactState::Unknown => None,
    }
}

/// Returns the height of a state's mark: a gone fact is thick, so that the states differ without color.
fn height(state: FactState) -> f32 {
    match state {
        FactState::Verbatim => 3.0,
        FactState::Partial => 5.0,
        FactState::Unknown => 8.0,
        FactState::Gone => 10.0,
    }
}

fn mark(ui: &Ui, rect: Rect, state: FactState) {
    if let Some(color) = fill(palette(ui), state) {
        ui.painter().rect_filled(rect, 1.0, color);
        return;
    }
    let outline = Stroke::new(1.0, palette(ui).outline);
    let rect = rect.shrink2(vec2(0.0, 0.5));
    ui.painter().rect_stroke(rect, 1.0, outline, StrokeKind::Inside);
}

/// Draws the shares of the states of the facts of a kind.
pub(crate) fn bar(ui: &Ui, rect: Rect, survival: KindSurvival) {
    let mut left = rect.left();
    for (state, _) in STATES {
        let n = survival.count(state);
        if n > 0 {
            let right = left + rect.width() * n as f32 / survival.stated as f32;
            // A single fact among thousands is still visible.
            let end = right.max(left + 1.5).min(rect.right());
            mark(ui, Rect::from_x_y_ranges(left..=end, rect.y_range()), state);
            left = right;
        }
    }
}

/// Draws the state of a fact at each of `n_calls` calls; nothing before it was stated.
pub(crate) fn strip(ui: &Ui, rect: Rect, changes: &[StateChange], n_calls: usize) {
    let place = |call: usize| rect.left() + rect.width() * call as f32 / n_calls.max(1) as f32;
    for (nth, change) in changes.iter().enumerate() {
        let end = changes.get(nth + 1).map_or(n_calls, |next| next.call as usize);
        let left = place(change.call as usize);
        let right = place(end).max(left + 1.5);
        let half = height(change.state) / 2.0;
        let y = rect.center().y;
        let part = Rect::from_min_max(pos2(left, y - half), pos2(right, y + half));
        mark(ui, part, change.state);
    }
}

/// Explains the marks in one line.
pub(crate) fn legend(ui: &mut Ui) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        ui.spacing_mut().interact_size.y = 14.0;
        for (state, word) in STATES {
            let (rect, _) = ui.allocate_exact_size(vec2(12.0, 8.0), Sense::hover());
            mark(ui, rect, state);
            ui.label(small(ui, word));
            ui.add_space(4.0);
        }
    });
}

/// Formats the survival of a kind: `45 %`, or `30–100 %` if some facts are unknown; `–` without facts.
pub(crate) fn share_text(survival: KindSurvival) -> String {
    survival_share(survival, wording::percent)
}

/// Describes the counts behind a bar: `12 verbatim · 3 partial · 9 gone, of 24`.
pub(crate) fn counts_text(survival: KindSurvival) -> String {
    let counts = STATES.map(|(state, word)| (survival.count(state), word));
    let counts = counts.iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> =
        counts.map(|(n, word)| format!("{} {word}", wording::grouped(*n as u64))).collect();
    let all = wording::grouped(survival.stated as u64);
    format!("{}, of {all}", counts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_leave_out_zeros() {
        let survival =
            KindSurvival { stated: 15, verbatim: 12, gone: 3, ..KindSurvival::default() };
        assert_eq!(counts_text(survival), "12 verbatim · 3 gone, of 15");
    }
}
