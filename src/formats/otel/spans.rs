//! The spans of a file, wherever they stand in it.

use super::attributes::Attributes;
use crate::formats::notes::Notes;
use crate::formats::{ParseError, Warning, content, json, jsonl};
use crate::progress::Progress;
use crate::session;
use crate::units::Millis;
use serde_json::Value;

/// One span.
#[derive(Debug)]
pub(super) struct Span {
    /// Its bytes.
    pub(super) place: session::Span,
    /// Its name.
    pub(super) name: String,
    /// Of the trace that it belongs to.
    pub(super) trace: String,
    /// Its id in the file; empty where it has none.
    pub(super) id: Box<str>,
    /// Id of the span that it is nested in.
    pub(super) parent: Option<Box<str>>,
    /// Kind of the span, by the convention of `OpenInference` or `OpenLLMetry`.
    pub(super) kind: Option<String>,
    /// When it began.
    pub(super) start: Option<Millis>,
    /// Its attributes.
    pub(super) attributes: Attributes,
    /// Its events, each with its attributes.
    pub(super) events: Vec<(String, Attributes)>,
}

/// Where lists of spans stand.
const LISTS: [&str; 7] = [
    "resourceSpans",
    "batches",
    "scopeSpans",
    "instrumentationLibrarySpans",
    "spans",
    "data",
    "traces",
];
/// How a name begins that only calls of models have.
const TELLING: [&str; 6] = [
    "gen_ai.",
    "llm.input_messages",
    "llm.output_messages",
    "openinference.",
    "traceloop.",
    "ai.prompt",
];
/// How deep lists of spans stand in one another.
const DEEPEST: usize = 10;

/// The name of an attribute that tells of calls of models.
pub(super) fn telling(value: &Value) -> Option<String> {
    telling_within(value, DEEPEST)
}

fn telling_within(value: &Value, deep: usize) -> Option<String> {
    if deep == 0 {
        return None;
    }
    if let Some(list) = value.as_array() {
        return list.iter().find_map(|v| telling_within(v, deep - 1));
    }
    if is_span(value) {
        let attributes = Attributes::read(value.get("attributes"));
        let names = attributes
            .names()
            .find(|name| TELLING.iter().any(|start| name.starts_with(start)));
        return names.map(str::to_owned);
    }
    LISTS
        .iter()
        .find_map(|key| telling_within(value.get(key)?, deep - 1))
}

fn is_span(value: &Value) -> bool {
    value.get("attributes").is_some() && value.get("name").is_some_and(Value::is_string)
}

/// All spans of a file.
pub(super) fn all(
    bytes: &[u8],
    progress: &Progress,
    notes: &mut Notes,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Span>, ParseError> {
    let whole = json::document_span(bytes);
    let mut found = Vec::new();
    if json::is_one_value(&bytes[whole.clone()]) {
        below(bytes, &whole, DEEPEST, notes, &mut found);
    } else {
        let places = jsonl::map_records(bytes, progress, 1, warnings, |r| r.span)?;
        for place in places {
            progress.go_on()?;
            below(bytes, &place, DEEPEST, notes, &mut found);
        }
    }
    Ok(found)
}

fn below(
    bytes: &[u8],
    place: &session::Span,
    deep: usize,
    notes: &mut Notes,
    found: &mut Vec<Span>,
) {
    if deep == 0 {
        return;
    }
    if let Some(elements) = json::elements(bytes, place) {
        for element in elements {
            below(bytes, &element, deep - 1, notes, found);
        }
        return;
    }
    let lists: Vec<session::Span> = json::members(bytes, place)
        .unwrap_or_default()
        .into_iter()
        .filter(|(key, value)| LISTS.contains(&&**key) && bytes.get(value.start) == Some(&b'['))
        .map(|(_, value)| value)
        .collect();
    if !lists.is_empty() {
        for list in lists {
            below(bytes, &list, deep - 1, notes, found);
        }
        return;
    }
    match json::parse_span(bytes, place) {
        Some(value) if is_span(&value) => found.push(Span::read(&value, place.clone())),
        Some(_) => {}
        None => notes.add(place.start, "this record nests too deep to be read"),
    }
}

impl Span {
    fn read(value: &Value, place: session::Span) -> Self {
        let events = value.get("events").and_then(Value::as_array);
        let event = |event: &Value| {
            let name = json::str_at(event, &["name"]).unwrap_or_default();
            // Some exporters keep what an event says in its body.
            let body = Attributes::read(event.get("body"));
            (
                name.to_owned(),
                body.and(Attributes::read(event.get("attributes"))),
            )
        };
        let trace = content::first(value, &["traceId", "trace_id"])
            .or_else(|| json::at(value, &["context", "trace_id"]));
        let trace: String = trace.map(content::text_or_json).unwrap_or_default().into();
        let attributes = Attributes::read(value.get("attributes"));
        let kind = attributes
            .text(&["openinference.span.kind", "traceloop.span.kind"])
            .or_else(|| json::str_at(value, &["span_kind"]));
        let id = |paths: [&[&str]; 3]| {
            let found = paths.iter().find_map(|path| json::at(value, path));
            let id = content::text_or_json(found?);
            let is_set = id.contains(|c: char| c.is_alphanumeric() && c != '0');
            // Another trace may number its spans alike.
            is_set.then(|| format!("{trace}/{id}").into_boxed_str())
        };
        let start = content::first(
            value,
            &[
                "startTimeUnixNano",
                "start_time_unix_nano",
                "startTime",
                "start_time",
            ],
        );
        Self {
            name: json::str_at(value, &["name"])
                .unwrap_or_default()
                .to_owned(),
            id: id([&["spanId"], &["span_id"], &["context", "span_id"]]).unwrap_or_default(),
            parent: id([&["parentSpanId"], &["parent_id"], &["parent", "span_id"]])
                .or_else(|| id([&["parent_span_id"], &["parentId"], &["parent", "spanId"]])),
            kind: kind.map(str::to_owned),
            trace,
            start: start.and_then(when),
            attributes,
            events: events.into_iter().flatten().map(event).collect(),
            place,
        }
    }

    /// Its kind for the import report.
    pub(super) fn label(&self) -> String {
        let operation = self.attributes.text(&["gen_ai.operation.name"]);
        let kind = operation.or(self.kind.as_deref()).unwrap_or("other");
        format!("span/{}", json::quoted(kind))
    }
}

/// Nanoseconds since 1970, as a number or a text, or a time as everybody writes it.
fn when(value: &Value) -> Option<Millis> {
    let nanos = value
        .as_str()
        .and_then(|text| text.parse::<u64>().ok())
        .or_else(|| value.as_u64());
    match nanos.filter(|n| *n > 100_000_000_000_000_000) {
        Some(nanos) => Some(Millis(i64::try_from(nanos / 1_000_000).ok()?)),
        None => crate::formats::time::millis(value),
    }
}
