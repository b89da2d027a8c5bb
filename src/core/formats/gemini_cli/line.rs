//! Parses the lines of JSON Lines: messages, and changes to earlier ones.

use super::record::GeminiRecord;
use crate::formats::mark::MARK;
use crate::formats::{json, jsonl, mark};
use crate::json::Value;
use crate::session::{Calibration, Span};

/// Content of a line.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all lines are messages")]
pub(super) enum GeminiLine {
    /// A message, which replaces an earlier one with the same id.
    Message(GeminiRecord),
    /// A new history.
    History(Vec<GeminiRecord>),
    /// A rewind to before the message with this id.
    Rewind(Box<str>, Span),
    /// The end of a managed conversation, with its calibration.
    Managed(Option<Calibration>),
    /// Session data, with the summary that serves as title, if any.
    Head(Option<Box<str>>),
    /// A line of an unknown type.
    Unknown(Span),
}

impl GeminiLine {
    /// Returns session data.
    pub(super) fn head(value: &Value) -> Self {
        Self::Head(json::str_at(value, &["summary"]).map(Into::into))
    }

    /// Returns the line's kind, as named in the import report.
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Message(record) => &record.kind,
            Self::History(_) => "$set messages",
            Self::Rewind(..) => "$rewindTo",
            Self::Head(_) | Self::Managed(_) => "session data",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Returns the history that a line sets.
pub(super) fn history(value: &Value) -> Option<&Vec<Value>> {
    json::at(value, &["$set", "messages"])?.as_array()
}

/// Parses a line.
pub(super) fn read(bytes: &[u8], record: jsonl::Record) -> GeminiLine {
    let value = &record.value;
    if let Some(id) = json::str_at(value, &["$rewindTo"]) {
        return GeminiLine::Rewind(id.into(), record.span);
    }
    if let Some(list) = history(value).filter(|list| !list.is_empty()) {
        // The elements are within this line.
        let place = json::member(bytes, &record.span, "$set")
            .and_then(|set| json::member(bytes, &set, "messages"))
            .and_then(|list| json::elements(bytes, &list))
            .unwrap_or_default();
        let records = list.iter().zip(place).map(|(value, span)| GeminiRecord::read(value, span));
        return GeminiLine::History(records.collect());
    }
    if json::is_true(value, &["$set", MARK, "managed"]) {
        let mark = json::at(value, &["$set", MARK]);
        return GeminiLine::Managed(mark.and_then(mark::calibration));
    }
    if let Some(set) = value.get("$set") {
        return GeminiLine::head(set);
    }
    if json::str_at(value, &["id"]).is_some() && value.get("type").is_some() {
        return GeminiLine::Message(GeminiRecord::read(value, record.span));
    }
    if json::str_at(value, &["sessionId"]).is_some() {
        return GeminiLine::head(value);
    }
    GeminiLine::Unknown(record.span)
}
