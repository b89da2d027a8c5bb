//! Findings about settings: larger than the window, or without any effect.

use super::{Finding, FindingKind, Seen};
use crate::engine::KnobRole;
use crate::units::Tokens;

pub(super) fn above_window(seen: &Seen<'_>) -> Option<Finding> {
    let window = seen.case.windows.largest();
    let mut above = seen.policy.knobs.iter().filter_map(|knob| {
        let value = seen.knobs.get(&knob.name)?;
        // A cap on something smaller does no harm; what stands for the window or a part of it does.
        let stands_for_window = ["context", "limit", "window", "protect", "max_tokens"];
        let is_such = stands_for_window
            .iter()
            .any(|word| knob.name.contains(word))
            && knob.role != Some(KnobRole::SummaryMaxTokens);
        (is_such && knob.unit == "tokens" && value > window.as_f64()).then_some((&knob.name, value))
    });
    let (name, value) = above.next()?;
    Some(Finding {
        kind: FindingKind::AboveWindow,
        step: 0,
        times: 1 + above.count(),
        text: format!(
            "{name} is {} tokens in a window of {}: stages that depend on it act too late or never.",
            Tokens(value as u64).short(),
            window.short()
        ),
    })
}

/// The system takes a model's window to be larger than it was.
pub(super) fn wrong_window(seen: &Seen<'_>) -> Option<Finding> {
    let known = seen.policy.window?;
    let steps = 0..seen.case.session.calls.len();
    let believed = |step: usize| Tokens((known.window)(seen.case.model_at(step)));
    let mut wrong = steps.filter(|step| believed(*step) > seen.case.windows.at(*step));
    let first = wrong.next()?;
    Some(Finding {
        kind: FindingKind::AboveWindow,
        step: first,
        times: 1 + wrong.count(),
        text: format!(
            "Its own table gives {} a window of {} tokens; it was {}. Stages that depend on it act too late or never, unless a setting overrides it.",
            match seen.case.model_at(first) {
                "" => "an unknown model",
                model => model,
            },
            believed(first).short(),
            seen.case.windows.at(first).short()
        ),
    })
}

pub(super) fn ignored(seen: &Seen<'_>) -> Option<Finding> {
    let mut changed = seen.policy.knobs.iter().filter_map(|knob| {
        let is_changed = seen.knobs.get(&knob.name).is_some_and(|v| v != knob.value);
        Some((knob, knob.ignored.as_ref().filter(|_| is_changed)?))
    });
    let (knob, why) = changed.next()?;
    Some(Finding {
        kind: FindingKind::Ignored,
        step: 0,
        times: 1 + changed.count(),
        text: format!(
            "{} is changed here, but the shipped code ignores it: {why}",
            knob.name
        ),
    })
}
