//! Signatures of JSON files of other programs, so that an error message can name them.

use crate::json::{Map, Value};

/// Keys that identify a kind of JSON file.
#[derive(Debug)]
pub(super) struct JsonSignature {
    /// Description for a sentence.
    pub label: &'static str,
    /// Whether the file is an agent's session.
    pub is_session: bool,
    /// Keys that one object must have.
    keys: &'static [&'static str],
    /// Required value of the object's `type`; empty for any.
    kind: &'static str,
}

impl JsonSignature {
    /// Returns whether an object has this signature.
    pub(super) fn matches(&self, object: &Map<String, Value>) -> bool {
        let kind = object.get("type").and_then(Value::as_str);
        (self.kind.is_empty() || kind == Some(self.kind))
            && self.keys.iter().all(|key| object.contains_key(*key))
    }
}

const fn session(
    label: &'static str,
    keys: &'static [&'static str],
    kind: &'static str,
) -> JsonSignature {
    JsonSignature { label, is_session: true, keys, kind }
}

const fn other(label: &'static str, keys: &'static [&'static str]) -> JsonSignature {
    JsonSignature { label, is_session: false, keys, kind: "" }
}

/// Known signatures; the first match wins.
pub(super) static SIGNATURES: &[JsonSignature] = &[
    session("a Cline task's screen messages", &["ts", "type", "say"], "say"),
    other("an OpenTelemetry trace", &["resourceSpans"]),
    other("an OpenTelemetry trace", &["batches"]),
    other("records of `go test -json`", &["Time", "Action", "Package"]),
    other("a Jupyter notebook", &["cells", "nbformat"]),
];
