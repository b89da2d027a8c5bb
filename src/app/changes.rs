//! What a lane has in the place of a message, beside the original: the difference, or the summary that stands for it.

mod beside;
pub mod diff;
mod foreseen;
mod long_line;
mod seen;

use crate::app::document::Document;
use crate::app::lane_rows::{LaneRows, Place};
use crate::app::runs::Runs;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use diff::Diff;
use seen::Seen;

/// Bytes of a text, and messages of a session, that a frame has time for.
const LARGE: usize = 32 * 1024;
const MANY: usize = 1_000;
/// What is looked at in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A message of the session, by index.
    Message(usize),
    /// What the lane wrote at a place.
    Written(Place),
}

/// What a lane has in the place of something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// What became of it, as a sentence.
    pub said: String,
    /// What it weighed and weighs, where that differs.
    pub weights: Option<(Tokens, Tokens)>,
    /// Index of the event that did it in the lane's whole run.
    pub event: Option<usize>,
    /// The parts that changed.
    pub pieces: Vec<Piece>,
    /// What the lane wrote, which stands for it.
    pub beside: Option<Beside>,
}

/// A part that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What it is.
    pub title: String,
    /// What it counts as.
    pub kind: Option<Kind>,
    /// What it weighed and weighs.
    pub weights: (Tokens, Tokens),
    /// What differs; empty where it has no text.
    pub diff: Diff,
    /// What the texts do not tell.
    pub remark: Option<&'static str>,
}

/// A text that a lane wrote, beside what it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Summary or notice.
    pub kind: WrittenKind,
    /// Where it stands.
    pub place: Place,
    /// What it weighs.
    pub tokens: Tokens,
    /// Its text, safe to show, or its beginning; none where it cannot be known before it is written.
    pub text: Option<String>,
    /// The text is what the offline digest would write; at an export it is written for real.
    pub is_foreseen: bool,
    /// Messages that it stands for, and what they weighed.
    pub covered: (usize, Tokens),
    /// What it stands for.
    pub originals: Vec<Original>,
    /// How many more.
    pub more: usize,
}

/// A message that something stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Its index.
    pub message: usize,
    /// Its text, safe to show, or the beginning of it.
    pub text: String,
    /// How many lines more there are.
    pub more: usize,
}

impl Changes {
    /// What a lane has in the place of something at the step of the rows.
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
        let seen = Seen {
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

    /// Whether this may take longer than a frame has.
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
        // A lane is played once more for a summary that is to be foreseen.
        is_large || session.messages.len() > MANY
    }
}
