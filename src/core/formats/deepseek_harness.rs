//! Sessions of `DeepSeek` Harness (`session.jsonl`): events with a `seq`. Those with a `surfaceOp` change the context.
//!
//! - `append` adds a message. `replace` puts a message in the place of those with the numbers `start` to `end`: a
//!   compaction.
//! - `inputTokens` exclude cached tokens.
//! - `tool/call` events and pieces of answers (`assistant/chunk`) repeat the content of messages.

use super::content::any_message;
use super::jsonl::map_records;
use super::read_log::ReadLog;
use super::rows::Row;
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role, Usage};
use crate::units::Tokens;
use std::ops::RangeInclusive;

pub(super) const FORMAT: Format = Format {
    name: "deepseek_harness",
    label: "DeepSeek Harness session",
    detect,
    parse,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
    ],
    ..Format::READ_ONLY
};

/// Kinds of events with a message.
const MESSAGES: [&str; 4] = ["user/message", "assistant/message", "system/message", "tool/result"];

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let kind = |v: &Value| json::str_at(v, &["type"]).unwrap_or_default().to_owned();
    let is_head = |v: &Value| kind(v) == "session" && v.get("createdAt").is_some();
    let is_event = |v: &Value| {
        let kind = kind(v);
        kind.contains('/') && v.get("data").is_some_and(Value::is_object)
    };
    let n_events = records.iter().filter(|r| is_event(&r.value)).count();
    (records.iter().any(|r| is_head(&r.value)) && n_events * 2 >= records.len())
        .then(|| "JSON Lines with a `session` and events such as `user/message`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let rows = map_records(&input.bytes, progress, 1, &mut log.warnings, Row::from)?;
    let mut reader = HarnessReader {
        transcript: Transcript::new(input, FORMAT.name, None),
        log,
        context: Vec::new(),
        model: None,
        summary: None,
    };
    for row in rows {
        progress.check_cancelled()?;
        reader.event(&row);
    }
    let session = reader.transcript.finish();
    let what = "a DeepSeek Harness session without a message";
    reader.log.finish(input, session.into_iter().collect(), what)
}

struct HarnessReader {
    transcript: Transcript,
    log: ReadLog,
    /// Numbers and indices of the messages in the context.
    context: Vec<(u64, usize)>,
    model: Option<String>,
    /// Model and usage of the latest request for a summary.
    summary: Option<(Option<String>, Usage)>,
}

impl HarnessReader {
    fn event(&mut self, row: &Row) {
        let value = &row.value;
        let kind = json::str_at(value, &["type"]).unwrap_or("other");
        let data = value.get("data").unwrap_or(&Value::Null);
        if MESSAGES.contains(&kind) {
            let is_read = self.message(kind, data, row);
            self.log.report.count_record(kind, is_read);
            return;
        }
        self.log.report.count_record(kind, false);
        match kind {
            "session" => {
                if let Some(folder) = json::str_at(value, &["cwd"]) {
                    self.transcript.builder.project(folder);
                }
            }
            "session/title" => {
                self.transcript.title(json::str_at(data, &["title"]).unwrap_or_default());
            }
            "request/header" => {
                let model = json::str_at(data, &["header", "config", "model"]);
                self.model = model.map(str::to_owned).or(self.model.take());
            }
            "compaction/summary" => {
                let usage = self.log.notes.usage(row.span.start, usage(data));
                let model = json::str_at(data, &["model"]).map(str::to_owned);
                self.summary = usage.map(|usage| (model, usage));
            }
            _ => {}
        }
    }

    /// Adds a message. Returns whether it has content.
    fn message(&mut self, kind: &str, data: &Value, row: &Row) -> bool {
        let inner = data.get("message").unwrap_or(data);
        let draft = if kind == "system/message" {
            let parts = inner.get("content").map(content::parts).unwrap_or_default();
            (!parts.is_empty()).then(|| Draft::new(Role::System, parts))
        } else if kind == "tool/result" && inner.get("role").is_none() {
            let names = (json::str_at(inner, &["toolCallId"]), None);
            let output = inner.get("content").unwrap_or(&Value::Null);
            Some(Draft::new(Role::Tool, content::result(0, names, false, output)))
        } else {
            any_message::read(data, &row.span).or_else(|| user_message(kind, inner))
        };
        let Some(draft) = draft else {
            return false;
        };
        let replaced = replaced(&row.value);
        let source = json::str_at(inner, &["source", "kind"]);
        let draft = Draft {
            id: json::str_at(inner, &["id"]).map(Into::into),
            time: json::millis_at(&row.value, &["time"]),
            is_injected: draft.role == Role::User && source.is_some_and(|kind| kind != "user"),
            is_summary: replaced.is_some(),
            in_history: replaced.is_none(),
            raw: vec![row.span.clone()],
            ..draft
        };
        let seq = json::u64_at(&row.value, &["seq"]).unwrap_or(u64::MAX);
        if let Some(range) = replaced {
            self.replace(&range, seq, draft);
            return true;
        }
        let message = if draft.role == Role::Assistant {
            let named = json::str_at(inner, &["source", "model"]).map(str::to_owned);
            let call = CallDraft {
                model: named.or_else(|| self.model.clone()),
                usage: self.log.notes.usage(row.span.start, usage(data)),
                time: draft.time,
                ..CallDraft::default()
            };
            self.transcript.add_answer(call, draft)
        } else {
            self.transcript.add_message(draft)
        };
        self.context.push((seq, message));
        true
    }

    /// Puts a message in the place of those with these numbers.
    fn replace(&mut self, range: &RangeInclusive<u64>, seq: u64, draft: Draft) {
        let message = self.transcript.add_message(draft);
        let is_before = |(number, _): &(u64, usize)| number < range.start();
        let at = self.context.iter().position(|entry| !is_before(entry));
        let at = at.unwrap_or(self.context.len());
        let rest = self.context.split_off(at);
        self.context.push((seq.min(*range.end()), message));
        self.context.extend(rest.into_iter().filter(|(number, _)| !range.contains(number)));
        let kept = self.context.iter().map(|(_, message)| *message).collect();
        let builder = &mut self.transcript.builder;
        builder.compaction("", None, None, kept);
        if let Some((model, usage)) = self.summary.take() {
            builder.summary_usage(model.as_deref(), usage);
        }
    }
}

/// Reads a user's message without a role.
fn user_message(kind: &str, inner: &Value) -> Option<Draft> {
    let parts = inner.get("content").filter(|_| kind == "user/message").map(content::parts)?;
    (!parts.is_empty()).then(|| Draft::new(Role::User, parts))
}

/// Returns the numbers of the messages that an event replaces.
fn replaced(event: &Value) -> Option<RangeInclusive<u64>> {
    let change = event.get("surfaceOp")?;
    if json::str_at(change, &["op"]) != Some("replace") {
        return None;
    }
    let number = |keys: [&str; 2]| keys.iter().find_map(|key| json::u64_at(change, &[key]));
    Some(number(["start", "startSeq"])?..=number(["end", "endSeq"])?)
}

/// Reads the usage of a call, whose input excludes cached tokens.
fn usage(data: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(data, &["usage", key]);
    let (read, write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    let input: Tokens = [count("inputTokens"), read, write].into_iter().flatten().sum();
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("outputTokens"),
        reasoning: count("reasoningTokens"),
        ..Usage::default()
    })
}
