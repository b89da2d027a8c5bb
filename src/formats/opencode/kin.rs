//! Who a session says it is: in its own file of the storage folder, or in the `info` of an export.

use crate::formats::{SessionIdentity, json};
use serde_json::Value;

/// What the head says.
pub(in crate::formats) fn identity(start: &[u8]) -> Option<SessionIdentity> {
    let whole = json::document_span(start);
    let info = json::member(start, &whole, "info").unwrap_or(whole);
    let info = json::parse_span(start, &info)?;
    of(&info)
}

/// What a session's own data says.
pub(super) fn of(info: &Value) -> Option<SessionIdentity> {
    let says = |key: &str| json::str_at(info, &[key]).filter(|said| !said.is_empty());
    Some(SessionIdentity {
        id: says("id")?.into(),
        parent: says("parentID").map(Into::into),
        kind: None,
        name: says("title").map(Into::into),
    })
}
