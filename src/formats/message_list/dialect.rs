//! What sets the formats apart that list messages.

use super::calls::Calls;
use super::edit::Editing;
use super::shape::Shape;
use crate::session::{Draft, Role, StepDraft};
use serde_json::Value;

/// The member of a document that says that its messages were managed.
pub(in crate::formats) const MARK: &str = "plimsoll";

/// What sets the formats apart.
#[derive(Debug)]
pub(in crate::formats) struct Dialect {
    /// Name of the format.
    pub(in crate::formats) name: &'static str,
    /// Where the list stands and what tells a message.
    pub(in crate::formats) shape: Shape,
    /// The document may be sent as it is: what is no message must go where anything changes.
    pub(in crate::formats) is_request: bool,
    /// An answer is a run of messages of the model, and a call for each run is made out.
    pub(in crate::formats) answers_in_runs: bool,
    /// What the members beside the list call the conversation.
    pub(in crate::formats) title: fn(&Value) -> Option<String>,
    /// The messages that stand in the body beside the list, with the kind of record they are.
    pub(in crate::formats) body: fn(&Value) -> Vec<(&'static str, Draft)>,
    /// Reads an element of the list, which may hold a call with its result, or says why it is no message.
    pub(in crate::formats) messages: fn(&Value, &mut Calls) -> Result<Vec<Draft>, String>,
    /// The call that an element, or the answer kept beside the list, reports. An element that holds no message reports
    /// that of the answer next to it.
    pub(in crate::formats) step: fn(&Value) -> Option<StepDraft>,
    /// How a document is written again, where it can be.
    pub(in crate::formats) writes: Option<Writes>,
}

/// How elements of the list are written.
#[derive(Debug)]
pub(in crate::formats) struct Writes {
    /// The text of an element after an edit; `None` where nothing of it is left.
    pub(in crate::formats) edit: fn(&Editing<'_>) -> Option<Vec<u8>>,
    /// A message of ours.
    pub(in crate::formats) written: fn(Role, &str) -> Value,
}
