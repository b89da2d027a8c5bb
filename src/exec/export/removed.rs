//! Records that the managed file lacks, one per line of the sidecar: original bytes, position, hash, and the stage that
//! removed them.

use super::pieces::SourcePiece;
use crate::engine::{Case, Context, EntryBody, Event, PartStatus};
use crate::exec::files::sha256;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// A piece of the source that the managed file lacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemovedRecord {
    /// Offset in the source in bytes.
    pub(crate) start: usize,
    /// Length in bytes.
    pub(crate) length: usize,
    /// SHA-256 hash of the bytes.
    pub(crate) sha256: String,
    /// Numbers of the messages in it, from 1; none for bytes between messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<usize>,
    /// `dropped`, `summarized`, `edited`, `rewritten` (kept, but not byte for byte), `not_in_context`, or `layout` between
    /// messages.
    #[serde(alias = "fate")]
    pub(crate) state: String,
    /// The stage that removed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stage: Option<String>,
    /// Number of the call before which the stage ran, from 1.
    #[serde(default, alias = "step", skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<usize>,
    /// The stage's trigger as written in the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The bytes, if they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The bytes in base64, if they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base64: Option<String>,
}

impl RemovedRecord {
    /// Returns the bytes, or `None` if they do not match the hash.
    pub(super) fn into_bytes(self) -> Option<Vec<u8>> {
        let bytes = match (self.text, self.base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(coded)) => STANDARD.decode(coded).ok()?,
            (None, None) => return None,
        };
        (sha256(&bytes) == self.sha256).then_some(bytes)
    }
}

/// The state of a message in the final context, and the event that caused it.
#[derive(Clone, Copy)]
struct MessageState {
    state: &'static str,
    event: Option<u32>,
}

/// Describes the pieces that the managed file lacks, in order. The iterator is lazy, since all of them together are larger than
/// the source.
pub(super) fn removed<'a>(
    case: &'a Case,
    context: &Context,
    events: &'a [Event],
    pieces: &'a [SourcePiece],
) -> impl Iterator<Item = RemovedRecord> + 'a {
    let bytes = case.session.source.bytes.whole();
    let states = states(case, context);
    let mut starts: Vec<(usize, usize)> = Vec::new();
    for (idx, message) in case.session.messages.iter().enumerate() {
        starts.extend(message.raw.iter().map(|span| (span.start, idx)));
    }
    starts.sort_unstable();
    let missing = pieces.iter().filter(|piece| piece.managed.is_none());
    missing.map(move |piece| {
        let from = starts.partition_point(|(start, _)| *start < piece.span.start);
        let within = starts[from..].iter().take_while(|(start, _)| *start < piece.span.end);
        let mut messages: Vec<usize> = within.map(|(_, message)| *message).collect();
        messages.dedup();
        let state = messages.first().map(|message| states[*message]);
        let event = state.and_then(|state| events.get(state.event? as usize));
        let bytes = &bytes[piece.span.clone()];
        let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
        RemovedRecord {
            start: piece.span.start,
            length: piece.span.len(),
            sha256: sha256(bytes),
            messages: messages.iter().map(|message| message + 1).collect(),
            state: state.map_or("layout", |state| state.state).to_owned(),
            stage: event.map(|event| event.stage.clone()),
            call: event.map(|event| event.call + 1),
            why: event.map(|event| event.cause.when.clone()),
            base64: text.is_none().then(|| STANDARD.encode(bytes)),
            text,
        }
    })
}

/// Determines the state of every message.
fn states(case: &Case, context: &Context) -> Vec<MessageState> {
    let absent = MessageState { state: "not_in_context", event: None };
    let mut states = vec![absent; case.session.messages.len()];
    for dropped in &context.dropped {
        for message in dropped.messages.clone() {
            states[message as usize] = MessageState { state: "dropped", event: dropped.event };
        }
    }
    for (written, _) in context.written() {
        for message in written.covers.iter().cloned().flatten() {
            states[message as usize] =
                MessageState { state: "summarized", event: Some(written.event) };
        }
    }
    for entry in &context.entries {
        match &entry.body {
            EntryBody::Original(message) => {
                states[*message as usize] = MessageState { state: "rewritten", event: None };
            }
            EntryBody::Edited(edited) => {
                let event = edited.parts.as_slice().iter().filter_map(|part| match part {
                    PartStatus::Kept => None,
                    PartStatus::Cleared { marker } => Some(context.markers[*marker as usize].event),
                    PartStatus::Removed { event } => Some(*event),
                });
                states[edited.message as usize] =
                    MessageState { state: "edited", event: event.max() };
            }
            EntryBody::Written(_) => {}
        }
    }
    states
}
