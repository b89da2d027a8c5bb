//! Changes of a message in a lane, next to the original: the difference, or the summary that replaces it.

use super::diff::Diff;
use super::message_changes::ChangeInputs;
use crate::app::lanes::lane_context::WrittenPosition;
use crate::app::lanes::rows::LaneRows;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;

/// Maximum bytes of a text that is compared in a frame.
const MAX_BYTES: usize = 32 * 1024;
/// Maximum messages of a session that is replayed in a frame.
const MAX_MESSAGES: usize = 1_000;

/// The selected item in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A message of the session, by index.
    Message(usize),
    /// A message that the lane wrote at a place.
    Written(WrittenPosition),
}

/// The changes of an item in a lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// A sentence that describes the change.
    pub text: String,
    /// Its tokens, if the change affects them.
    pub tokens: Option<TokenChange>,
    /// Index of the event that made the change, in the complete run of the lane.
    pub event: Option<usize>,
    /// The changed parts.
    pub parts: Vec<ChangedPart>,
    /// The message that replaces it.
    pub replacement: Option<Replacement>,
}

/// Tokens before and after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenChange {
    /// Tokens of the original.
    pub before: Tokens,
    /// Tokens in the lane.
    pub after: Tokens,
}

/// A changed part.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedPart {
    /// Title of the part.
    pub title: String,
    /// Kind of the part.
    pub kind: Option<Kind>,
    /// Its tokens.
    pub tokens: TokenChange,
    /// The difference; empty if the part has no text.
    pub diff: Diff,
    /// Additional information that the texts do not contain.
    pub remark: Option<&'static str>,
}

/// A text that a lane wrote, and the messages it replaces.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    /// Summary or notice.
    pub kind: WrittenKind,
    /// Its position in the context.
    pub position: WrittenPosition,
    /// Its tokens.
    pub tokens: Tokens,
    /// Its text, safe to show, or the start of it; `None` if it is unknown until it is written.
    pub text: Option<String>,
    /// The text is a prediction of the offline digest. An export writes the real text.
    pub is_predicted: bool,
    /// Number of replaced messages.
    pub n_covered: usize,
    /// Tokens of the replaced messages.
    pub covered_tokens: Tokens,
    /// The replaced messages.
    pub originals: Vec<Original>,
    /// Number of replaced messages that are not listed.
    pub n_unlisted: usize,
}

/// A replaced message.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Its index.
    pub message: usize,
    /// Its text, safe to show, or the start of it.
    pub text: String,
    /// Number of lines that are not shown.
    pub n_hidden_lines: usize,
}

impl Changes {
    /// Returns the changes of an item in a lane at the call of the rows.
    pub fn new(
        document: &Document,
        runs: &Runs,
        rows: &LaneRows,
        lane: usize,
        target: Target,
    ) -> Self {
        let Some(run) = runs.lanes.get(lane) else {
            return Self::default();
        };
        let state = rows.states.get(lane).and_then(Option::as_ref);
        let (context, events) = match state {
            Some(state) => (&state.context, &state.events),
            None => (&run.outcome.context, &run.outcome.events),
        };
        let inputs =
            ChangeInputs { document, runs, rows, lane, context, events, is_whole: state.is_none() };
        match target {
            Target::Message(message) => inputs.message(message),
            Target::Written(place) => inputs.written(place),
        }
    }

    /// Returns whether the work may take longer than a frame.
    pub fn is_slow(document: &Document, target: Target) -> bool {
        let session = document.session();
        let bytes = |message: usize| -> usize {
            let message = session.messages.get(message);
            let parts = message.map_or(&[][..], |message| session.parts_of(message));
            parts.iter().map(|part| part.body.text().len()).sum()
        };
        let is_large = match target {
            Target::Message(message) => bytes(message) > MAX_BYTES,
            Target::Written(_) => false,
        };
        // A predicted summary replays the lane once more.
        is_large || session.messages.len() > MAX_MESSAGES
    }
}
