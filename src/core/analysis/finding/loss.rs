//! Findings about content lost by mistake: history after an unrelated error, an earlier summary, valid JSON.

use super::compaction::{change, found};
use super::{Finding, FindingKind, PolicyRun, times};
use crate::engine::{Effect, EntryBody, Event, Left, PartStatus};
use crate::figure::whole_percent;
use crate::units::Share;
use serde::de::IgnoredAny;

/// Finds history removed after a provider error although the context fits.
pub(super) fn unrelated_error(run: &PolicyRun<'_>) -> Option<Finding> {
    let share = |event: &Event| {
        let reserve = run.policy.output_reserve(run.knobs, run.case, event.call);
        let window = run.case.windows.at(event.call);
        event.before.as_f64() / (window - reserve).as_f64().max(1.0)
    };
    let is_one = |e: &Event| e.error.is_some() && e.effect == Effect::Removed && share(e) <= 1.0;
    found(run, FindingKind::UnrelatedError, is_one, |e, n| {
        format!(
            "`{}` removes history after a provider error although the context fits ({}; at {} of usable, {} tokens the first time): \u{201c}{}\u{201d}",
            e.stage,
            times(n),
            whole_percent(Share(share(e))),
            change(e),
            head(e.error.as_deref().unwrap_or_default()),
        )
    })
}

/// Returns the start of an error, which may be long.
fn head(error: &str) -> String {
    const MAX_CHARS: usize = 160;
    let head: String = error.chars().take(MAX_CHARS).collect();
    if head.len() < error.len() { format!("{head}\u{2026}") } else { head }
}

/// Finds summaries that replace one which the summarizer did not receive.
pub(super) fn summary_forgotten(run: &PolicyRun<'_>) -> Option<Finding> {
    let is_one = |e: &Event| e.forgotten > 0;
    found(run, FindingKind::SummaryForgotten, is_one, |e, n| {
        format!(
            "`{}` writes a new summary without sending the previous one to the summarizer ({}): content that only the previous one contained is lost.",
            e.stage,
            times(n)
        )
    })
}

/// Finds JSON results cut to invalid JSON.
pub(super) fn broken_json(run: &PolicyRun<'_>) -> Option<Finding> {
    let (case, context) = (run.case, &run.outcome.context);
    let edited = context.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Edited(edited) => Some(edited),
        _ => None,
    });
    let mut events = Vec::new();
    for edited in edited {
        let parts = case.session.messages[edited.message as usize].parts.clone();
        for (part, status) in parts.zip(edited.parts.as_slice()) {
            let PartStatus::Cleared { marker } = status else {
                continue;
            };
            let marker = &context.markers[*marker as usize];
            let is_cut = marker.left == Left::Some;
            if is_cut && is_broken(case.session.parts[part].body.text(), &marker.text) {
                events.push(marker.event);
            }
        }
    }
    let first = *events.iter().min()?;
    let event = run.outcome.events.get(first as usize)?;
    Some(Finding {
        kind: FindingKind::BrokenJson,
        call: event.call,
        times: events.len(),
        text: format!(
            "`{}` cuts JSON results so that they are no longer valid ({} in what is left at the end).",
            event.stage,
            times(events.len())
        ),
    })
}

/// Returns whether a JSON list or object was cut to a text that still begins like one but is invalid.
fn is_broken(was: &str, now: &str) -> bool {
    let begins = |text: &str| text.trim_start().starts_with(['[', '{']);
    let reads = |text: &str| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        matches!(values.next(), Some(Ok(_)))
    };
    begins(was) && begins(now) && reads(was) && !reads(now)
}

#[cfg(test)]
mod tests {
    use super::is_broken;

    #[test]
    fn a_cut_list_is_broken_and_one_with_a_note_behind_it_is_not() {
        let was = "[{\"a\": 1}, {\"a\": 2}]";
        assert!(is_broken(was, "[{\"a\": 1}, {\"a\n\nTRUNCATED"));
        assert!(!is_broken(was, "[{\"a\": 1}]\n\n TRUNCATED: 1 of 2"));
        assert!(!is_broken("[not JSON]", "[not"));
    }
}
