//! Kiro CLI's session files: a record per message, with blocks that have a `kind` and `data`.
//!
//! - A compaction is a summary that replaces all but the last pairs of messages (`message_pairs_to_exclude`).
//! - Only prompts have a time. The model is recorded with its thoughts.

use crate::formats::content::{opaque, part};
use crate::formats::jsonl::map_records;
use crate::formats::read_log::ReadLog;
use crate::formats::rows::Row;
use crate::formats::transcript::Transcript;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::json::{Value, json};
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Part, Role};

pub(crate) const EVENTS: Format = Format {
    name: "kiro",
    label: "Kiro CLI session",
    detect,
    parse,
    recorded: &[RecordedData::Times, RecordedData::Compactions],
    ..Format::READ_ONLY
};

/// Kinds of records with a message.
const MESSAGES: [&str; 3] = ["Prompt", "AssistantMessage", "ToolResults"];

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let is_match = |v: &Value| {
        json::str_at(v, &["kind"]).is_some_and(|kind| MESSAGES.contains(&kind))
            && json::at(v, &["data", "content"]).is_some_and(Value::is_array)
    };
    let n = records.iter().filter(|r| is_match(&r.value)).count();
    (n > 0 && n * 2 >= records.len())
        .then(|| "JSON Lines of kind `Prompt` or `AssistantMessage` with `data`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let rows = map_records(&input.bytes, progress, 1, &mut log.warnings, Row::from)?;
    let mut reader = KiroReader {
        transcript: Transcript::new(input, EVENTS.name, None),
        log,
        context: Vec::new(),
    };
    for row in rows {
        progress.check_cancelled()?;
        reader.record(&row);
    }
    let session = reader.transcript.finish();
    reader.log.finish(input, session.into_iter().collect(), "a Kiro CLI session without a message")
}

struct KiroReader {
    transcript: Transcript,
    log: ReadLog,
    /// Indices of the messages in the context.
    context: Vec<usize>,
}

impl KiroReader {
    fn record(&mut self, row: &Row) {
        let kind = json::str_at(&row.value, &["kind"]).unwrap_or("other");
        let data = row.value.get("data").unwrap_or(&Value::Null);
        let in_context = match kind {
            kind if MESSAGES.contains(&kind) => self.message(kind, data, row),
            "Compaction" => self.compaction(data, row),
            "Clear" => {
                self.context.clear();
                self.transcript.builder.compaction("clear", None, None, Vec::new());
                false
            }
            other => {
                let kind = json::shortened(other);
                let text =
                    format!("unknown record kind `{kind}`: its effect on the context is not shown");
                self.log.notes.once(row.span.start, text);
                false
            }
        };
        self.log.report.count_record(kind, in_context);
    }

    fn message(&mut self, kind: &str, data: &Value, row: &Row) -> bool {
        let blocks = data.get("content").and_then(Value::as_array);
        let blocks = || blocks.into_iter().flatten();
        let parts: Vec<Part> =
            blocks().enumerate().flat_map(|(idx, block)| parts_of(idx, block)).collect();
        if parts.is_empty() {
            return false;
        }
        let role = match kind {
            "Prompt" => Role::User,
            "AssistantMessage" => Role::Assistant,
            _ => Role::Tool,
        };
        let draft = Draft {
            id: json::str_at(data, &["message_id"]).map(Into::into),
            time: json::millis_at(data, &["meta", "timestamp"]),
            raw: vec![row.span.clone()],
            ..Draft::new(role, parts)
        };
        let message = if role == Role::Assistant {
            // `auto` is the program's choice of a model, not a model.
            let model = blocks().find_map(|block| json::str_at(block, &["data", "modelId"]));
            let model = model.filter(|model| *model != "auto").map(str::to_owned);
            let call = CallDraft { model, time: draft.time, ..CallDraft::default() };
            self.transcript.add_answer(call, draft)
        } else {
            self.transcript.add_message(draft)
        };
        self.context.push(message);
        true
    }

    fn compaction(&mut self, data: &Value, row: &Row) -> bool {
        let parts = data.get("summary").map(content::parts).unwrap_or_default();
        if parts.is_empty() {
            return false;
        }
        let pairs = json::u64_at(data, &["strategy", "message_pairs_to_exclude"]).unwrap_or(0);
        let n_kept = usize::try_from(pairs).unwrap_or(usize::MAX).saturating_mul(2);
        if n_kept > 0 {
            let text = "a compaction records only how many pairs of messages it kept; the last ones are assumed to be kept";
            self.log.notes.once(row.span.start, text);
        }
        let later = self.context.split_off(self.context.len().saturating_sub(n_kept));
        let summary = self.transcript.add_message(Draft {
            is_summary: true,
            in_history: false,
            raw: vec![row.span.clone()],
            ..Draft::new(Role::User, parts)
        });
        self.context = std::iter::once(summary).chain(later).collect();
        self.transcript.builder.compaction("", None, None, self.context.clone());
        true
    }
}

/// Returns the parts of a block.
fn parts_of(idx: usize, block: &Value) -> Vec<Part> {
    let data = block.get("data").unwrap_or(&Value::Null);
    let field = |key| json::str_at(data, &[key]);
    match json::str_at(block, &["kind"]) {
        Some("text") => {
            content::text_part(idx, data.as_str().unwrap_or_default()).into_iter().collect()
        }
        Some("thinking") => {
            let sealed = field("signature").map_or(0, str::len)
                + data.get("redactedContent").and_then(Value::as_array).map_or(0, Vec::len);
            let body = content::thought(field("text").unwrap_or_default(), sealed);
            body.map(|body| part(idx, body)).into_iter().collect()
        }
        Some("toolUse") => {
            let name = field("name").unwrap_or_default();
            vec![part(idx, content::call(field("toolUseId"), name, data.get("input")))]
        }
        Some("toolResult") => {
            let is_error = field("status").is_some_and(|s| s.eq_ignore_ascii_case("error"));
            let text = output(data.get("content"));
            content::result(idx, (field("toolUseId"), None), is_error, &text.into())
        }
        other => {
            // The bytes of an image are a list of numbers, which is not what is sent.
            let kind = other.unwrap_or("unknown");
            vec![part(idx, opaque(&json!({"type": kind})))]
        }
    }
}

/// Returns the text of a tool's output.
fn output(content: Option<&Value>) -> String {
    let blocks = content.and_then(Value::as_array).into_iter().flatten();
    let texts = blocks.filter_map(|block| block.get("data")).map(content::text_or_json);
    texts.map(String::from).collect::<Vec<_>>().join("\n")
}
