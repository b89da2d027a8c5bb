//! What is not in a lane's last context as it was said, by the event that took it out.

use super::build::{Played, item};
use super::shown::{Shown, Teller, What};
use super::{Item, Removal};
use crate::engine::{
    Case, Context, Edited, EntryBody, Event, Left, Marker, MessageStatus, PartStatus,
};
use crate::session::WrittenKind;
use crate::units::Tokens;
use std::collections::BTreeMap;

/// Removals listed of one lane.
const MOST: usize = 120;
/// Messages listed of one removal.
const ITEMS: usize = 40;
/// Characters shown of what stands in the place of something.
const LONGEST: usize = 160;

/// What one event did to messages, as the books have it at the end.
#[derive(Default)]
struct Taken<'a> {
    /// Index of the message and the tokens that are gone.
    messages: Vec<(usize, Tokens)>,
    instead: Option<Instead<'a>>,
}

/// What stands in the place of something.
struct Instead<'a> {
    text: &'a str,
    tokens: Tokens,
    is_predicted: bool,
}

/// By event and fate, so that the order is that of the events; first what no event of ours did.
type Books<'a> = BTreeMap<(Option<u32>, FateKey), Taken<'a>>;

/// A fate that can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FateKey {
    Dropped,
    Summarized,
    Cleared,
    Cut,
}

impl FateKey {
    fn fate(self) -> MessageStatus {
        match self {
            Self::Dropped => MessageStatus::Dropped,
            Self::Summarized => MessageStatus::Summarized,
            Self::Cleared => MessageStatus::Cleared,
            Self::Cut => MessageStatus::Cut,
        }
    }
}

/// The removals of a lane, and how many are not listed.
pub(super) fn removals(case: &Case, lane: &Played, teller: &mut Teller) -> (Vec<Removal>, usize) {
    let books = books(case, &lane.outcome.context);
    let more = books.len().saturating_sub(MOST);
    let events = &lane.outcome.events;
    let listed = books.into_iter().take(MOST);
    let removals = listed.map(|((event, key), taken)| {
        let event = event.and_then(|event| events.get(event as usize));
        removal(case, event, key.fate(), taken, teller)
    });
    (removals.collect(), more)
}

fn books<'a>(case: &Case, context: &'a Context) -> Books<'a> {
    let mut books = Books::new();
    let weight = |message: u32| (message as usize, case.ledger.message(message as usize));
    for dropped in &context.dropped {
        let key = if dropped.is_summarized {
            FateKey::Summarized
        } else {
            FateKey::Dropped
        };
        let taken = books.entry((dropped.event, key)).or_default();
        taken.messages.extend(dropped.messages.clone().map(weight));
    }
    for entry in &context.entries {
        match &entry.body {
            EntryBody::Original(_) => {}
            EntryBody::Written(written) => {
                let key = match written.kind {
                    WrittenKind::Summary => FateKey::Summarized,
                    WrittenKind::Notice => FateKey::Dropped,
                };
                let covered = written.covers.iter().cloned().flatten();
                if covered.clone().next().is_none() {
                    continue;
                }
                let taken = books.entry((Some(written.event), key)).or_default();
                taken.messages.extend(covered.map(weight));
                taken.instead = Some(Instead {
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
                let taken = books.entry((Some(event), key)).or_default();
                taken
                    .messages
                    .push((message, was - Tokens::from(entry.tokens)));
                taken.instead = marker.map(|marker| Instead {
                    text: &marker.text,
                    tokens: Tokens::from(marker.tokens),
                    is_predicted: marker.is_predicted,
                });
            }
        }
    }
    books
}

/// What did most to a message of which some parts changed: the event, what became of the message, what stands there.
fn worst<'a>(edited: &Edited, markers: &'a [Marker]) -> Option<(u32, FateKey, Option<&'a Marker>)> {
    let parts = edited.parts.as_slice().iter();
    let done = parts.filter_map(|fate| match fate {
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
        Left::Some => Some((event, FateKey::Cut, marker)),
        Left::Nothing => Some((event, FateKey::Cleared, marker)),
    }
}

fn removal(
    case: &Case,
    event: Option<&Event>,
    fate: MessageStatus,
    taken: Taken<'_>,
    teller: &mut Teller,
) -> Removal {
    let gone = taken.messages.iter().map(|(_, tokens)| *tokens).sum();
    Removal {
        fate,
        step: event.map(|e| e.step),
        stage: event.map(|e| stage_of(e, teller)),
        why: event
            .filter(|e| !e.is_manual())
            .map(|e| teller.cause(&e.cause)),
        messages: taken.messages.len(),
        gone,
        instead: taken.instead.map(|instead| shown_instead(&instead, teller)),
        items: items(case, taken.messages, teller),
    }
}

/// The stage's name, or that it was by hand.
pub(super) fn stage_of(event: &Event, teller: &mut Teller) -> Shown {
    if event.is_manual() {
        return Shown::own(Event::MANUAL);
    }
    teller.name(What::Stage, &event.stage)
}

/// Text that was only predicted is no text to show.
fn shown_instead(instead: &Instead<'_>, teller: &Teller) -> (Shown, Tokens) {
    let text = if instead.is_predicted {
        Shown::own("a summary of predicted size")
    } else {
        teller.start_of(instead.text, LONGEST)
    };
    (text, instead.tokens)
}

/// The heaviest, in their order.
fn items(case: &Case, mut messages: Vec<(usize, Tokens)>, teller: &mut Teller) -> Vec<Item> {
    messages.sort_by_key(|(message, tokens)| (std::cmp::Reverse(*tokens), *message));
    messages.truncate(ITEMS);
    messages.sort_unstable_by_key(|(message, _)| *message);
    let items = messages.into_iter();
    items
        .map(|(message, tokens)| item(case, message, tokens, teller))
        .collect()
}
