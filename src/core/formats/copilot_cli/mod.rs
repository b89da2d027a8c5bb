//! GitHub Copilot CLI's `events.jsonl`: one event per line.
//!
//! - The context consists of system, user and assistant messages and tool results. Other events are for display. The
//!   sent text of a user message is its `transformedContent`.
//! - Events of a sub-agent name the call that started it. Each sub-agent is a separate conversation.
//! - A compaction has a start and an end event. Messages between the two are kept. A truncation records the number of
//!   removed messages, not which ones.
//! - A rewind removes all events after an event.
//! - The size of the context is recorded at the start of a compaction, before the following call, and at the end of the
//!   program, including the last answer. The model of a call may only be named by its tool results.
//! - Calls record only the tokens of their answer. The end of the program records the usage of all its requests by model,
//!   with those of sub-agents and for summaries; a resumed program counts anew. A compaction records its own request.

mod event;
mod reader;

use super::jsonl::map_records;
use super::read_log::ReadLog;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::progress::Progress;
use event::CopilotEvent;

pub(super) const FORMAT: Format = Format {
    name: "copilot_cli",
    label: "GitHub Copilot CLI events",
    detect,
    parse,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
        RecordedData::SubAgents,
    ],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let is_event = |v: &crate::json::Value| {
        let kind = json::str_at(v, &["type"]).unwrap_or_default();
        kind.contains('.')
            && v.get("data").is_some_and(crate::json::Value::is_object)
            && v.get("timestamp").is_some()
    };
    let kinds = ["session.start", "session.resume", "user.message", "assistant.message"];
    let n = records.iter().filter(|r| is_event(&r.value)).count();
    let is_match = records
        .iter()
        .any(|r| json::str_at(&r.value, &["type"]).is_some_and(|kind| kinds.contains(&kind)));
    // Four in five, since later versions add events of another form, and damaged lines occur.
    (is_match && n * 5 >= records.len() * 4)
        .then(|| "events with a dotted `type`, `data` and a `timestamp`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let events = map_records(&input.bytes, progress, 1, &mut log.warnings, CopilotEvent::read)?;
    reader::read(input, events, progress, log)
}
