//! `OpenHands` before its SDK: a list of actions and observations, alone or as the `history` of an evaluation.
//!
//! - An action includes the model's whole response. Parallel tool calls repeat it, as do their observations.
//! - Older events have no response. The action itself is then the tool call, and its observation names it as its cause.
//! - The first resolvers wrote flat events without ids and sources: the arguments are members of the event.
//! - A condensation names the events it removes from the view, and a summary.

mod events;
mod flat;
mod observation;

use crate::formats::read_log::ReadLog;
use crate::formats::rows::{self, Row};
use crate::formats::transcript::Transcript;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::Session;
use events::V0Reader;

pub(crate) const V0: Format = Format {
    name: "openhands",
    label: "OpenHands events",
    detect,
    parse,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
    ],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let is_many = |values: &[&Value]| {
        let n = values.iter().filter(|v| is_event(v)).count();
        // Four in five: a few events of later versions may have another form.
        !values.is_empty() && n * 5 >= values.len() * 4
    };
    let history = |v: &Value| -> bool {
        let events: Vec<&Value> = v
            .get("history")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .flat_map(|e| e.as_array().map_or(std::slice::from_ref(e), Vec::as_slice))
            .collect();
        is_many(&events)
    };
    let values: Vec<&Value> = match probe.document() {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one) => vec![one],
        None => probe.records().iter().map(|r| &r.value).collect(),
    };
    if is_many(&values) {
        return Some("events with an `action` or an `observation` and a `source`".to_owned());
    }
    (!values.is_empty() && values.iter().all(|v| history(v)))
        .then(|| "evaluations whose `history` holds events".to_owned())
}

fn is_event(value: &Value) -> bool {
    let has_text = |key| json::str_at(value, &[key]).is_some();
    (has_text("action") && (value.get("args").is_some() || flat::is_action(value)))
        || (has_text("observation")
            && (value.get("content").is_some() || value.get("extras").is_some()))
            && value.get("kind").is_none()
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let mut found: Vec<(Option<String>, Vec<Row>)> = Vec::new();
    let mut loose = Vec::new();
    for row in super::records(bytes, progress, &mut log)? {
        if row.value.get("history").is_some_and(Value::is_array) {
            let events = rows::rows_at(bytes, &row.span, &["history"], progress, &mut log.notes)?;
            let names: [&[&str]; 2] = [&["instance_id"], &["issue", "title"]];
            let name = names.iter().find_map(|path| json::str_at(&row.value, path));
            let mut events = split_pairs(bytes, events);
            flat::nest(&mut events);
            found.push((name.map(str::to_owned), events));
        } else {
            loose.push(row);
        }
    }
    if !loose.is_empty() {
        found.push((None, split_pairs(bytes, loose)));
    }
    let is_many = found.len() > 1;
    let mut sessions: Vec<Session> = Vec::with_capacity(found.len());
    for (n, (name, events)) in found.into_iter().enumerate() {
        let mut reader = V0Reader::new(Transcript::new(input, V0.name, is_many.then_some(n + 1)));
        reader.transcript.title(name.as_deref().unwrap_or_default());
        for (at, row) in events.into_iter().enumerate() {
            progress.check_cancelled()?;
            let kind = reader.event(&row, at, &mut log.notes);
            log.report.count_record(&kind.0, kind.1);
        }
        sessions.extend(reader.transcript.finish());
    }
    log.finish(input, sessions, "OpenHands events without a message")
}

/// Splits the pairs of an action and its observation that old evaluations list.
fn split_pairs(bytes: &[u8], rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter()
        .flat_map(|row| match row.value {
            Value::Array(pair) => {
                let spans = json::elements(bytes, &row.span).unwrap_or_default();
                let rows = pair.into_iter().zip(spans);
                rows.map(|(value, span)| Row { span, value }).collect()
            }
            _ => vec![row],
        })
        .collect()
}
