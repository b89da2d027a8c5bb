//! Findings about what a policy loses by mistake: history for an unrelated error, a summary, valid JSON.

use super::deed::found;
use super::{Finding, FindingKind, Seen, percent, times};
use crate::engine::{Did, EntryBody, Event, Left, PartStatus};
use serde::de::IgnoredAny;

/// Something is removed for an error of the provider although the call would have fitted.
pub(super) fn unrelated_error(seen: &Seen<'_>) -> Option<Finding> {
    let share = |event: &Event| {
        let reserve = seen
            .policy
            .output_reserve(seen.knobs, seen.case, event.step);
        let window = seen.case.windows.at(event.step);
        event.before.as_f64() / (window - reserve).as_f64().max(1.0)
    };
    let is_one = |e: &Event| e.error.is_some() && e.did == Did::Removed && share(e) <= 1.0;
    found(seen, FindingKind::UnrelatedError, is_one, |e, n| {
        format!(
            "`{}` removes history after a provider error although the context fits ({}; at {} of usable, {} \u{2192} {} tokens the first time): \u{201c}{}\u{201d}",
            e.stage,
            times(n),
            percent(share(e)),
            e.before.short(),
            e.after.short(),
            head(e.error.as_deref().unwrap_or_default()),
        )
    })
}

/// The beginning of an error, which may be long.
fn head(error: &str) -> String {
    const MOST: usize = 160;
    let head: String = error.chars().take(MOST).collect();
    if head.len() < error.len() {
        format!("{head}\u{2026}")
    } else {
        head
    }
}

/// A new summary takes the place of one that its writer was not shown.
pub(super) fn summary_forgotten(seen: &Seen<'_>) -> Option<Finding> {
    let is_one = |e: &Event| e.forgotten > 0;
    found(seen, FindingKind::SummaryForgotten, is_one, |e, n| {
        format!(
            "`{}` writes a new summary without sending the previous one to the summarizer ({}): content that only the previous one held is lost.",
            e.stage,
            times(n)
        )
    })
}

/// A result that was JSON is cut to what no parser reads.
pub(super) fn broken_json(seen: &Seen<'_>) -> Option<Finding> {
    let (case, context) = (seen.case, &seen.outcome.context);
    let edited = context
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::Edited(edited) => Some(edited),
            _ => None,
        });
    let mut events = Vec::new();
    for edited in edited {
        let parts = case.session.messages[edited.message as usize].parts.clone();
        for (part, fate) in parts.zip(edited.parts.as_slice()) {
            let PartStatus::Cleared { marker } = fate else {
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
    let event = seen.outcome.events.get(first as usize)?;
    Some(Finding {
        kind: FindingKind::BrokenJson,
        step: event.step,
        times: events.len(),
        text: format!(
            "`{}` cuts JSON results so that they are no longer valid ({} in what is left at the end).",
            event.stage,
            times(events.len())
        ),
    })
}

/// Whether a text was a list or an object in JSON and begins like one still, without being one to its end.
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
