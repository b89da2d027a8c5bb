//! Changes of a message in a lane, next to the original: the difference, or the summary that replaces it.

use super::diff::Diff;
use super::message_status::ChangeInputs;
use crate::app::lanes::lane_context::WrittenPosition;
use crate::app::lanes::rows::LaneRows;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;

/// Limits of what fits in a frame: bytes of a text, and messages of a session.
const LARGE: usize = 32 * 1024;
const MANY: usize = 1_000;
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
    /// Tokens before and after, if they differ.
    pub weights: Option<(Tokens, Tokens)>,
    /// Index of the event that made the change, in the complete run of the lane.
    pub event: Option<usize>,
    /// The changed parts.
    pub pieces: Vec<Piece>,
    /// The message that replaces it.
    pub replacement: Option<Replacement>,
}

/// A changed part.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Title of the part.
    pub title: String,
    /// Kind of the part.
    pub kind: Option<Kind>,
    /// Tokens before and after.
    pub weights: (Tokens, Tokens),
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
    pub place: WrittenPosition,
    /// Its tokens.
    pub tokens: Tokens,
    /// Its text, safe to show, or the start of it; `None` if it is unknown until it is written.
    pub text: Option<String>,
    /// The text is a prediction of the offline digest. An export writes the real text.
    pub is_predicted: bool,
    /// Number of replaced messages, and their tokens.
    pub covered: (usize, Tokens),
    /// The replaced messages.
    pub originals: Vec<Original>,
    /// Number of replaced messages that are not listed.
    pub more: usize,
}

/// A replaced message.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Its index.
    pub message: usize,
    /// Its text, safe to show, or the start of it.
    pub text: String,
    /// Number of lines that are not shown.
    pub more: usize,
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
        let until = rows.until.get(lane).and_then(Option::as_ref);
        let (context, events) = match until {
            Some(stand) => (&stand.context, &stand.events),
            None => (&run.outcome.context, &run.outcome.events),
        };
        let seen = ChangeInputs {
            document,
            runs,
            rows,
            lane,
            context,
            events,
            is_whole: until.is_none(),
        };
        match target {
            Target::Message(message) => seen.message(message),
            Target::Written(place) => seen.written(place),
        }
    }

    /// Returns whether the work may take longer than a frame.
    pub fn is_slow(document: &Document, target: Target) -> bool {
        let session = document.session();
        let bytes = |message: usize| -> usize {
            let m = session.messages.get(message);
            let parts = m.map_or(&[][..], |m| session.parts_of(m));
            parts.iter().map(|p| p.body.text().len()).sum()
        };
        let is_large = match target {
            Target::Message(message) => bytes(message) > LARGE,
            Target::Written(_) => false,
        };
        // A predicted summary replays the lane once more.
        is_large || session.messages.len() > MANY
    }
}
