//! Identity of a session, read from its own file of the storage folder or from the `info` of an export.

use crate::formats::{SessionIdentity, json};
use crate::json::Value;

/// Reads the identity from the beginning of a file.
pub(super) fn read(start: &[u8]) -> Option<SessionIdentity> {
    let whole = json::document_span(start);
    let info = json::member(start, &whole, "info").unwrap_or(whole);
    let info = json::parse_span(start, &info)?;
    of_info(&info)
}

/// Reads the identity from a session's `info`.
pub(super) fn of_info(info: &Value) -> Option<SessionIdentity> {
    let field = |key: &str| json::str_at(info, &[key]).filter(|text| !text.is_empty());
    Some(SessionIdentity {
        id: field("id")?.into(),
        parent: field("parentID").map(Into::into),
        kind: None,
        name: field("title").map(Into::into),
    })
}
