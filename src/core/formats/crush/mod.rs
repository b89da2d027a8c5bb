//! Sessions of Crush and of the older `OpenCode` in Go, built from their database.
//!
//! - A part has a `type` and its `data`. Text is sent without the space around it.
//! - A summary is an answer. The context restarts with it, as a message of the user. Databases of older versions mark
//!   only the latest summary (`summary_message_id`).
//! - The session of a sub-agent has the id of the tool call that started it, mostly after the id of its message.
//! - Token counts are recorded for the latest call only and mostly without the tokens written to the cache. They are
//!   not the usage of a call.
//!   <https://github.com/charmbracelet/crush/blob/main/internal/message/content.go>

mod store;

use super::content::{part, text_part};
use super::notes::{Notes, unknown_role};
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::json::{Value, json};
use crate::progress::Progress;
use crate::session::{CallDraft, CutAnswer, Draft, Part, Role, says_too_long};

pub(super) const FORMAT: Format = Format {
    name: "crush",
    label: "Crush or OpenCode (Go) session",
    detect,
    parse,
    recorded: &[RecordedData::Times, RecordedData::Compactions, RecordedData::SubAgents],
    database: Some(&store::DATABASE),
    ..Format::READ_ONLY
};

const MESSAGES: &str = "messages";
/// Titles of sessions that the programs did not name.
// As in Crush (commit 37f36e938), `agent/agent.go`, `agent/agent_tool.go` and `ui/model/ui.go` in `internal`.
const UNTITLED: [&str; 3] = ["New Session", "Untitled Session", "New Agent Session"];
/// Tools that start a sub-agent.
// As in Crush (commit 37f36e938), `internal/agent/agent_tool.go` and `internal/agent/tools/fetch_types.go`.
const AGENTS: [&str; 2] = ["agent", "agentic_fetch"];

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    document.get("prompt_tokens")?;
    let is_part = |part: &Value| part.get("type").is_some() && part.get("data").is_some();
    let is_message = |message: &Value| {
        let parts = message.get("parts").and_then(Value::as_array);
        message.get("role").is_some() && parts.is_some_and(|parts| parts.iter().any(is_part))
    };
    let messages = document.get(MESSAGES)?.as_array()?;
    messages
        .iter()
        .any(is_message)
        .then(|| "`prompt_tokens`, and `messages` whose parts have `data`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let head = rows::members_except(bytes, &whole, &[MESSAGES]);
    log.report.parent = json::str_at(&head, &["parent_session_id"]).map(str::to_owned);
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    let title = json::str_at(&head, &["title"]).filter(|title| !UNTITLED.contains(title));
    transcript.title(title.unwrap_or_default());
    note_counts(&head, whole.start, &mut log.notes);
    let latest = json::str_at(&head, &["summary_message_id"]).unwrap_or_default();
    for row in rows::rows_at(bytes, &whole, &[MESSAGES], progress, &mut log.notes)? {
        progress.check_cancelled()?;
        let (kind, is_read) = message(&row, latest, &mut transcript, &mut log);
        log.report.count_record(kind, is_read);
    }
    let session = transcript.finish();
    log.finish(input, session.into_iter().collect(), "a Crush session without a message")
}

/// Reports the counts of the session, which are no usage of its calls.
fn note_counts(head: &Value, at: usize, notes: &mut Notes) {
    let count = |key| json::u64_at(head, &[key]).unwrap_or(0);
    let (prompt, answer) = (count("prompt_tokens"), count("completion_tokens"));
    let cost = head.get("cost").and_then(Value::as_f64).filter(|cost| *cost > 0.0);
    if prompt == 0 && answer == 0 && cost.is_none() {
        return;
    }
    let cost = cost.map(|cost| format!("; the whole session cost ${cost:.4}")).unwrap_or_default();
    notes.add(
        at,
        format!(
            "token counts are recorded for the latest call only ({prompt} in, {answer} out) and are not used{cost}"
        ),
    );
}

/// Adds a message. Returns its kind and whether it is sent to the model.
fn message(
    row: &Row,
    latest: &str,
    transcript: &mut Transcript,
    log: &mut ReadLog,
) -> (&'static str, bool) {
    let value = &row.value;
    let id = json::str_at(value, &["id"]).unwrap_or_default();
    let role = match json::str_at(value, &["role"]) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        other => {
            log.notes.add(row.span.start, unknown_role(other.unwrap_or_default()));
            return ("other", false);
        }
    };
    let listed = value.get("parts").and_then(Value::as_array);
    let listed = listed.into_iter().flatten();
    let parts = listed.enumerate().flat_map(|(idx, part)| parts_of(idx, part, role));
    let draft = Draft {
        id: Some(id.into()),
        time: json::millis_at(value, &["created_at"]),
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts.collect())
    };
    if role != Role::Assistant {
        let is_read = !draft.parts.is_empty();
        if is_read {
            transcript.add_message(draft);
        }
        return (role.name(), is_read);
    }
    let finish = finish(value);
    let reason = json::str_at(finish, &["reason"]).unwrap_or_default();
    let is_marked = json::u64_at(value, &["is_summary_message"]) == Some(1) && reason != "error";
    if (is_marked || (!latest.is_empty() && latest == id)) && !draft.parts.is_empty() {
        let draft = Draft { role: Role::User, is_summary: true, in_history: false, ..draft };
        let message = transcript.add_message(draft);
        transcript.builder.compaction("", None, None, vec![message]);
        return ("summary", true);
    }
    for part in value.get("parts").and_then(Value::as_array).into_iter().flatten() {
        let field = |key| json::str_at(part, &["data", key]).unwrap_or_default();
        if AGENTS.contains(&field("name")) && json::str_at(part, &["type"]) == Some("tool_call") {
            let call = field("id");
            for session in [call.to_owned(), format!("{id}$${call}")] {
                log.report.sub_agents.insert(session, call.into());
            }
        }
    }
    let call = CallDraft {
        model: json::str_at(value, &["model"]).filter(|m| !m.is_empty()).map(str::to_owned),
        time: draft.time,
        cut: (reason == "max_tokens").then(CutAnswer::default),
        ..CallDraft::default()
    };
    let is_read = !draft.parts.is_empty();
    if is_read {
        transcript.add_answer(call, draft);
    }
    if matches!(reason, "error" | "canceled") {
        let error = json::str_at(finish, &["details"]).unwrap_or_default();
        if !is_read && says_too_long(&error.to_lowercase()) {
            transcript.builder.call(CallDraft {
                model: json::str_at(value, &["model"]).map(str::to_owned),
                ..CallDraft::default()
            });
            transcript.builder.fail_last_call(error);
        }
        transcript.builder.aborted();
    }
    ("assistant", is_read)
}

/// Returns the end of an answer.
fn finish(message: &Value) -> &Value {
    let parts = message.get("parts").and_then(Value::as_array).into_iter().flatten();
    let mut ends = parts.filter(|part| json::str_at(part, &["type"]) == Some("finish"));
    ends.next().and_then(|part| part.get("data")).unwrap_or(&Value::Null)
}

/// Returns what is sent of a part.
fn parts_of(idx: usize, value: &Value, role: Role) -> Vec<Part> {
    let data = value.get("data").unwrap_or(&Value::Null);
    let field = |key: &str| json::str_at(data, &[key]).unwrap_or_default();
    match json::str_at(value, &["type"]).unwrap_or_default() {
        "text" => text_part(idx, field("text").trim()).into_iter().collect(),
        "reasoning" => {
            let thinking = field("thinking");
            let encrypted = json::str_at(data, &["responses_data", "encrypted_content"]);
            let sealed = [field("signature"), field("thought_signature")];
            let sealed = sealed.iter().map(|text| text.len()).sum::<usize>();
            let sealed = sealed + encrypted.map_or(0, str::len);
            let thought = content::thought(thinking, sealed).filter(|_| !thinking.is_empty());
            thought.map(|body| part(idx, body)).into_iter().collect()
        }
        "tool_call" => {
            let id = Some(field("id")).filter(|id| !id.is_empty());
            vec![part(idx, content::call(id, field("name"), data.get("input")))]
        }
        "tool_result" => {
            let names = (Some(field("tool_call_id")), Some(field("name")));
            let is_error = json::is_true(data, &["is_error"]);
            let media = field("data");
            if media.is_empty() || is_error {
                return content::result(idx, names, is_error, &field("content").into());
            }
            let media = json!([{"type": "media", "data": media, "mime_type": field("mime_type")}]);
            content::result(idx, names, false, &media)
        }
        "shell_command" => {
            let code = json::u64_at(data, &["exit_code"]).unwrap_or(0);
            let text = format!("$ {}\n{}\n(exit code {code})", field("command"), field("output"));
            text_part(idx, &text).into_iter().collect()
        }
        "binary" if role == Role::User && field("MIMEType").starts_with("text/") => {
            let text = content::decode(field("Data"), usize::MAX).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let text = format!("<file path='{}'>\n\n{text}\n</file>\n", field("Path"));
            text_part(idx, &text).into_iter().collect()
        }
        "binary" if role == Role::User => content::block(idx, data),
        _ => Vec::new(),
    }
}
