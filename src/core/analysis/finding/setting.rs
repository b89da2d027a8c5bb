//! Findings about settings: larger than the window, or without any effect.

use super::{Finding, FindingKind, PolicyRun};
use crate::engine::KnobRole;
use crate::units::Tokens;

/// Finds settings larger than the context window.
pub(super) fn above_window(run: &PolicyRun<'_>) -> Option<Finding> {
    let window = run.case.windows.largest();
    let mut above = run.policy.knobs.iter().filter_map(|knob| {
        let value = run.knobs.get(&knob.name)?;
        // Only settings for the window or a part of it matter.
        let window_words = ["context", "limit", "window", "protect", "max_tokens"];
        let is_such = window_words.iter().any(|word| knob.name.contains(word))
            && knob.role != Some(KnobRole::SummaryMaxTokens);
        (is_such && knob.unit == "tokens" && value > window.as_f64()).then_some((&knob.name, value))
    });
    let (name, value) = above.next()?;
    Some(Finding {
        kind: FindingKind::AboveWindow,
        call: 0,
        times: 1 + above.count(),
        text: format!(
            "{name} is {} tokens in a window of {}: stages that depend on it act too late or never.",
            Tokens(value as u64).short(),
            window.short()
        ),
    })
}

/// Finds models whose window is smaller than the system assumes.
pub(super) fn wrong_window(run: &PolicyRun<'_>) -> Option<Finding> {
    let known = run.policy.window?;
    let calls = 0..run.case.session.calls.len();
    let believed = |call: usize| Tokens((known.window)(run.case.model_at(call)));
    let mut wrong = calls.filter(|call| believed(*call) > run.case.windows.at(*call));
    let first = wrong.next()?;
    Some(Finding {
        kind: FindingKind::AboveWindow,
        call: first,
        times: 1 + wrong.count(),
        text: format!(
            "Its own table gives {} a window of {} tokens; it was {}. Stages that depend on it act too late or never, unless a setting overrides it.",
            match run.case.model_at(first) {
                "" => "an unknown model",
                model => model,
            },
            believed(first).short(),
            run.case.windows.at(first).short()
        ),
    })
}

/// Finds changed settings that the shipped code ignores.
pub(super) fn ignored(run: &PolicyRun<'_>) -> Option<Finding> {
    let mut changed = run.policy.knobs.iter().filter_map(|knob| {
        let is_changed = run.knobs.get(&knob.name).is_some_and(|v| v != knob.value);
        Some((knob, knob.ignored.as_ref().filter(|_| is_changed)?))
    });
    let (knob, why) = changed.next()?;
    Some(Finding {
        kind: FindingKind::Ignored,
        call: 0,
        times: 1 + changed.count(),
        text: format!("{} is changed here, but the shipped code ignores it: {why}", knob.name),
    })
}
