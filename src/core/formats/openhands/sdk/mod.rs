//! Events of the `OpenHands` SDK, one per line or as a list.
//!
//! - Actions that share a response form one answer of the model.
//! - Usage is recorded as totals, directly before the events of the call that increased them.
//! - A condensation names the events it removes from the view, and a summary with its position.
//!   <https://github.com/OpenHands/software-agent-sdk/tree/main/openhands-sdk/openhands/sdk/event>

mod event_content;
mod events;

use crate::formats::read_log::ReadLog;
use crate::formats::transcript::Transcript;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;
use events::SdkReader;

pub(crate) const SDK: Format = Format {
    name: "openhands_sdk",
    label: "OpenHands SDK events",
    detect,
    combine_files: Some(super::combined_events),
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
    let values: Vec<&Value> = match probe.document() {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one) => vec![one],
        None => probe.records().iter().map(|r| &r.value).collect(),
    };
    let kind = |v: &Value| json::str_at(v, &["kind"]).map(str::to_owned);
    let is_event = |v: &&&Value| {
        kind(v).is_some() && v.get("source").is_some() && v.get("timestamp").is_some()
    };
    let n = values.iter().filter(is_event).count();
    let has_event = values.iter().any(|v| {
        kind(v).is_some_and(|k| {
            k.ends_with("Event") || k == "Condensation" || k == "UserRejectObservation"
        })
    });
    (n > 0 && n * 5 >= values.len() * 4 && has_event)
        .then(|| "events with a `kind`, a `source` and a `timestamp`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let rows = super::records(bytes, progress, &mut log)?;
    let mut reader = SdkReader::new(Transcript::new(input, SDK.name, None));
    for row in rows {
        progress.check_cancelled()?;
        let kind = json::str_at(&row.value, &["kind"]).unwrap_or("other");
        let in_context = reader.event(kind, &row, &mut log.notes);
        log.report.count_record(kind, in_context);
    }
    let session = reader.transcript.finish();
    log.finish(input, session.into_iter().collect(), "OpenHands events without a message")
}
