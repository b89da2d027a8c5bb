//! GitHub Copilot chats in VS Code: a stored session (`chatSessions/*.json`), its newer log of changes (`*.jsonl`), or
//! an exported chat.
//!
//! - The result's metadata holds the content sent to the model: the rendered message, rounds of tool calls, and their
//!   results. The displayed content (`response`) is read if these are missing.
//! - The log of changes begins with a whole session. Each later line sets a value, appends to a list, or removes a
//!   value.
//! - Only newer versions record prompt tokens.

use super::content::part;
use super::notes::Notes;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{
    Format, ImportReport, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json,
    jsonl,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Part, Role, Span, Usage};
use crate::units::Tokens;

pub(super) const FORMAT: Format = Format {
    name: "copilot_chat",
    label: "GitHub Copilot chat",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let is_chat = |v: &Value| {
        v.get("requests").is_some_and(Value::is_array)
            && ["responderUsername", "requesterUsername", "sessionId"]
                .iter()
                .any(|key| v.get(key).is_some())
    };
    if probe.document().is_some_and(is_chat) {
        return Some("a document with `requests` and the responder's name".to_owned());
    }
    let records = probe.records();
    let first = records.first()?;
    let is_log = json::u64_at(&first.value, &["kind"]) == Some(0)
        && first.value.get("v").is_some_and(is_chat);
    is_log.then(|| "a log of changes to a chat with `requests`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    let requests = if json::member(bytes, &whole, "requests").is_some()
        && json::is_one_value(&bytes[whole.clone()])
    {
        let around = rows::members_except(bytes, &whole, &["requests"]);
        transcript.title(json::str_at(&around, &["customTitle"]).unwrap_or_default());
        rows::rows_at(bytes, &whole, &["requests"], progress, &mut log.notes)?
    } else {
        let changes = jsonl::map_records(bytes, progress, 1, &mut log.warnings, |r| r)?;
        let (chat, place) = replayed(changes, &mut log.report, &mut log.notes);
        transcript.title(json::str_at(&chat, &["customTitle"]).unwrap_or_default());
        let requests = chat.get("requests").and_then(Value::as_array).cloned().unwrap_or_default();
        requests.into_iter().map(|value| Row { span: place.clone(), value }).collect()
    };
    for row in requests {
        progress.check_cancelled()?;
        let before = transcript.len();
        request(&row, &mut transcript, &mut log.notes);
        log.report.count_record("request", transcript.len() > before);
    }
    let session = transcript.finish();
    log.finish(input, session.into_iter().collect(), "a GitHub Copilot chat without a message")
}

/// Applies the log's changes. Returns the resulting chat and the byte range of its latest whole copy.
fn replayed(
    changes: Vec<jsonl::Record>,
    report: &mut ImportReport,
    notes: &mut Notes,
) -> (Value, Span) {
    let mut chat = Value::Null;
    let mut place = 0..0;
    for record in changes {
        report.count_record("change of the log", false);
        let value = record.value;
        let keys = value.get("k").and_then(Value::as_array).cloned().unwrap_or_default();
        let new = value.get("v").cloned();
        match json::u64_at(&value, &["kind"]) {
            Some(0) => {
                chat = new.unwrap_or_default();
                place = record.span;
            }
            Some(1) => match (at_mut(&mut chat, &keys), new) {
                (Some(place), Some(new)) => *place = new,
                (Some(place), None) => *place = Value::Null,
                (None, _) => {
                    notes.once(record.span.start, "a change to a missing value was left out");
                }
            },
            Some(2) => {
                let list = at_mut(&mut chat, &keys);
                if let Some(list) = list {
                    append(list, json::u64_at(&value, &["i"]), new);
                }
            }
            Some(3) => {
                if let Some(place) = at_mut(&mut chat, &keys) {
                    *place = Value::Null;
                }
            }
            _ => notes.once(record.span.start, "a change of an unknown kind was left out"),
        }
    }
    (chat, place)
}

/// Appends to a list after truncating it to `from` elements, if given.
fn append(place: &mut Value, from: Option<u64>, new: Option<Value>) {
    if !place.is_array() {
        *place = Value::Array(Vec::new());
    }
    let Value::Array(list) = place else {
        return;
    };
    if let Some(len) = from.and_then(|n| usize::try_from(n).ok()) {
        list.truncate(len);
    }
    match new {
        Some(Value::Array(more)) => list.extend(more),
        Some(one) => list.push(one),
        None => {}
    }
}

/// Returns the value at a path of keys and indices. A missing member is created.
fn at_mut<'a>(value: &'a mut Value, keys: &[Value]) -> Option<&'a mut Value> {
    keys.iter().try_fold(value, |here, key| match (here, key) {
        (Value::Object(members), Value::String(key)) => {
            Some(members.entry(key.clone()).or_insert(Value::Null))
        }
        (Value::Array(list), Value::Number(index)) => {
            let index = usize::try_from(index.as_u64()?).ok()?;
            if index == list.len() {
                list.push(Value::Null);
            }
            list.get_mut(index)
        }
        _ => None,
    })
}

fn request(row: &Row, transcript: &mut Transcript, notes: &mut Notes) {
    let value = &row.value;
    let time = json::millis_at(value, &["timestamp"]);
    let draft = |role, parts: Vec<Part>| Draft {
        time,
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts)
    };
    let metadata = json::at(value, &["result", "metadata"]).unwrap_or(&Value::Null);
    let rendered =
        metadata.get("renderedUserMessage").map(rendered_parts).filter(|parts| !parts.is_empty());
    let question = rendered.unwrap_or_else(|| {
        let text =
            json::str_at(value, &["message", "text"]).or_else(|| json::str_at(value, &["message"]));
        content::text_part(0, text.unwrap_or_default()).into_iter().collect()
    });
    if !question.is_empty() {
        transcript.add_message(draft(Role::User, question));
    }
    let call = CallDraft {
        model: json::str_at(value, &["modelId"]).map(str::to_owned),
        time,
        ..CallDraft::default()
    };
    let usage = notes.usage(row.span.start, usage(value));
    let rounds = metadata.get("toolCallRounds").and_then(Value::as_array);
    let rounds: Vec<&Value> = rounds.into_iter().flatten().collect();
    if rounds.is_empty() {
        let parts = displayed_parts(value);
        if !parts.is_empty() {
            transcript.add_answer(CallDraft { usage, ..call }, draft(Role::Assistant, parts));
        }
        return;
    }
    let n_rounds = rounds.len();
    for (n, round) in rounds.into_iter().enumerate() {
        let (parts, results) = round_parts(round, metadata);
        // The reported usage is that of the last call.
        let usage = usage.filter(|_| n + 1 == n_rounds);
        if !parts.is_empty() {
            let call = CallDraft { usage, ..call.clone() };
            transcript.add_answer(call, draft(Role::Assistant, parts));
        }
        if !results.is_empty() {
            transcript.add_message(draft(Role::Tool, results));
        }
    }
}

/// Returns a round's answer with its calls, and the tool results.
fn round_parts(round: &Value, metadata: &Value) -> (Vec<Part>, Vec<Part>) {
    let thought = round.get("thinking").map(|t| {
        let text = t.get("text").map_or_else(|| json::text_of(t), json::text_of);
        let sealed = json::str_at(t, &["encrypted"]).map_or(0, str::len);
        content::thought(&text, sealed)
    });
    let mut parts: Vec<Part> = thought.flatten().map(|body| part(0, body)).into_iter().collect();
    parts.extend(content::text_part(0, json::str_at(round, &["response"]).unwrap_or_default()));
    let mut results = Vec::new();
    let calls = round.get("toolCalls").and_then(Value::as_array);
    for (idx, call) in calls.into_iter().flatten().enumerate() {
        let id = json::str_at(call, &["id"]);
        let name = json::str_at(call, &["name"]).unwrap_or_default();
        parts.push(part(idx, content::call(id, name, call.get("arguments"))));
        let result = id.and_then(|id| metadata.get("toolCallResults")?.get(id));
        if let Some(result) = result {
            let text = texts(result);
            results.extend(content::result(idx, (id, Some(name)), false, &text.into()));
        }
    }
    (parts, results)
}

/// Returns the texts in a result, which may be a tree of rendered nodes.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(texts).filter(|t| !t.is_empty()).collect::<String>(),
        Value::Object(members) => {
            let inner = ["content", "value", "text", "node", "children"]
                .iter()
                .filter_map(|key| members.get(*key))
                .map(texts);
            inner.collect::<String>()
        }
        _ => String::new(),
    }
}

/// Returns the parts of the rendered message.
fn rendered_parts(rendered: &Value) -> Vec<Part> {
    let text = texts(rendered);
    content::text_part(0, &text).into_iter().collect()
}

/// Returns the parts of the displayed answer.
fn displayed_parts(request: &Value) -> Vec<Part> {
    let pieces = request.get("response").and_then(Value::as_array);
    let text = |piece: &Value| match json::str_at(piece, &["kind"]) {
        None | Some("markdownContent" | "markdownVuln") => {
            let content = content::first(piece, &["value", "content"]).unwrap_or(piece);
            Some(texts(content))
        }
        Some("inlineReference") => json::str_at(piece, &["name"]).map(str::to_owned),
        Some(_) => None,
    };
    let text: String = pieces.into_iter().flatten().filter_map(text).collect();
    content::text_part(0, &text).into_iter().collect()
}

fn usage(request: &Value) -> Option<Usage> {
    let usage = ["usage", "result"].iter().find_map(|key| {
        let value = request.get(key)?;
        content::first(value, &["promptTokens", "prompt_tokens"])
            .map(|_| value)
            .or_else(|| value.get("usage"))
    })?;
    let count = |keys: [&str; 2]| keys.iter().find_map(|key| counts::tokens_at(usage, &[key]));
    let input = count(["promptTokens", "prompt_tokens"])?;
    (input > Tokens::ZERO).then(|| Usage {
        input,
        output: count(["completionTokens", "completion_tokens"]),
        ..Usage::default()
    })
}
