//! Continue sessions (`sessions/ID.json`), of its command line and of its editor extensions.
//!
//! - An item of `history` is a message with the results of its tool calls (`toolCallStates`). Texts of one result are
//!   sent with a blank line between them.
//! - The command line replaces the whole history by a summary, which is the first item and is sent as the assistant's
//!   text. The calls before it are not recorded.
//! - The total usage includes these calls, so it is not the usage of the recorded ones.
//! - Thinking is recorded as a message before the answer.
//!
//! <https://github.com/continuedev/continue/blob/main/core/index.d.ts>

use super::message_list::of_usage;
use super::notes::unknown_role;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, CallDraft, Draft, Part, Role, Span};

pub(super) const FORMAT: Format = Format {
    name: "continue",
    label: "Continue session",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Compactions],
    ..Format::READ_ONLY
};

/// Member of the document with the conversation.
const HISTORY: &str = "history";

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    json::str_at(document, &["sessionId"])?;
    document.get("workspaceDirectory").or_else(|| document.get("title"))?;
    let history = document.get(HISTORY)?.as_array()?;
    let is_item = |item: &Value| json::str_at(item, &["message", "role"]).is_some();
    history
        .iter()
        .any(is_item)
        .then(|| "a document with `sessionId` and a `history` of messages".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let around = rows::members_except(bytes, &whole, &[HISTORY]);
    let mut reader = ContinueReader {
        bytes,
        transcript: Transcript::new(input, FORMAT.name, None),
        log: ReadLog::default(),
        is_thinking: false,
    };
    if let Some(model) = json::str_at(&around, &["chatModelTitle"]) {
        reader.transcript.builder.usual_model(model);
    }
    // The program's title until the user's first words are known.
    let title =
        json::str_at(&around, &["title"]).filter(|t| !["New Session", UNTITLED].contains(t));
    reader.transcript.title(title.unwrap_or_default());
    if let Some(folder) = json::str_at(&around, &["workspaceDirectory"]).filter(|f| !f.is_empty()) {
        reader.transcript.builder.project(folder.strip_prefix("file://").unwrap_or(folder));
    }
    for row in rows::rows_at(bytes, &whole, &[HISTORY], progress, &mut reader.log.notes)? {
        progress.check_cancelled()?;
        reader.item(&row);
    }
    let session = reader.transcript.finish();
    reader.log.finish(input, session.into_iter().collect(), "a Continue session without a message")
}

/// Title of sessions that the program did not name.
const UNTITLED: &str = "Untitled Session";

/// Reads the items of the history in order.
struct ContinueReader<'a> {
    bytes: &'a [u8],
    transcript: Transcript,
    log: ReadLog,
    /// The last item was the thinking of the next answer.
    is_thinking: bool,
}

impl ContinueReader<'_> {
    fn item(&mut self, row: &Row) {
        let message = row.value.get("message").unwrap_or(&Value::Null);
        let role = json::str_at(message, &["role"]).unwrap_or("other");
        let content = message.get("content").unwrap_or(&Value::Null);
        let draft = |role, parts| Draft {
            id: json::str_at(message, &["id"]).map(Into::into),
            raw: vec![row.span.clone()],
            ..Draft::new(role, parts)
        };
        let summary = json::str_at(&row.value, &["conversationSummary"]).unwrap_or_default();
        let is_summary = role == "assistant" && content.as_str() == Some(summary);
        let was_thinking = std::mem::take(&mut self.is_thinking);
        let n_before = self.transcript.len();
        match role {
            "assistant" if is_summary && !summary.is_empty() => {
                self.summary(draft(Role::Assistant, content::parts(content)));
            }
            "assistant" => {
                let draft = draft(Role::Assistant, answer(message));
                self.answer(row, message, draft, was_thinking);
                self.results(row);
            }
            "thinking" => {
                let parts = thought(message).into_iter().collect();
                self.transcript.builder.call(CallDraft::default());
                self.transcript.add_message(draft(Role::Assistant, parts));
                self.is_thinking = true;
            }
            "user" => {
                let mut parts = context_items(&row.value);
                parts.extend(content::parts(content));
                self.transcript.add_message(draft(Role::User, parts));
            }
            "tool" => {
                let names = (json::str_at(message, &["toolCallId"]), None);
                let parts = content::result(0, names, false, content);
                self.transcript.add_message(draft(Role::Tool, parts));
            }
            "system" => {
                self.transcript.add_message(draft(Role::System, content::parts(content)));
            }
            other => self.log.notes.add(row.span.start, unknown_role(other)),
        }
        self.log.report.count_record(role, self.transcript.len() > n_before);
        // An editor stores the summary with the last message that it covers.
        if !is_summary && !summary.is_empty() {
            let parts = content::text_part(0, summary).into_iter().collect();
            self.summary(Draft { raw: vec![row.span.clone()], ..Draft::new(Role::User, parts) });
        }
    }

    /// Adds a summary, which replaces everything before it. If nothing is recorded before it, it is also the beginning
    /// of the history.
    fn summary(&mut self, draft: Draft) {
        let in_history = self.transcript.len() == 0;
        if in_history {
            self.log.notes.once(
                draft.raw.first().map_or(0, |span| span.start),
                "the file begins with the summary of a compaction; what was sent before it is not recorded",
            );
        }
        let summary = self.transcript.add_message(Draft { is_summary: true, in_history, ..draft });
        self.transcript.builder.compaction("", None, None, vec![summary]);
    }

    fn answer(&mut self, row: &Row, message: &Value, draft: Draft, was_thinking: bool) {
        let usage = message.get("usage").and_then(of_usage);
        let usage = self.log.notes.usage(row.span.start, usage);
        let model = json::str_at(message, &["usage", "model"]);
        let logged = || {
            let log = row.value.get("promptLogs")?.as_array()?.first()?;
            json::str_at(log, &["modelTitle"])
        };
        let model = model.or_else(logged).map(str::to_owned);
        if !was_thinking {
            self.transcript.add_answer(CallDraft { model, usage, ..CallDraft::default() }, draft);
            return;
        }
        self.transcript.add_message(draft);
        if let Some(call) = self.transcript.builder.last_call_mut() {
            call.usage = usage;
        }
        if let Some(model) = model {
            self.transcript.builder.name_unnamed_calls(&model);
        }
    }

    /// Adds the results of an answer's calls as a message of the tools.
    fn results(&mut self, row: &Row) {
        let listed = json::member(self.bytes, &row.span, "toolCallStates");
        let spans = listed.and_then(|listed| json::elements(self.bytes, &listed));
        let older = || Some(vec![json::member(self.bytes, &row.span, "toolCallState")?]);
        for span in spans.or_else(older).unwrap_or_default() {
            let Some(state) = json::parse_span(self.bytes, &span) else {
                continue;
            };
            let parts = result(&state);
            if !parts.is_empty() {
                let raw: Vec<Span> = vec![span];
                self.transcript.add_message(Draft { raw, ..Draft::new(Role::Tool, parts) });
            }
        }
    }
}

/// Returns the text and the calls of an answer.
fn answer(message: &Value) -> Vec<Part> {
    let mut parts = message.get("content").map(content::parts).unwrap_or_default();
    let calls = message.get("toolCalls").and_then(Value::as_array);
    let n_blocks = parts.iter().map(|p| p.block as usize + 1).max().unwrap_or(0);
    for (idx, call) in calls.into_iter().flatten().enumerate() {
        let name = json::str_at(call, &["function", "name"]).unwrap_or_default();
        let arguments = json::at(call, &["function", "arguments"]);
        let body = content::call(json::str_at(call, &["id"]), name, arguments);
        parts.push(content::part(n_blocks + idx, body));
    }
    parts
}

fn thought(message: &Value) -> Option<Part> {
    let text = message.get("content").map(json::text_of).unwrap_or_default();
    let sealed = ["signature", "redactedThinking"].iter();
    let sealed = sealed.filter_map(|key| json::str_at(message, &[key])).map(str::len).sum();
    content::thought(&text, sealed).map(|body| content::part(0, body))
}

/// Returns what the editor attached to a message. It is sent before the text.
fn context_items(item: &Value) -> Vec<Part> {
    let items = item.get("contextItems").and_then(Value::as_array);
    let texts = items.into_iter().flatten().filter_map(|item| json::str_at(item, &["content"]));
    let part = |text: &str| content::part(0, Body::Text(format!("{text}\n").into()));
    texts.filter(|text| !text.is_empty()).map(part).collect()
}

/// Returns the result of a call; nothing if it has none.
fn result(state: &Value) -> Vec<Part> {
    let Some(output) = state.get("output").and_then(Value::as_array) else {
        return Vec::new();
    };
    let text: Vec<&str> = output.iter().filter_map(|o| json::str_at(o, &["content"])).collect();
    let id =
        json::str_at(state, &["toolCallId"]).or_else(|| json::str_at(state, &["toolCall", "id"]));
    let name = json::str_at(state, &["toolCall", "function", "name"]);
    let is_error = json::str_at(state, &["status"]) == Some("errored");
    content::result(0, (id, name), is_error, &text.join("\n\n").into())
}
