//! `pi --mode json`.
//!
//! - `message_end` has a whole message in the form of the program's session files. The events before it have its pieces,
//!   those after it repeat it.
//! - A compaction is recorded if it ends before the program does. Its first kept message is named by an id that the stream
//!   does not record.

use crate::formats::pi::{self, EntryContent, PiCompaction, PiEntry};
use crate::formats::read_log::ReadLog;
use crate::formats::rows::{Row, map_rows};
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, counts, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Draft, Role};

pub(crate) const PI: Format = Format {
    name: "pi_stream",
    label: "Pi output stream",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::Compactions],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let mut records = probe.records().iter().map(|r| &r.value);
    let is_start =
        |v: &Value| matches!(json::str_at(v, &["type"]), Some("agent_start" | "turn_start"));
    let is_message = |v: &Value| {
        matches!(json::str_at(v, &["type"]), Some("message_start" | "message_end"))
            && json::str_at(v, &["message", "role"]).is_some()
    };
    (records.clone().any(is_start) && records.any(is_message))
        .then(|| "events `agent_start` and `message_end`".to_owned())
}

/// Events that start and end a compaction, in the words of all versions.
const COMPACTION_STARTS: [&str; 2] = ["compaction_start", "auto_compaction_start"];
const COMPACTION_ENDS: [&str; 2] = ["compaction_end", "auto_compaction_end"];

/// Reads an event as an entry of a session file. An entry without an id follows the one before it.
fn read(row: Row) -> PiEntry {
    let value = &row.value;
    let kind = json::str_at(value, &["type"]).unwrap_or("other");
    let message = value.get("message").filter(|_| kind == "message_end");
    let role = message.and_then(|message| json::str_at(message, &["role"]));
    let content = match (message, value.get("result").filter(|result| result.is_object())) {
        (Some(message), _) => pi::message(message, |role, parts| Draft {
            time: json::millis_at(message, &["timestamp"]),
            raw: vec![row.span.clone()],
            ..Draft::new(role, parts)
        }),
        (None, Some(result)) if COMPACTION_ENDS.contains(&kind) => {
            let summary = pi::summary_parts(result.get("summary").unwrap_or(&Value::Null));
            EntryContent::Compaction(PiCompaction {
                summary: Draft {
                    is_summary: true,
                    in_history: false,
                    raw: vec![row.span.clone()],
                    ..Draft::new(Role::User, summary)
                },
                first_kept: None,
                before: counts::tokens_at(result, &["tokensBefore"]),
            })
        }
        _ => EntryContent::Ignored,
    };
    PiEntry {
        label: role.map_or_else(|| kind.to_owned(), |role| format!("{kind}/{role}")),
        id: json::str_at(value, &["id"]).filter(|_| kind == "session").map(Into::into),
        parent: None,
        content,
        span: row.span,
    }
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let mut entries = map_rows(&input.bytes, progress, &mut log, read)?;
    let mut session: Option<Box<str>> = None;
    let mut compaction: Option<usize> = None;
    for entry in &mut entries {
        // A run that continues the session repeats its id. Another session begins another branch.
        match &entry.id {
            Some(id) if session.as_ref() == Some(id) => entry.id = None,
            Some(id) => session = Some(id.clone()),
            None => {}
        }
        if COMPACTION_STARTS.contains(&&*entry.label) {
            compaction = Some(entry.span.start);
        } else if COMPACTION_ENDS.contains(&&*entry.label) {
            compaction = None;
            if matches!(entry.content, EntryContent::Compaction(_)) {
                log.notes.once(
                    entry.span.start,
                    "the stream does not record which messages a compaction kept besides its summary",
                );
            }
        } else if entry.label == "session"
            && let Some(start) = compaction.take()
        {
            log.notes.add(start, UNFINISHED);
        }
    }
    if let Some(start) = compaction {
        log.notes.add(start, UNFINISHED);
    }
    pi::read(input, PI.name, entries, progress, log)
}

const UNFINISHED: &str = "a compaction began, but the stream ends before its result: later contexts may be smaller than shown";
