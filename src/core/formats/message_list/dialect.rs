//! Differences between the formats that list messages.

use super::shape::{CHAT, Shape};
use crate::formats::content::CallMatcher;
use crate::formats::editing::Editing;
use crate::formats::json;
use crate::json::Value;
use crate::session::{CallDraft, Draft, Role};

/// Properties of one format that lists messages.
#[derive(Debug)]
pub(in crate::formats) struct Dialect {
    /// Name of the format.
    pub(in crate::formats) name: &'static str,
    /// Location of the list and the properties of a message.
    pub(in crate::formats) shape: Shape,
    /// Whether the document may be sent as a request. Elements that are not messages are then removed on any change.
    pub(in crate::formats) is_request: bool,
    /// Whether a run of assistant messages is one answer. Each run then counts as a call.
    pub(in crate::formats) answers_in_runs: bool,
    /// Returns the conversation's title from the members around the list.
    pub(in crate::formats) title: fn(&Value) -> Option<String>,
    /// Returns the messages that the body stores outside of the list, with their kinds of record.
    pub(in crate::formats) body: fn(&Value) -> Vec<(&'static str, Draft)>,
    /// Reads an element of the list, which may contain a call and its result. Returns the reason if it is not a
    /// message.
    pub(in crate::formats) messages: fn(&Value, &mut CallMatcher) -> Result<Vec<Draft>, String>,
    /// Returns the call that an element or a separately stored answer reports. The report of an element without a
    /// message belongs to the adjacent answer.
    pub(in crate::formats) call: fn(&Value) -> Option<CallDraft>,
    /// Writes the document; `None` if the format is import-only.
    pub(in crate::formats) writes: Option<Writes>,
}

impl Dialect {
    /// Defaults for the rows of formats: chat messages of an import-only format that records neither usage nor messages
    /// outside of the list. Every row sets `name` and `messages`.
    pub(in crate::formats) const READ_ONLY: Self = Self {
        name: "",
        shape: CHAT,
        is_request: false,
        answers_in_runs: false,
        title: |_| None,
        body: |_| Vec::new(),
        messages: |_, _| Ok(Vec::new()),
        call: |_| None,
        writes: None,
    };
}

/// Functions that write elements of the list.
#[derive(Debug)]
pub(in crate::formats) struct Writes {
    /// Returns the text of an element after an edit, or `None` if nothing is left of it.
    pub(in crate::formats) edit: fn(&Editing<'_>) -> Option<Vec<u8>>,
    /// Creates a message that Plimsoll adds.
    pub(in crate::formats) written: fn(Role, &str) -> Value,
    /// Creates a result of a call (its id, and the text) that Plimsoll adds; `None` if the format cannot add one.
    pub(in crate::formats) result: Option<fn(&str, &str) -> Value>,
}

/// Returns the title of a document.
pub(in crate::formats) fn title(members: &Value) -> Option<String> {
    let title = json::str_at(members, &["title"])?.trim();
    (!title.is_empty()).then(|| title.to_owned())
}
