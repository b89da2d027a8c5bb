//! The effect of a knob's value on this session.

use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::engine::{Budget, Knob, KnobRole, KnobValues, Policy};
use crate::units::Tokens;

/// A lane with its policy and the values of its knobs.
#[derive(Clone, Copy)]
pub(crate) struct KnobLane<'a> {
    pub(crate) index: usize,
    pub(crate) policy: &'a Policy,
    pub(crate) values: &'a KnobValues,
}

/// The effect of a value on the session.
#[derive(Debug, Default)]
pub(crate) struct KnobEffect {
    /// Description; `None` for knobs without one.
    pub(crate) text: Option<String>,
    pub(crate) tone: Tone,
}

impl KnobEffect {
    fn new(text: String, tone: Tone) -> Self {
        let text = Some(text);
        Self { text, tone }
    }
}

/// Returns the effect of the value of a lane's knob.
pub(crate) fn effect(input: &OpenSession<'_>, lane: KnobLane<'_>, knob: &Knob) -> KnobEffect {
    let call = input.selection.call;
    let budget = input.runs.budget(lane.policy, lane.values, call);
    match knob.role {
        Some(KnobRole::CompressionTrigger) => trigger(input, lane, knob, budget),
        Some(KnobRole::OutputReserve) => reserve(budget),
        _ => KnobEffect::default(),
    }
}

/// Returns the trigger in tokens, and the actual context size at that point if the policy counts differently.
fn trigger(input: &OpenSession<'_>, lane: KnobLane<'_>, knob: &Knob, budget: Budget) -> KnobEffect {
    let run = input.runs.lanes.get(lane.index);
    let Some(mark) = run.and_then(|run| run.trigger(input.selection.call, budget)) else {
        return KnobEffect::default();
    };
    let text = if mark.counted == mark.actual {
        let (name, whole) = if knob.unit == "share of window" {
            ("window", budget.window)
        } else {
            ("usable", budget.usable())
        };
        format!("= {} tok of {name} {}", wording::tokens(mark.counted), wording::tokens(whole))
    } else {
        format!(
            "= {} tok by its own count,\nactual ≈ {} ({})",
            wording::tokens(mark.counted),
            wording::tokens(mark.actual),
            wording::of_usable(budget.pressure(mark.actual))
        )
    };
    if budget.overflows(mark.actual) {
        let text = format!("{text}:\nit overflows before it acts");
        return KnobEffect::new(text, Tone::Bad);
    }
    if mark.actual > budget.usable() {
        let text = format!("{text}:\nit reaches into the output reserve before it acts");
        return KnobEffect::new(text, Tone::Warn);
    }
    KnobEffect::new(text, Tone::Plain)
}

fn reserve(budget: Budget) -> KnobEffect {
    let text = format!(
        "= usable {} of window {}",
        wording::tokens(budget.usable()),
        wording::tokens(budget.window)
    );
    if budget.usable() == Tokens::ZERO {
        return KnobEffect::new(format!("{text}: no usable window left"), Tone::Bad);
    }
    KnobEffect::new(text, Tone::Plain)
}
