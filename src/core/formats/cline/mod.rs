//! Cline and its forks (Roo, Kilo): a task's `api_conversation_history.json`, and the sessions of Cline's core (SDK).
//!
//! - Messages have Anthropic's notation with additional members. User text is in tags within user messages that the
//!   program wrote.
//! - Roo marks the messages that a summary or truncation replaces (`condenseParent`, `truncationParent`) and sends the
//!   others.
//! - Cline's core keeps the whole history and the last compaction ([`last_compaction`]). It sends the user's text without
//!   its tags, and long texts of tool results without their middle ([`sent_result`]).
//! - The SDK's `inputTokens` include cached tokens. Classic metrics record them separately.

mod condense;
mod last_compaction;
mod message;
mod screen;
mod sent_result;

use super::message_list::{self, Dialect, Shape, Writes};
use super::read_log::ReadLog;
use super::{
    CannotExport, FolderFile, Format, Input, ParseError, Parsed, Probe, RecordedData, content,
    editing, folder, json,
};
use crate::json::{Value, json};
use crate::progress::Progress;
use crate::session::{Draft, Managed, ManagedEntry, Role, Session, Span};

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "Cline, Roo or Kilo task",
    detect,
    combine_files: Some(combined),
    parse,
    write_own: Some(export),
    kept: Some(kept),
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
    ],
    ..Format::READ_ONLY
};

/// Notation of these messages for reading and writing.
const DIALECT: Dialect = Dialect {
    name: "cline",
    shape: Shape { lists: &["messages", CLINE_HISTORY], ..message_list::CHAT },
    title: message_list::title,
    body,
    messages: |value, _| message::read(value).map(|draft| vec![draft]),
    call: message::call,
    writes: Some(Writes {
        edit: |editing| editing::edit(editing, &["content"]),
        result: None,
        written: |role, text| {
            let role = if role == Role::Assistant { role } else { Role::User };
            json!({"role": role.name(), "content": [{"type": "text", "text": text}]})
        },
    }),
    ..Dialect::READ_ONLY
};

/// Notation of the messages of Cline's core.
const CORE: Dialect =
    Dialect { messages: |value, _| message::read_core(value).map(|draft| vec![draft]), ..DIALECT };

/// File name of the conversation, which identifies a task's folder.
pub const CLINE_HISTORY: &str = "api_conversation_history.json";

/// Members of a message that only these programs write.
const OWN: [&str; 8] = [
    "modelInfo",
    "metrics",
    "isSummary",
    "condenseId",
    "condenseParent",
    "truncationId",
    "truncationParent",
    "isTruncationMarker",
];

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let is_sdk = document.get("sessionId").is_some() && document.get("agent").is_some();
    let in_folder = document.get(CLINE_HISTORY);
    let listed = if is_sdk {
        document.get("messages")?.as_array()?
    } else if let Some(listed) = in_folder {
        listed.as_array()?
    } else {
        document.as_array()?
    };
    let is_message = |m: &Value| {
        matches!(json::str_at(m, &["role"]), Some("user" | "assistant"))
            && m.get("tool_calls").is_none()
            && m.get("content").is_some_and(|c| c.is_array() || c.is_string())
    };
    if listed.is_empty() || !listed.iter().all(is_message) {
        return None;
    }
    if in_folder.is_some() {
        return Some("the files of a task".to_owned());
    }
    if is_sdk {
        return Some("a document with `sessionId`, `agent` and messages".to_owned());
    }
    let is_own = |m: &Value| OWN.iter().any(|key| m.get(key).is_some());
    let is_timed = |m: &Value| {
        m.get("ts").is_some_and(Value::is_number) && m.get("content").is_some_and(Value::is_array)
    };
    listed
        .iter()
        .any(|m| is_own(m) || is_timed(m))
        .then(|| "a list of messages with `ts` or `modelInfo`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes = input.bytes.whole();
    let whole = json::document_span(&bytes);
    let is_core = json::member(&bytes, &whole, "agent").is_some();
    let dialect = if is_core { &CORE } else { &DIALECT };
    let mut parsed = message_list::read(input, progress, dialect)?;
    if is_core {
        let mut log = ReadLog { report: parsed.report, ..ReadLog::default() };
        for session in &mut parsed.sessions {
            last_compaction::apply(session, progress, &mut log)?;
        }
        parsed.report = log.report;
        parsed.warnings.extend(log.notes.warnings(&input.bytes));
        return Ok(parsed);
    }
    let screen = screen::usages(&bytes);
    let project = project(&bytes);
    for session in &mut parsed.sessions {
        session.project.clone_from(&project);
        condense::apply(session);
        screen::apply(session, &screen);
    }
    Ok(parsed)
}

/// Combines the files of a task: one member per file, under its name. The files of a session of Cline's core become its
/// history with the last compaction.
fn combined(files: &[FolderFile]) -> Option<Vec<u8>> {
    if !files.iter().any(|file| file.name == CLINE_HISTORY) {
        return last_compaction::combined(files);
    }
    let members = files.iter().map(|file| (file.file_name(), file.value()));
    Some(folder::json_object(members))
}

/// Returns the working folder of a task, under Cline's or Roo's key.
fn project(bytes: &[u8]) -> Option<String> {
    let item = json::member(bytes, &json::document_span(bytes), "history_item.json")?;
    let item = json::parse_span(bytes, &item)?;
    let folder = content::first(&item, &["cwdOnTaskInitialization", "workspace"]);
    folder.and_then(Value::as_str).map(str::to_owned)
}

fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes.whole();
    if json::member(bytes, &json::document_span(bytes), CLINE_HISTORY).is_some() {
        let reason = format!("a task folder cannot be written; open its {CLINE_HISTORY} instead");
        return Err(CannotExport { reason });
    }
    let mut copy = if last_compaction::is_in(bytes) {
        if editing::is_whole(session, managed, &FORMAT) {
            return Ok(bytes.to_vec());
        }
        let texts = last_compaction::with_texts(session, managed);
        last_compaction::removed(message_list::write_own(session, &texts, &DIALECT)?)
    } else {
        message_list::write_own(session, managed, &DIALECT)?
    };
    let is_ours = |entry: &ManagedEntry| matches!(entry, ManagedEntry::Written { .. });
    if managed.entries.iter().all(is_ours) {
        // A time distinguishes a list of Cline's from other lists of messages.
        let last = session.messages.iter().rev().find_map(|m| m.time);
        let time = last.map_or(0, |time| time.0).to_string();
        let whole = 0..copy.len();
        let elements = json::elements(&copy, &json::document_span(&copy)).unwrap_or_default();
        let timed = |span| editing::with_member(&copy, span, "ts", time.as_bytes());
        let patches = elements.iter().map(timed).collect();
        copy = editing::patched(&copy, &whole, patches);
    }
    Ok(copy)
}

/// Returns the span of a record that a copy keeps byte for byte; none of a summary, which a copy holds as a plain message.
fn kept(record: &[u8]) -> Vec<Span> {
    let whole = 0..record.len();
    let is_summary = json::member(record, &whole, "metadata")
        .and_then(|metadata| json::parse_span(record, &metadata))
        .is_some_and(|metadata| json::str_at(&metadata, &["kind"]).is_some());
    if is_summary { Vec::new() } else { vec![whole] }
}

fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let parts = body.get("system_prompt").map(content::parts).unwrap_or_default();
    let system = (!parts.is_empty()).then(|| ("system_prompt", Draft::new(Role::System, parts)));
    system.into_iter().collect()
}
