//! Changes that a lane made to a message.

use crate::app::state::changes::diff::Diff;
use crate::app::state::model::lane_context::WrittenPosition;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;

/// The selected item in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A message of the session, by index.
    Message(usize),
    /// A message that the lane wrote at a place.
    Written(WrittenPosition),
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
