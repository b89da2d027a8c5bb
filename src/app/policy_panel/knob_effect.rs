//! The effect of a knob's value on this session.

use super::knob_list::Lane;
use crate::app::shell::layout::PanelInput;
use crate::app::widgets::Tone;
use crate::app::wording;
use crate::engine::{Budget, Knob, KnobRole};
use crate::units::Tokens;

/// Returns the effect of a lane's knob value and its tone.
pub(in crate::app) fn consequence(
    input: &PanelInput<'_>,
    lane: Lane<'_>,
    knob: &Knob,
) -> (Option<String>, Tone) {
    let step = input.selection.step;
    let budget = input.runs.budget(lane.policy, lane.values, step);
    match knob.role {
        Some(KnobRole::CompressionTrigger) => trigger(input, lane, budget),
        Some(KnobRole::OutputReserve) => reserve(budget),
        _ => (None, Tone::Plain),
    }
}

/// Returns the trigger in tokens, and the actual context size at that point if the policy counts differently.
fn trigger(input: &PanelInput<'_>, lane: Lane<'_>, budget: Budget) -> (Option<String>, Tone) {
    let run = input.runs.lanes.get(lane.index);
    let Some(mark) = run.and_then(|run| run.trigger(input.selection.step, budget)) else {
        return (None, Tone::Plain);
    };
    let said = if mark.counted == mark.really {
        format!(
            "= {} tok of usable {}",
            wording::tokens(mark.counted),
            wording::tokens(budget.usable())
        )
    } else {
        format!(
            "= {} tok by its own count,\nactual ≈ {} ({})",
            wording::tokens(mark.counted),
            wording::tokens(mark.really),
            wording::of_usable(budget.pressure(mark.really))
        )
    };
    if mark.really > budget.usable() {
        let said = format!("{said}:\nit overflows before it acts");
        return (Some(said), Tone::Bad);
    }
    (Some(said), Tone::Plain)
}

fn reserve(budget: Budget) -> (Option<String>, Tone) {
    let said = format!(
        "= usable {} of window {}",
        wording::tokens(budget.usable()),
        wording::tokens(budget.window)
    );
    if budget.usable() == Tokens::ZERO {
        return (Some(format!("{said}: no usable window left")), Tone::Bad);
    }
    (Some(said), Tone::Plain)
}
