//! Messages that are not verbatim in a lane's last context, by the event that removed them.

use super::item::item;
use super::played::Played;
use super::redaction::{NameKind, Redactor, ReportText};
use super::{RemovalReport, Replacement, ReportMessage};
use crate::engine::{
    Case, Context, Edited, EntryBody, Event, Left, Marker, MessageStatus, PartStatus,
};
use crate::session::WrittenKind;
use crate::units::Tokens;
use std::collections::BTreeMap;

/// Maximum number of listed removals of a lane. Together with [`MAX_ITEMS`] it bounds the report of a lane to 4,800
/// rows, since a session may have 100,000 messages and a report several lanes.
const MAX_REMOVALS: usize = 120;
/// Maximum number of listed messages of a removal: the largest ones.
const MAX_ITEMS: usize = 40;
/// Maximum number of characters of a replacement.
const MAX_CHARS: usize = 160;

/// Messages that one event removed in the same way.
#[derive(Default)]
struct RemovedMessages<'a> {
    /// Index of the message, and the removed tokens.
    messages: Vec<(usize, Tokens)>,
    replacement: Option<WrittenText<'a>>,
}

/// Text that replaces messages.
struct WrittenText<'a> {
    text: &'a str,
    tokens: Tokens,
    is_predicted: bool,
}

/// Removed messages by event and status, in order of the events; first those without an event of the policy.
type ByEvent<'a> = BTreeMap<(Option<u32>, StatusKey), RemovedMessages<'a>>;

/// A status that can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StatusKey {
    Dropped,
    Summarized,
    Cleared,
    Cut,
}

impl StatusKey {
    fn status(self) -> MessageStatus {
        match self {
            Self::Dropped => MessageStatus::Dropped,
            Self::Summarized => MessageStatus::Summarized,
            Self::Cleared => MessageStatus::Cleared,
            Self::Cut => MessageStatus::Cut,
        }
    }
}

/// The removals of a lane.
pub(super) struct Removals {
    pub(super) listed: Vec<RemovalReport>,
    /// Number of those that are not listed.
    pub(super) n_more: usize,
}

/// Returns the removals of a lane.
pub(super) fn removals(case: &Case, lane: &Played, redactor: &mut Redactor) -> Removals {
    let by_event = by_event(case, &lane.outcome.context);
    let n_more = by_event.len().saturating_sub(MAX_REMOVALS);
    let events = &lane.outcome.events;
    let listed = by_event.into_iter().take(MAX_REMOVALS);
    let removals = listed.map(|((event, key), removed)| {
        let event = event.and_then(|event| events.get(event as usize));
        removal(case, event, key.status(), removed, redactor)
    });
    Removals { listed: removals.collect(), n_more }
}

fn by_event<'a>(case: &Case, context: &'a Context) -> ByEvent<'a> {
    let mut by_event = ByEvent::new();
    let weight = |message: u32| (message as usize, case.ledger.message(message as usize));
    for dropped in &context.dropped {
        let key = if dropped.is_summarized { StatusKey::Summarized } else { StatusKey::Dropped };
        let removed = by_event.entry((dropped.event, key)).or_default();
        removed.messages.extend(dropped.messages.clone().map(weight));
    }
    for entry in &context.entries {
        match &entry.body {
            EntryBody::Original(_) => {}
            EntryBody::Written(written) => {
                let key = match written.kind {
                    WrittenKind::Summary => StatusKey::Summarized,
                    WrittenKind::Notice | WrittenKind::Addition => StatusKey::Dropped,
                };
                let covered = written.covers.iter().cloned().flatten();
                if covered.clone().next().is_none() {
                    continue;
                }
                let removed = by_event.entry((Some(written.event), key)).or_default();
                removed.messages.extend(covered.map(weight));
                removed.replacement = Some(WrittenText {
                    text: &written.text,
                    tokens: Tokens::from(entry.tokens),
                    is_predicted: written.is_predicted,
                });
            }
            EntryBody::Edited(edited) => {
                let Some((event, key, marker)) = worst(edited, &context.markers) else {
                    continue;
                };
                let (message, was) = weight(edited.message);
                let removed = by_event.entry((Some(event), key)).or_default();
                removed.messages.push((message, was - Tokens::from(entry.tokens)));
                if let Some(marker) = marker {
                    removed.replacement = Some(WrittenText {
                        text: &marker.text,
                        tokens: Tokens::from(marker.tokens),
                        is_predicted: marker.is_predicted,
                    });
                }
            }
        }
    }
    by_event
}

/// Returns the event that removed most of an edited message, with the message's status and the replacement.
fn worst<'a>(
    edited: &Edited,
    markers: &'a [Marker],
) -> Option<(u32, StatusKey, Option<&'a Marker>)> {
    let parts = edited.parts.as_slice().iter();
    let done = parts.filter_map(|status| match status {
        PartStatus::Kept => None,
        PartStatus::Removed { event } => Some((Left::Nothing, *event, None)),
        PartStatus::Cleared { marker } => {
            let marker = &markers[*marker as usize];
            Some((marker.left, marker.event, Some(marker)))
        }
    });
    let (left, event, marker) = done.min_by_key(|(left, ..)| *left)?;
    match left {
        Left::All => None,
        Left::Some => Some((event, StatusKey::Cut, marker)),
        Left::Nothing | Left::Elsewhere => Some((event, StatusKey::Cleared, marker)),
    }
}

fn removal(
    case: &Case,
    event: Option<&Event>,
    status: MessageStatus,
    removed: RemovedMessages<'_>,
    redactor: &mut Redactor,
) -> RemovalReport {
    let gone = removed.messages.iter().map(|(_, tokens)| *tokens).sum();
    RemovalReport {
        status,
        call: event.map(|e| e.call),
        stage: event.map(|e| stage_of(e, redactor)),
        why: event.filter(|e| !e.is_manual()).map(|e| redactor.cause(&e.cause)),
        messages: removed.messages.len(),
        gone,
        replacement: removed.replacement.map(|written| replacement(&written, redactor)),
        items: items(case, removed.messages, redactor),
    }
}

/// Returns the name of an event's stage; for a manual edit, `manually`.
pub(super) fn stage_of(event: &Event, redactor: &mut Redactor) -> ReportText {
    if event.is_manual() {
        return ReportText::own(Event::MANUAL);
    }
    redactor.name(NameKind::Stage, &event.stage)
}

/// Returns the replacement. Predicted text is described instead.
fn replacement(written: &WrittenText<'_>, redactor: &Redactor) -> Replacement {
    Replacement {
        text: if written.is_predicted {
            ReportText::own("a summary of predicted size")
        } else {
            redactor.start_of(written.text, MAX_CHARS)
        },
        tokens: written.tokens,
    }
}

/// Returns the largest messages, in order of the session.
fn items(
    case: &Case,
    mut messages: Vec<(usize, Tokens)>,
    redactor: &mut Redactor,
) -> Vec<ReportMessage> {
    messages.sort_by_key(|(message, tokens)| (std::cmp::Reverse(*tokens), *message));
    messages.truncate(MAX_ITEMS);
    messages.sort_unstable_by_key(|(message, _)| *message);
    let items = messages.into_iter();
    items.map(|(message, tokens)| item(case, message, tokens, redactor)).collect()
}
