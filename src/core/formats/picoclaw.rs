//! PicoClaw sessions. The first version is a document with a `key`, the remaining messages in OpenAI's format, and a
//! `summary` of the removed ones. The current version keeps one message per line and a metadata file with the number of
//! removed messages (`skip`), combined by [`combined`]. JSON Lines without metadata are read by
//! [`super::openai_chat`].

use super::editing::{patched, with_member};
use super::message_list::{self, Dialect, Writes};
use super::openai_roles::ROLES;
use super::{
    CannotExport, FolderFile, Format, Input, ParseError, Parsed, Probe, RecordedData, content,
    folder, json, openai_chat,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Call, Draft, Managed, Message, RecordedCompaction, Role, Session};

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "PicoClaw session",
    detect,
    combine_files: Some(combined),
    parse,
    write_own: Some(write_own),
    recorded: &[RecordedData::Times, RecordedData::Compactions],
    ..Format::READ_ONLY
};

/// Notation of these messages for reading and writing.
const DIALECT: Dialect = Dialect {
    name: "picoclaw",
    title: |members| json::str_at(members, &["key"]).map(str::to_owned),
    body,
    messages: |value, calls| Ok(vec![openai_chat::message(value, calls)?]),
    call: message_list::call_of,
    writes: Some(Writes {
        edit: openai_chat::edit,
        written: openai_chat::written,
        result: Some(openai_chat::added_result),
    }),
    ..Dialect::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let list = document.get("messages")?.as_array()?;
    // Invalid lines were kept as strings.
    let is_message = |m: &Value| {
        let role = json::str_at(m, &["role"]);
        m.is_string() || role.is_some_and(|role| ROLES.contains(&role))
    };
    let is_match = json::str_at(document, &["key"]).is_some()
        && document.get("summary").is_some_and(|s| s.is_string() || s.is_null())
        && ["created", "updated", "skip", "count"].iter().any(|key| document.get(key).is_some());
    (is_match && !list.is_empty() && list.iter().all(is_message))
        .then(|| "a document with a `key`, a `summary` and messages".to_owned())
}

/// Combines JSON Lines with their metadata file, which holds the number of removed messages and their summary.
fn combined(files: &[FolderFile]) -> Option<Vec<u8>> {
    let meta = files.iter().find(|file| file.name.ends_with(".meta.json"))?;
    let stem = meta.name.strip_suffix(".meta.json")?;
    let is_messages = |file: &&FolderFile| file.name.strip_suffix(".jsonl") == Some(stem);
    let messages = files.iter().find(is_messages)?.lines();
    let members = json::members(&meta.bytes, &json::document_span(&meta.bytes))?;
    let metadata = members.iter().filter(|(key, _)| key != "messages");
    let metadata = metadata.map(|(key, place)| (key.as_str(), meta.bytes[place.clone()].to_vec()));
    Some(folder::json_object(metadata.chain([("messages", messages)])))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut parsed = message_list::read(input, progress, &DIALECT)?;
    let bytes = input.bytes.whole();
    let whole = json::document_span(&bytes);
    let skip = json::member(&bytes, &whole, "skip");
    let skip = skip.and_then(|place| json::u64_at(&json::parse_span(&bytes, &place)?, &[]));
    let skip = skip.and_then(|n| usize::try_from(n).ok());
    if let Some(skip) = skip.filter(|n| *n > 0) {
        // Lines that are no messages are counted too.
        let list = json::member(&bytes, &whole, "messages");
        let elements = list.and_then(|list| json::elements(&bytes, &list));
        let start = elements.and_then(|elements| Some(elements.get(skip)?.start));
        for session in &mut parsed.sessions {
            add_compaction(session, start);
        }
    }
    Ok(parsed)
}

/// Writes a managed conversation. Its list is the whole context, so that nothing of it is skipped.
fn write_own(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    let bytes = message_list::write_own(session, managed, &DIALECT)?;
    if managed.is_everything(session) {
        return Ok(bytes);
    }
    let whole = json::document_span(&bytes);
    let list = json::member(&bytes, &whole, "messages");
    let elements = list.and_then(|list| json::elements(&bytes, &list));
    let n_messages = elements.map_or(0, |elements| elements.len());
    let mut patches = Vec::new();
    for (key, number) in [("skip", 0), ("count", n_messages)] {
        if let Some(place) = json::member(&bytes, &whole, key) {
            patches.push((place, number.to_string().into_bytes()));
        }
    }
    // A document without the member is no session of PicoClaw.
    if json::member(&bytes, &whole, "summary").is_none() {
        patches.push(with_member(&bytes, &whole, "summary", b"\"\""));
    }
    Ok(patched(&bytes, &whole, patches))
}

/// Records a compaction that replaced the messages before this byte, or all of them, by the summary.
fn add_compaction(session: &mut Session, start: Option<usize>) {
    let is_summary = |m: &Message| m.raw.is_empty() && m.is_summary;
    let summaries: Vec<usize> =
        (0..session.messages.len()).filter(|idx| is_summary(&session.messages[*idx])).collect();
    for idx in &summaries {
        session.messages[*idx].in_history = false;
    }
    let is_kept = |message: &Message| {
        let first = message.raw.first();
        first.is_some_and(|span| start.is_some_and(|start| span.start >= start))
    };
    let before_message = session.messages.iter().position(is_kept);
    let before_message = before_message.unwrap_or(session.messages.len());
    let is_after = |call: &Call| call.context_end >= before_message;
    session.compactions.push(RecordedCompaction {
        before_message,
        call: session.calls.iter().position(is_after).unwrap_or(session.calls.len()),
        trigger: String::new(),
        tokens_before: None,
        tokens_after: None,
        request: None,
        kept: summaries,
    });
}

/// Returns the summary of the removed messages, which is sent with the instructions.
fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let parts = body.get("summary").map(content::parts).unwrap_or_default();
    let summary =
        (!parts.is_empty()).then(|| Draft { is_summary: true, ..Draft::new(Role::System, parts) });
    summary.map(|draft| ("summary", draft)).into_iter().collect()
}
