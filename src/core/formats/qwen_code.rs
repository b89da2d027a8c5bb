//! Qwen Code session files: JSON Lines in which every record names its parent and holds a Gemini content.
//!
//! - The conversation is the path to the last record. Other branches are separate conversations.
//! - A compression holds the whole new history. Contents that were in the context before are matched with their
//!   messages.
//! - `promptTokenCount` includes cached tokens.
//!
//! <https://github.com/QwenLM/qwen-code/blob/main/packages/core/src/services/chatRecordingService.ts>

use super::jsonl::{self, map_records};
use super::notes::Notes;
use super::parsed::OriginPlaces;
use super::read_log::ReadLog;
use super::transcript::Transcript;
use super::tree::Tree;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, CallDraft, Draft, Part, Role, Session, Span, SubAgent, Track};
use crate::units::Tokens;
use std::collections::HashSet;

pub(super) const FORMAT: Format = Format {
    name: "qwen_code",
    label: "Qwen Code session",
    detect,
    parse,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SubAgents,
    ],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let is_match = |v: &Value| {
        json::str_at(v, &["uuid"]).is_some()
            && json::str_at(v, &["sessionId"]).is_some()
            && matches!(
                json::str_at(v, &["type"]),
                Some("user" | "assistant" | "tool_result" | "system")
            )
    };
    let has_content = |v: &Value| json::at(v, &["message", "parts"]).is_some_and(Value::is_array);
    let n = records.iter().filter(|r| is_match(&r.value)).count();
    (n > 0 && n * 4 >= records.len() * 3 && records.iter().any(|r| has_content(&r.value)))
        .then(|| "JSON Lines whose records have a `uuid` and a `message` with `parts`".to_owned())
}

/// A parsed record.
#[derive(Debug)]
struct QwenEntry {
    span: Span,
    label: String,
    id: Option<Box<str>>,
    parent: Option<Box<str>>,
    is_sidechain: bool,
    kind: QwenEntryKind,
}

/// Content of a record.
#[derive(Clone, Debug)]
enum QwenEntryKind {
    Message(Draft),
    /// An answer, with its message unless it has no content.
    Answer(CallDraft, Option<Draft>),
    /// The whole new history, with the token counts before and after.
    Compression(Vec<Draft>, Option<Tokens>, Option<Tokens>),
    Title(String),
    Other,
}

fn read(record: jsonl::Record) -> QwenEntry {
    let value = &record.value;
    let str_of = |key| json::str_at(value, &[key]);
    let kind = str_of("type").unwrap_or("other");
    let label = match str_of("subtype") {
        Some(sub) => format!("{kind}/{sub}"),
        None => kind.to_owned(),
    };
    QwenEntry {
        label,
        id: str_of("uuid").map(Into::into),
        parent: str_of("parentUuid").map(Into::into),
        is_sidechain: json::is_true(value, &["isSidechain"]),
        kind: entry_kind(kind, value, &record.span),
        span: record.span,
    }
}

fn entry_kind(kind: &str, value: &Value, span: &Span) -> QwenEntryKind {
    let draft = |draft: Draft| Draft {
        id: json::str_at(value, &["uuid"]).map(Into::into),
        time: json::millis_at(value, &["timestamp"]),
        raw: vec![span.clone()],
        ..draft
    };
    let sub = json::str_at(value, &["subtype"]);
    let message = value.get("message").and_then(of_content).map(draft);
    match (kind, sub, message) {
        ("assistant", _, message) => QwenEntryKind::Answer(
            CallDraft {
                model: json::str_at(value, &["model"]).map(str::to_owned),
                window: counts::window_at(value, &["contextWindowSize"]),
                usage: value.get("usageMetadata").and_then(counts::gemini_usage),
                time: json::millis_at(value, &["timestamp"]),
                ..CallDraft::default()
            },
            message,
        ),
        ("system", Some("chat_compression"), _) => {
            let payload = value.get("systemPayload").unwrap_or(&Value::Null);
            let history = payload.get("compressedHistory").and_then(Value::as_array);
            let tokens = |key| counts::tokens_at(payload, &["info", key]);
            let drafts = history.into_iter().flatten().filter_map(of_content).map(draft);
            let drafts: Vec<Draft> = drafts.collect();
            if drafts.is_empty() {
                // A compression that failed. The history stays as it was.
                return QwenEntryKind::Other;
            }
            QwenEntryKind::Compression(
                drafts,
                tokens("originalTokenCount"),
                tokens("newTokenCount"),
            )
        }
        ("system", Some("custom_title"), _) => {
            let title = json::str_at(value, &["systemPayload", "customTitle"]);
            title.map_or(QwenEntryKind::Other, |title| QwenEntryKind::Title(title.to_owned()))
        }
        ("user" | "tool_result", sub, Some(message)) => {
            let is_injected =
                message.role == Role::User && !matches!(sub, None | Some("mid_turn_user_message"));
            QwenEntryKind::Message(Draft { is_injected, ..message })
        }
        // A notification that is sent as a user message.
        ("system", Some("notification" | "cron"), Some(message)) => {
            QwenEntryKind::Message(Draft { is_injected: true, ..message })
        }
        _ => QwenEntryKind::Other,
    }
}

/// Reads a content as a message without its thoughts, which are not resent.
fn of_content(value: &Value) -> Option<Draft> {
    let mut parts: Vec<Part> = content::parts(value.get("parts")?);
    let is_answer = parts.iter().any(|p| matches!(p.body, Body::ToolResult { .. }));
    let role = match json::str_at(value, &["role"]) {
        Some("model") => Role::Assistant,
        _ if is_answer => Role::Tool,
        _ => Role::User,
    };
    parts.retain(|p| !matches!(p.body, Body::Thinking { .. }));
    (!parts.is_empty()).then(|| Draft::new(role, parts))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let entries = map_records(&input.bytes, progress, 1, &mut log.warnings, read)?;
    let tree = Tree::new(entries.iter().map(|e| (e.id.as_deref(), e.parent.as_deref())));
    tree.note_orphans(|at| entries[at].span.start, &mut log.notes);
    let is_context =
        |at: usize| !matches!(entries[at].kind, QwenEntryKind::Other | QwenEntryKind::Title(_));
    let leaf = (0..entries.len())
        .rev()
        .find(|at| !entries[*at].is_sidechain)
        .unwrap_or(entries.len().saturating_sub(1));
    let main = tree.path(leaf);
    let is_main: HashSet<usize> = main.iter().copied().collect();
    for (at, entry) in entries.iter().enumerate() {
        let on_main = is_main.contains(&at);
        let branch = match (on_main, entry.is_sidechain) {
            (true, _) => "",
            (false, true) => " (sub-agent)",
            (false, false) => " (another branch)",
        };
        log.report.count_record(&format!("{}{branch}", entry.label), on_main && is_context(at));
    }
    let mut sessions: Vec<Session> =
        read_path(input, &entries, &main, None, progress, &mut log.notes)?.into_iter().collect();
    for leaf in tree.others(&main, is_context) {
        let number = sessions.len() + 1;
        let session =
            read_path(input, &entries, &tree.path(leaf), Some(number), progress, &mut log.notes)?;
        let (kind, track) = if entries[leaf].is_sidechain {
            ("sub-agent", Track::SubAgent(SubAgent::default()))
        } else {
            ("branch", Track::Branch)
        };
        sessions.extend(session.map(|session| Session {
            title: format!("{} ({kind} {})", session.title, number - 1),
            track,
            ..session
        }));
    }
    let spans = entries.iter().map(|entry| &entry.span);
    let places = OriginPlaces { folder: &["cwd"], version: &["version"], id: &["sessionId"] };
    input.set_origin(&mut sessions, &spans, &places);
    log.finish(input, sessions, "a Qwen Code session without a message")
}

fn read_path(
    input: &Input,
    entries: &[QwenEntry],
    path: &[usize],
    number: Option<usize>,
    progress: &Progress,
    notes: &mut Notes,
) -> Result<Option<Session>, Cancelled> {
    let mut transcript = Transcript::new(input, FORMAT.name, number);
    let mut context: Vec<usize> = Vec::new();
    for at in path {
        progress.check_cancelled()?;
        let entry = &entries[*at];
        let start = entry.span.start;
        match entry.kind.clone() {
            QwenEntryKind::Message(draft) => context.push(transcript.add_message(draft)),
            QwenEntryKind::Answer(call, draft) => {
                let call = CallDraft {
                    usage: notes.usage(start, call.usage),
                    window: notes.tokens(start, call.window, "the recorded context window"),
                    ..call
                };
                match draft {
                    Some(draft) => context.push(transcript.add_answer(call, draft)),
                    // The call was made, although its answer has no content for a message.
                    None if call.usage.is_some() => {
                        transcript.builder.call(call);
                    }
                    None => {}
                }
            }
            QwenEntryKind::Compression(drafts, before, after) => {
                let what = "a count of this compression";
                let (before, after) =
                    (notes.tokens(start, before, what), notes.tokens(start, after, what));
                context = new_history(&mut transcript, &context, drafts);
                transcript.builder.compaction("", before, after, context.clone());
            }
            QwenEntryKind::Title(title) => transcript.title(&title),
            QwenEntryKind::Other => {}
        }
    }
    Ok(transcript.finish())
}

/// Returns the messages of a new history. Known messages are matched from the end, the others are added.
fn new_history(transcript: &mut Transcript, context: &[usize], drafts: Vec<Draft>) -> Vec<usize> {
    let session = transcript.builder.session();
    let bodies = |idx: usize| session.parts_of(&session.messages[idx]).iter().map(|p| &p.body);
    let mut left = context;
    let mut known: Vec<Option<usize>> = Vec::with_capacity(drafts.len());
    for draft in drafts.iter().rev() {
        let found =
            left.iter().rposition(|idx| bodies(*idx).eq(draft.parts.iter().map(|p| &p.body)));
        known.push(found.map(|at| left[at]));
        left = found.map_or(left, |at| &left[..at]);
    }
    known.reverse();
    let mut kept = Vec::with_capacity(drafts.len());
    for (draft, known) in drafts.into_iter().zip(known) {
        let message = known.unwrap_or_else(|| {
            let is_summary = draft.role == Role::User;
            transcript.add_message(Draft { in_history: false, is_summary, ..draft })
        });
        kept.push(message);
    }
    kept
}
