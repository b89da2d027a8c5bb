//! The effect of a knob's value on this session.

use super::input::SettingsInput;
use super::knob_list::Lane;
use crate::app::widgets::Tone;
use crate::app::wording;
use crate::engine::{Budget, Knob, KnobRole};
use crate::units::Tokens;

/// Returns the effect of a lane's knob value and its tone.
pub(super) fn consequence(
    input: &SettingsInput<'_>,
    lane: Lane<'_>,
    knob: &Knob,
) -> (Option<String>, Tone) {
    let call = input.selection.call;
    let budget = input.runs.budget(lane.policy, lane.values, call);
    match knob.role {
        Some(KnobRole::CompressionTrigger) => trigger(input, lane, budget),
        Some(KnobRole::OutputReserve) => reserve(budget),
        _ => (None, Tone::Plain),
    }
}

/// Returns the trigger in tokens, and the actual context size at that point if the policy counts differently.
fn trigger(input: &SettingsInput<'_>, lane: Lane<'_>, budget: Budget) -> (Option<String>, Tone) {
    let run = input.runs.lanes.get(lane.index);
    let Some(mark) = run.and_then(|run| run.trigger(input.selection.call, budget)) else {
        return (None, Tone::Plain);
    };
    let text = if mark.counted == mark.actual {
        format!(
            "= {} tok of usable {}",
            wording::tokens(mark.counted),
            wording::tokens(budget.usable())
        )
    } else {
        format!(
            "= {} tok by its own count,\nactual ≈ {} ({})",
            wording::tokens(mark.counted),
            wording::tokens(mark.actual),
            wording::of_usable(budget.pressure(mark.actual))
        )
    };
    if mark.actual > budget.usable() {
        let text = format!("{text}:\nit overflows before it acts");
        return (Some(text), Tone::Bad);
    }
    (Some(text), Tone::Plain)
}

fn reserve(budget: Budget) -> (Option<String>, Tone) {
    let text = format!(
        "= usable {} of window {}",
        wording::tokens(budget.usable()),
        wording::tokens(budget.window)
    );
    if budget.usable() == Tokens::ZERO {
        return (Some(format!("{text}: no usable window left")), Tone::Bad);
    }
    (Some(text), Tone::Plain)
}
