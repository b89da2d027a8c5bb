//! What was taken out, line by line: original bytes, place, hash, and by which stage and why.

use super::hash::sha256;
use super::pieces::Piece;
use crate::engine::{Case, Context, EntryBody, Event, PartStatus};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// One stretch of the source that the managed file does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::exec) struct Removed {
    /// Where it begins in the source, in bytes.
    pub(in crate::exec) start: usize,
    /// Its length in bytes.
    pub(in crate::exec) length: usize,
    /// Hash of its bytes.
    pub(in crate::exec) sha256: String,
    /// Messages in it, from 1; none for what stands between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::exec) messages: Vec<usize>,
    /// `dropped`, `summarized`, `edited`, `rewritten` (kept, but not to the byte), or `layout` between messages.
    pub(in crate::exec) fate: String,
    /// The stage that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::exec) stage: Option<String>,
    /// The call before which it did, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::exec) step: Option<usize>,
    /// Why: the trigger as the policy writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::exec) why: Option<String>,
    /// The bytes, where they are Unicode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::exec) text: Option<String>,
    /// The bytes in base64, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::exec) base64: Option<String>,
}

impl Removed {
    /// Its bytes, if they are what the hash says.
    pub(super) fn into_bytes(self) -> Option<Vec<u8>> {
        let bytes = match (self.text, self.base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(coded)) => STANDARD.decode(coded).ok()?,
            (None, None) => return None,
        };
        (sha256(&bytes) == self.sha256).then_some(bytes)
    }
}

/// What became of a message, and by which event.
#[derive(Clone, Copy)]
struct Fated {
    fate: &'static str,
    event: Option<u32>,
}

/// Describes the pieces that the managed file lacks, in order, each when it is asked for: together they are larger than
/// the source.
pub(super) fn removed<'a>(
    case: &'a Case,
    context: &Context,
    events: &'a [Event],
    pieces: &'a [Piece],
) -> impl Iterator<Item = Removed> + 'a {
    let bytes = case.session.source.bytes.whole();
    let fates = fates(case, context);
    let mut starts: Vec<(usize, usize)> = Vec::new();
    for (idx, message) in case.session.messages.iter().enumerate() {
        starts.extend(message.raw.iter().map(|span| (span.start, idx)));
    }
    starts.sort_unstable();
    let gone = pieces.iter().filter(|piece| piece.managed.is_none());
    gone.map(move |piece| {
        let from = starts.partition_point(|(start, _)| *start < piece.span.start);
        let within = starts[from..]
            .iter()
            .take_while(|(start, _)| *start < piece.span.end);
        let mut messages: Vec<usize> = within.map(|(_, message)| *message).collect();
        messages.dedup();
        let became = messages.first().map(|message| fates[*message]);
        let event = became.and_then(|became| events.get(became.event? as usize));
        let bytes = &bytes[piece.span.clone()];
        let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
        Removed {
            start: piece.span.start,
            length: piece.span.len(),
            sha256: sha256(bytes),
            messages: messages.iter().map(|message| message + 1).collect(),
            fate: became.map_or("layout", |became| became.fate).to_owned(),
            stage: event.map(|event| event.stage.clone()),
            step: event.map(|event| event.step + 1),
            why: event.map(|event| event.cause.when.clone()),
            base64: text.is_none().then(|| STANDARD.encode(bytes)),
            text,
        }
    })
}

/// What became of every message, with the event that did it.
fn fates(case: &Case, context: &Context) -> Vec<Fated> {
    let absent = Fated {
        fate: "not_in_context",
        event: None,
    };
    let mut fates = vec![absent; case.session.messages.len()];
    for dropped in &context.dropped {
        for message in dropped.messages.clone() {
            fates[message as usize] = Fated {
                fate: "dropped",
                event: dropped.event,
            };
        }
    }
    for (written, _) in context.written() {
        for message in written.covers.iter().cloned().flatten() {
            fates[message as usize] = Fated {
                fate: "summarized",
                event: Some(written.event),
            };
        }
    }
    for entry in &context.entries {
        match &entry.body {
            EntryBody::Original(message) => {
                fates[*message as usize] = Fated {
                    fate: "rewritten",
                    event: None,
                };
            }
            EntryBody::Edited(edited) => {
                let event = edited
                    .parts
                    .as_slice()
                    .iter()
                    .filter_map(|fate| match fate {
                        PartStatus::Kept => None,
                        PartStatus::Cleared { marker } => {
                            Some(context.markers[*marker as usize].event)
                        }
                        PartStatus::Removed { event } => Some(*event),
                    });
                fates[edited.message as usize] = Fated {
                    fate: "edited",
                    event: event.max(),
                };
            }
            EntryBody::Written(_) => {}
        }
    }
    fates
}
