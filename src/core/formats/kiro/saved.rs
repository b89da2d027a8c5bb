//! Conversations that Kiro CLI and Amazon Q's command line save: a `history` of pairs of a user's message and an answer.
//!
//! - The user's content is a prompt, the results of tools, or both.
//! - `latest_summary` replaces the messages before the first pair, which are not recorded.

use crate::formats::content::{part, text_part};
use crate::formats::read_log::ReadLog;
use crate::formats::rows::{self, Row};
use crate::formats::transcript::Transcript;
use crate::formats::{
    Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Part, Role, Span};
use crate::units::Tokens;

pub(crate) const SAVED: Format = Format {
    name: "kiro_saved",
    label: "Kiro CLI or Amazon Q conversation",
    detect,
    parse,
    recorded: &[RecordedData::Compactions],
    ..Format::READ_ONLY
};

/// Member of the document with the pairs.
const HISTORY: &str = "history";

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    document.get("conversation_id")?;
    let history = document.get(HISTORY)?.as_array()?;
    let is_pair = |pair: &Value| {
        pair.get("user").is_some_and(Value::is_object)
            && pair.get("assistant").is_some_and(Value::is_object)
    };
    (!history.is_empty() && history.iter().all(is_pair))
        .then(|| "a document with a `history` of `user` and `assistant`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let around = rows::members_except(bytes, &whole, &[HISTORY, "transcript", "tools"]);
    let mut transcript = Transcript::new(input, SAVED.name, None);
    let model = json::str_at(&around, &["model_info", "model_id"]);
    if let Some(model) = model.or_else(|| json::str_at(&around, &["model"])) {
        transcript.builder.usual_model(model);
    }
    let window = counts::window_at(&around, &["model_info", "context_window_tokens"]);
    let window = log.notes.tokens(whole.start, window, "the recorded context window");
    if let Some(text) = summary(&around) {
        let draft = Draft {
            is_summary: true,
            ..Draft::new(Role::User, text_part(0, text).into_iter().collect())
        };
        let message = transcript.add_message(draft);
        transcript.builder.compaction("", None, None, vec![message]);
        let text = "the conversation begins with the summary of a compaction; what was sent before it is not recorded";
        log.notes.add(whole.start, text);
    }
    for row in rows::rows_at(bytes, &whole, &[HISTORY], progress, &mut log.notes)? {
        progress.check_cancelled()?;
        let is_read = pair(bytes, &row, window, &mut transcript);
        log.report.count_record("pair", is_read);
    }
    let session = transcript.finish();
    log.finish(input, session.into_iter().collect(), "a Kiro CLI conversation without a message")
}

/// Returns the summary, a text or the first element of a list.
fn summary(around: &Value) -> Option<&str> {
    let value = around.get("latest_summary")?;
    let text = value.as_str().or_else(|| value.as_array()?.first()?.as_str());
    text.filter(|text| !text.is_empty())
}

/// Adds a pair. Returns whether it has content.
fn pair(bytes: &[u8], row: &Row, window: Option<Tokens>, transcript: &mut Transcript) -> bool {
    let span = |key| -> Vec<Span> {
        vec![json::member(bytes, &row.span, key).unwrap_or_else(|| row.span.clone())]
    };
    let n_before = transcript.len();
    let user = row.value.get("user").unwrap_or(&Value::Null);
    let time = json::millis_at(user, &["timestamp"]);
    let (results, text) = user_parts(user);
    for (role, parts) in [(Role::Tool, results), (Role::User, text)] {
        if !parts.is_empty() {
            transcript.add_message(Draft { time, raw: span("user"), ..Draft::new(role, parts) });
        }
    }
    let answer = row.value.get("assistant").unwrap_or(&Value::Null);
    let inner = ["Response", "ToolUse"].iter().find_map(|key| answer.get(key));
    let inner = inner.unwrap_or(&Value::Null);
    let parts = answer_parts(inner);
    if !parts.is_empty() {
        let id = json::str_at(inner, &["message_id"]).filter(|id| !id.is_empty());
        let draft = Draft {
            id: id.map(Into::into),
            raw: span("assistant"),
            ..Draft::new(Role::Assistant, parts)
        };
        let model = json::str_at(&row.value, &["request_metadata", "model_id"]);
        let model = model.filter(|model| *model != "auto").map(str::to_owned);
        transcript.add_answer(CallDraft { model, window, ..CallDraft::default() }, draft);
    }
    transcript.len() > n_before
}

/// Returns the results and the text of a user's message.
fn user_parts(user: &Value) -> (Vec<Part>, Vec<Part>) {
    let content = user.get("content").unwrap_or(&Value::Null);
    let members = content.as_object().into_iter().flat_map(|members| members.iter());
    let (mut results, mut text) = (Vec::new(), Vec::new());
    let added = json::str_at(user, &["additional_context"]).unwrap_or_default();
    text.extend(text_part(0, added));
    for (_, variant) in members {
        let listed = variant.get("tool_use_results").and_then(Value::as_array);
        for (idx, one) in listed.into_iter().flatten().enumerate() {
            let is_error = json::str_at(one, &["status"]) == Some("Error");
            let names = (json::str_at(one, &["tool_use_id"]), None);
            results.extend(content::result(idx, names, is_error, &output(one).into()));
        }
        text.extend(text_part(1, json::str_at(variant, &["prompt"]).unwrap_or_default()));
    }
    (results, text)
}

/// Returns the text of a tool's output, whose blocks are `Text` or `Json`.
fn output(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts = blocks.filter_map(|block| content::first(block, &["Text", "Json"]));
    texts.map(|text| String::from(content::text_or_json(text))).collect::<Vec<_>>().join("\n")
}

fn answer_parts(answer: &Value) -> Vec<Part> {
    let text = json::str_at(answer, &["content"]).unwrap_or_default();
    let mut parts: Vec<Part> = text_part(0, text).into_iter().collect();
    let calls = answer.get("tool_uses").and_then(Value::as_array);
    for (idx, call) in calls.into_iter().flatten().enumerate() {
        let field = |key| json::str_at(call, &[key]);
        let body = content::call(field("id"), field("name").unwrap_or_default(), call.get("args"));
        parts.push(part(idx + 1, body));
    }
    parts
}
