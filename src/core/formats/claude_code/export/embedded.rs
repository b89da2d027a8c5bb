//! Converts sub-agent records inside `progress` records to complete records, adding members of the outer record.

use super::{COPIED, instructions};
use crate::formats::json;
use crate::json::{Map, Value};
use crate::session::{Session, Span};
use std::borrow::Cow;

/// Last of the members that are added before the record's own.
const LAST: &str = "fromProgress";

/// Returns the record at a byte range of the source, completed with missing members. `text` is its edited text.
pub(super) fn completed<'a>(session: &Session, span: &Span, text: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    let Some(own) = added(session, span) else {
        return text;
    };
    let own = Value::Object(own).to_string();
    let head = own.trim_end_matches('}').as_bytes();
    Cow::Owned([head, b",", &text[1..]].concat())
}

/// Returns the byte ranges of a record that a managed conversation keeps: the original members except the parent's id,
/// which changes after a new record.
pub(crate) fn kept(record: &[u8]) -> Vec<Span> {
    let whole = 0..record.len();
    let has = |key: &str| json::member(record, &whole, key);
    // These may become new records.
    let is_blob = has("type").is_some_and(|kind| record[kind] == *b"\"api-request-blob\"");
    if has("rendered").is_some() || is_blob || instructions::is_record(record) {
        return Vec::new();
    }
    let start = match has(LAST) {
        // After the value and its comma.
        Some(value) => value.end + 1,
        None if has("sessionId").is_none() && record.starts_with(b"{") => 1,
        None => 0,
    };
    match has("parentUuid").filter(|parent| parent.start >= start) {
        Some(parent) => vec![start..parent.start, parent.end..record.len()],
        None => std::iter::once(start..record.len()).collect(),
    }
}

/// Returns the members that a record inside another one lacks, or `None` for any other record.
fn added(session: &Session, span: &Span) -> Option<Map<String, Value>> {
    let bytes: &[u8] = &session.source.bytes.whole();
    let is_end = |byte: &u8| *byte == b'\n';
    let start = bytes[..span.start].iter().rposition(is_end).map_or(0, |at| at + 1);
    if bytes[start..span.start].trim_ascii_start().is_empty() {
        return None;
    }
    let end = bytes[span.end..].iter().position(is_end);
    let end = end.map_or(bytes.len(), |at| span.end + at);
    let around = json::parse_lenient(bytes[start..end].trim_ascii()).ok()?;
    let agent = json::str_at(&around, &["data", "agentId"])?;
    let record = json::parse_span(bytes, span)?;
    let mut own = Map::new();
    own.insert("parentUuid".into(), Value::Null);
    own.insert("isSidechain".into(), true.into());
    own.insert("agentId".into(), agent.into());
    for key in COPIED.iter().filter(|key| record.get(**key).is_none()) {
        if let Some(value) = around.get(*key).filter(|_| !own.contains_key(*key)) {
            own.insert((*key).into(), value.clone());
        }
    }
    own.insert(LAST.into(), true.into());
    Some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_kept_ranges_before_and_after_completion() {
        let inner = r#"{"type":"user","uuid":"e"}"#;
        let made =
            r#"{"parentUuid":null,"sessionId":"s","fromProgress":true,"type":"user","uuid":"e"}"#;
        let text = |record: &str| {
            let kept = kept(record.as_bytes()).into_iter();
            kept.map(|span| &record[span]).collect::<String>()
        };
        assert_eq!(text(inner), r#""type":"user","uuid":"e"}"#);
        assert_eq!(text(made), text(inner));
        let whole = r#"{"sessionId":"s","type":"user"}"#;
        assert_eq!(text(whole), whole);
        let child = r#"{"sessionId":"s","parentUuid":"p","type":"user"}"#;
        assert_eq!(text(child), text(&child.replace("\"p\"", "null")));
        assert_ne!(text(child), text(&child.replace("user", "assistant")));
    }
}
