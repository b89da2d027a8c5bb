//! Collects the spans of a file.

use super::attributes::Attributes;
use crate::formats::notes::Notes;
use crate::formats::{ParseError, Warning, content, json, jsonl};
use crate::json::{Map, Value};
use crate::progress::Progress;
use crate::session;
use crate::units::Millis;

/// One span.
#[derive(Debug)]
pub(super) struct Span {
    /// Byte span in the file.
    pub(super) bytes: session::Span,
    /// Name.
    pub(super) name: String,
    /// Id of its trace.
    pub(super) trace: String,
    /// Id, including the id of the trace; empty if missing.
    pub(super) id: Box<str>,
    /// Id of the enclosing span.
    pub(super) parent: Option<Box<str>>,
    /// Kind of the span in the convention of `OpenInference` or `OpenLLMetry`.
    pub(super) kind: Option<String>,
    /// Start time.
    pub(super) start: Option<Millis>,
    /// Attributes.
    pub(super) attributes: Attributes,
    /// Events, each with its name and attributes.
    pub(super) events: Vec<(String, Attributes)>,
}

/// Members that hold lists of spans.
const LISTS: [&str; 7] = [
    "resourceSpans",
    "batches",
    "scopeSpans",
    "instrumentationLibrarySpans",
    "spans",
    "data",
    "traces",
];
/// Prefixes of attribute names that only model calls have.
const CALL_PREFIXES: [&str; 6] = [
    "gen_ai.",
    "llm.input_messages",
    "llm.output_messages",
    "openinference.",
    "traceloop.",
    "ai.prompt",
];
/// Maximum nesting depth of lists of spans.
// Chosen: OTLP takes six, an object and a list each for `resourceSpans`, `scopeSpans` and `spans`. Exporters add one or
// two.
const MAX_DEPTH: usize = 10;

/// Returns the name of an attribute that identifies spans of model calls.
pub(super) fn identifying_attribute(value: &Value) -> Option<String> {
    identifying_attribute_within(value, MAX_DEPTH)
}

fn identifying_attribute_within(value: &Value, depth: usize) -> Option<String> {
    if depth == 0 {
        return None;
    }
    if let Some(list) = value.as_array() {
        return list.iter().find_map(|v| identifying_attribute_within(v, depth - 1));
    }
    if let Some(span) = of_row(value) {
        return identifying_attribute_within(&span, depth - 1);
    }
    if is_span(value) {
        let attributes = Attributes::read(value.get("attributes"));
        let names = attributes
            .names()
            .find(|name| CALL_PREFIXES.iter().any(|start| name.starts_with(start)));
        return names.map(str::to_owned);
    }
    LISTS.iter().find_map(|key| identifying_attribute_within(value.get(key)?, depth - 1))
}

fn is_span(value: &Value) -> bool {
    value.get("attributes").is_some() && value.get("name").is_some_and(Value::is_string)
}

/// Converts a row of Phoenix's data frame, whose columns are named `attributes.NAME` and `context.span_id`, to a span.
fn of_row(value: &Value) -> Option<Value> {
    let row = value.as_object()?;
    if row.contains_key("attributes") || !row.keys().any(|key| key.starts_with("attributes.")) {
        return None;
    }
    let mut span = Map::new();
    for prefix in ["attributes", "context"] {
        let inner = row.iter().filter_map(|(key, value)| {
            let name = key.strip_prefix(prefix)?.strip_prefix('.')?;
            Some((name.to_owned(), value.clone()))
        });
        span.insert(prefix.to_owned(), Value::Object(inner.collect()));
    }
    let others = row.iter().filter(|(key, _)| !key.contains('.'));
    span.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    Some(span.into())
}

/// Collects all spans of a file.
pub(super) fn all(
    bytes: &[u8],
    progress: &Progress,
    notes: &mut Notes,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Span>, ParseError> {
    let whole = json::document_span(bytes);
    let mut found = Vec::new();
    if json::is_one_value(&bytes[whole.clone()]) {
        collect_spans(bytes, &whole, MAX_DEPTH, notes, &mut found);
    } else {
        let records = jsonl::map_records(bytes, progress, 1, warnings, |r| r.span)?;
        for record in records {
            progress.check_cancelled()?;
            collect_spans(bytes, &record, MAX_DEPTH, notes, &mut found);
        }
    }
    Ok(found)
}

fn collect_spans(
    bytes: &[u8],
    span: &session::Span,
    depth: usize,
    notes: &mut Notes,
    found: &mut Vec<Span>,
) {
    if depth == 0 {
        return;
    }
    if let Some(elements) = json::elements(bytes, span) {
        for element in elements {
            collect_spans(bytes, &element, depth - 1, notes, found);
        }
        return;
    }
    let lists: Vec<session::Span> = json::members(bytes, span)
        .unwrap_or_default()
        .into_iter()
        .filter(|(key, value)| LISTS.contains(&&**key) && bytes.get(value.start) == Some(&b'['))
        .map(|(_, value)| value)
        .collect();
    if !lists.is_empty() {
        for list in lists {
            collect_spans(bytes, &list, depth - 1, notes, found);
        }
        return;
    }
    match json::parse_span(bytes, span) {
        Some(value) => {
            let value = of_row(&value).unwrap_or(value);
            if is_span(&value) {
                found.push(Span::read(&value, span.clone()));
            }
        }
        None => notes.add(span.start, "this record is nested too deeply to be read"),
    }
}

impl Span {
    fn read(value: &Value, span: session::Span) -> Self {
        let events = value.get("events").and_then(Value::as_array);
        let event = |event: &Value| {
            let name = json::str_at(event, &["name"]).unwrap_or_default();
            // Some exporters store the attributes of an event in its body.
            let body = Attributes::read(event.get("body"));
            (name.to_owned(), body.merged(Attributes::read(event.get("attributes"))))
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
            // Span ids may repeat in another trace.
            is_set.then(|| format!("{trace}/{id}").into_boxed_str())
        };
        let start = content::first(
            value,
            &["startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time"],
        );
        Self {
            name: json::str_at(value, &["name"]).unwrap_or_default().to_owned(),
            id: id([&["spanId"], &["span_id"], &["context", "span_id"]]).unwrap_or_default(),
            parent: id([&["parentSpanId"], &["parent_id"], &["parent", "span_id"]])
                .or_else(|| id([&["parent_span_id"], &["parentId"], &["parent", "spanId"]])),
            kind: kind.map(str::to_owned),
            trace,
            start: start.and_then(when),
            attributes,
            events: events.into_iter().flatten().map(event).collect(),
            bytes: span,
        }
    }

    /// Returns the kind of the span for the import report.
    pub(super) fn label(&self) -> String {
        let operation = self.attributes.text(&["gen_ai.operation.name"]);
        let kind = operation.or(self.kind.as_deref()).unwrap_or("other");
        format!("span/{}", json::shortened(kind))
    }
}

/// Parses a time: nanoseconds since 1970 as a number or a string, or any common format.
fn when(value: &Value) -> Option<Millis> {
    let nanos = value.as_str().and_then(|text| text.parse::<u64>().ok()).or_else(|| value.as_u64());
    // 1e17 nanoseconds are the year 1973. As microseconds they would be the year 5138.
    match nanos.filter(|n| *n > 100_000_000_000_000_000) {
        Some(nanos) => Some(Millis(i64::try_from(nanos / 1_000_000).ok()?)),
        None => crate::formats::json::millis(value),
    }
}
