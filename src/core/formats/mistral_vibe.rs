//! Sessions of Mistral Vibe 2 (`~/.vibe/logs/session/session_*`): `messages.jsonl` has messages in `OpenAI`'s notation,
//! `meta.json` the system prompt, the tools and the totals.
//!
//! - The document is `{"meta": …, "messages": […]}`.
//! - A compaction begins a new session, which holds the summary.
//! - The totals include the sessions before, so they are not the usage of the recorded calls.
//!
//! <https://github.com/mistralai/mistral-vibe/blob/main/vibe/core/session/session_logger.py>

use super::content::{CallMatcher, part, tool_definitions};
use super::folder::{FolderFile, json_object};
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json, openai_chat};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, CallDraft, Draft, Role};

pub(super) const FORMAT: Format = Format {
    name: "mistral_vibe",
    label: "Mistral Vibe session",
    detect,
    combine_files: Some(combine),
    parse,
    recorded: &[RecordedData::SystemPrompt, RecordedData::Tools],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    json::str_at(document, &["meta", "session_id"])?;
    json::at(document, &["meta", "tools_available"])?;
    document.get("messages")?.as_array()?;
    Some("a document with `meta` and `messages`".to_owned())
}

/// Joins the two files of a session.
fn combine(files: &[FolderFile]) -> Option<Vec<u8>> {
    let file = |name: &str| files.iter().find(|file| file.file_name() == name);
    let (meta, messages) = (file("meta.json")?, file("messages.jsonl")?);
    let members = [("meta", meta.value()), ("messages", messages.lines())];
    Some(json_object(members.into_iter()))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    let meta = json::member(bytes, &whole, "meta").and_then(|span| json::parse_span(bytes, &span));
    let meta = meta.unwrap_or_default();
    if let Some(model) = model(&meta) {
        transcript.builder.usual_model(model);
    }
    transcript.title(json::str_at(&meta, &["title"]).unwrap_or_default());
    if let Some(tools) = tool_definitions(&meta, &["tools_available"]) {
        log.report.count_record("tools", true);
        transcript.add_message(tools);
    }
    let prompt = json::str_at(&meta, &["system_prompt", "content"]).unwrap_or_default();
    if !prompt.is_empty() {
        log.report.count_record("system prompt", true);
        let parts = vec![part(0, Body::Text(prompt.into()))];
        transcript.add_message(Draft::new(Role::System, parts));
    }
    for row in rows::rows_at(bytes, &whole, &["messages"], progress, &mut log.notes)? {
        progress.check_cancelled()?;
        let kind = json::str_at(&row.value, &["role"]).unwrap_or("other").to_owned();
        let added = add(&row, &mut transcript, &mut log);
        log.report.count_record(&kind, added);
    }
    let session = transcript.finish();
    let what = "a Mistral Vibe session without a message";
    log.finish(input, session.into_iter().collect(), what)
}

/// Returns the name of the active model, which the configuration names by an alias.
fn model(meta: &Value) -> Option<&str> {
    let alias = json::str_at(meta, &["config", "active_model"])?;
    let models = json::at(meta, &["config", "models"]).and_then(Value::as_array);
    let mut models = models.into_iter().flatten();
    let known = models.find(|model| json::str_at(model, &["alias"]) == Some(alias));
    known.and_then(|model| json::str_at(model, &["name"])).or(Some(alias))
}

/// Adds a message. Returns whether it is sent.
fn add(row: &Row, transcript: &mut Transcript, log: &mut ReadLog) -> bool {
    // The transcript matches results with calls.
    let draft = match openai_chat::message(&row.value, &mut CallMatcher::default()) {
        Ok(draft) => draft,
        Err(why) => {
            log.notes.add(row.span.start, why);
            return false;
        }
    };
    // The system prompt is that of the other file.
    if draft.role == Role::System {
        return false;
    }
    let is_injected = json::is_true(&row.value, &["injected"]);
    let draft = Draft { raw: vec![row.span.clone()], is_injected, ..draft };
    if draft.role == Role::Assistant {
        transcript.add_answer(CallDraft::default(), draft);
    } else {
        transcript.add_message(draft);
    }
    true
}
