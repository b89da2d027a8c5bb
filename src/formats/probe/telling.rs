//! JSON of other programs, told by its keys, so that a refusal can name it.

use serde_json::{Map, Value};

/// Keys by which a kind of JSON is told.
#[derive(Debug)]
pub(super) struct Telling {
    /// What it is, for a sentence.
    pub label: &'static str,
    /// An agent's session, rather than something of no interest to us.
    pub is_session: bool,
    /// One object has all of these.
    keys: &'static [&'static str],
    /// And its `type` is this, if anything.
    kind: &'static str,
}

impl Telling {
    /// Whether it tells that of this object.
    pub(super) fn fits(&self, object: &Map<String, Value>) -> bool {
        let kind = object.get("type").and_then(Value::as_str);
        (self.kind.is_empty() || kind == Some(self.kind))
            && self.keys.iter().all(|key| object.contains_key(*key))
    }
}

const fn session(
    label: &'static str,
    keys: &'static [&'static str],
    kind: &'static str,
) -> Telling {
    Telling {
        label,
        is_session: true,
        keys,
        kind,
    }
}

const fn other(label: &'static str, keys: &'static [&'static str]) -> Telling {
    Telling {
        label,
        is_session: false,
        keys,
        kind: "",
    }
}

/// The first that fits counts.
pub(super) static TELLING: &[Telling] = &[
    session(
        "a Cline task's screen messages",
        &["ts", "type", "say"],
        "say",
    ),
    other("an OpenTelemetry trace", &["resourceSpans"]),
    other("an OpenTelemetry trace", &["batches"]),
    other("records of `go test -json`", &["Time", "Action", "Package"]),
    other("a Jupyter notebook", &["cells", "nbformat"]),
];
