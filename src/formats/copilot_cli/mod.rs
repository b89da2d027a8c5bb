//! GitHub Copilot CLI's `events.jsonl`: what happened, one event a line.
//!
//! - The context is made of the system's, the people's and the model's messages and of what tools gave back; the rest is
//!   for the screen. What was sent of a person's words is their `transformedContent`.
//! - What a sub-agent did names the call that started it: it is a conversation of its own.
//! - A compaction stands between its start and its end; what was said meanwhile is kept. A truncation says how many
//!   messages went, not which.
//! - A rewind takes back what followed an event.
//! - The size of the context is recorded where a compaction begins, before the call that follows, and where the program
//!   ends, with the last answer in it. The model of a call may be named by the tools that ran for it alone.

mod event;
mod reader;

use super::jsonl::map_records;
use super::{RecordedData, Format, Input, Parsed, Probe, ParseError, json};
use crate::progress::Progress;
use event::Event;

/// The row of the table.
pub(super) const FORMAT: Format = Format {
    name: "copilot_cli",
    label: "GitHub Copilot CLI events",
    detect,
    in_pieces: false,
    parse,
    export: None,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
        RecordedData::SubAgents,
    ],
    kept: None,
    resume: None,
};

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let is_event = |v: &serde_json::Value| {
        let kind = json::str_at(v, &["type"]).unwrap_or_default();
        kind.contains('.')
            && v.get("data").is_some_and(serde_json::Value::is_object)
            && v.get("timestamp").is_some()
    };
    let kinds = [
        "session.start",
        "session.resume",
        "user.message",
        "assistant.message",
    ];
    let n = records.iter().filter(|r| is_event(&r.value)).count();
    let is_its = records
        .iter()
        .any(|r| json::str_at(&r.value, &["type"]).is_some_and(|kind| kinds.contains(&kind)));
    (is_its && n * 5 >= records.len() * 4)
        .then(|| "events with a dotted `type`, `data` and a `timestamp`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut warnings = Vec::new();
    let events = map_records(&input.bytes, progress, 1, &mut warnings, Event::read)?;
    reader::read(input, events, progress, warnings)
}
