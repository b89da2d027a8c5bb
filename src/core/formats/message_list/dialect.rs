//! Differences between the formats that list messages.

use super::shape::{CHAT, Shape};
use crate::formats::content::CallMatcher;
use crate::formats::editing::Editing;
use crate::formats::json;
use crate::json::Value;
use crate::session::{CallDraft, Draft, Role};

/// Properties of one format that lists messages.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Name of the format.
    pub(crate) name: &'static str,
    /// Location of the list and the properties of a message.
    pub(crate) shape: Shape,
    /// Whether the document may be sent as a request. Elements that are not messages are then removed on any change.
    pub(crate) is_request: bool,
    /// Whether a run of assistant messages is one answer. Each run then counts as a call.
    pub(crate) answers_in_runs: bool,
    /// Returns the conversation's title from the members around the list.
    pub(crate) title: fn(&Value) -> Option<String>,
    /// Returns the messages that the body stores outside of the list, with their kinds of record.
    pub(crate) body: fn(&Value) -> Vec<(&'static str, Draft)>,
    /// Reads an element of the list, which may contain a call and its result. Returns the reason if it is not a
    /// message.
    pub(crate) messages: fn(&Value, &mut CallMatcher) -> Result<Vec<Draft>, String>,
    /// Returns a warning about data of an element that is not sent or cannot be assigned to a call.
    pub(crate) note: fn(&Value) -> Option<&'static str>,
    /// Returns the call that an element or a separately stored answer reports. The report of an element without a
    /// message belongs to the adjacent answer.
    pub(crate) call: fn(&Value) -> Option<CallDraft>,
    /// Writes the document; `None` if the format is import-only.
    pub(crate) writes: Option<Writes>,
}

impl Dialect {
    /// Defaults for the rows of formats: chat messages of an import-only format that records neither usage nor messages
    /// outside of the list. Every row sets `name` and `messages`.
    pub(crate) const READ_ONLY: Self = Self {
        name: "",
        shape: CHAT,
        is_request: false,
        answers_in_runs: false,
        title: |_| None,
        body: |_| Vec::new(),
        messages: |_, _| Ok(Vec::new()),
        note: |_| None,
        call: |_| None,
        writes: None,
    };
}

/// Functions that write elements of the list.
#[derive(Debug)]
pub(crate) struct Writes {
    /// Returns the text of an element after an edit, or `None` if nothing is left of it.
    pub(crate) edit: fn(&Editing<'_>) -> Option<Vec<u8>>,
    /// Creates a message that Plimsoll adds.
    pub(crate) written: fn(Role, &str) -> Value,
    /// Creates a result of a call (its id, and the text) that Plimsoll adds; `None` if the format cannot add one.
    pub(crate) result: Option<fn(&str, &str) -> Value>,
}

/// Returns the title of a document.
pub(crate) fn title(members: &Value) -> Option<String> {
    let title = json::str_at(members, &["title"])?.trim();
    (!title.is_empty()).then(|| title.to_owned())
}
