//! Parses the records of the stream.

use crate::formats::claude_code::is_of_program;
use crate::formats::rows::Row;
use crate::formats::{content, counts, json};
use crate::json::Value;
use crate::session::{Body, CallDraft, CutAnswer, Part, Span, Usage};
use crate::units::{Millis, Tokens};

/// A parsed record.
pub(super) struct SdkRecord {
    /// Byte span in the file.
    pub(super) span: Span,
    /// Kind for the import report.
    pub(super) label: String,
    /// Id of the session.
    pub(super) session: Box<str>,
    /// The call that started the sub-agent.
    pub(super) parent: Option<Box<str>>,
    /// Id of the record.
    pub(super) id: Option<Box<str>>,
    /// Time of the record.
    pub(super) time: Option<Millis>,
    /// Content of the record.
    pub(super) content: SdkContent,
}

/// Content of a record.
pub(super) enum SdkContent {
    /// A run begins.
    Init(SdkInit),
    /// A message other than an answer.
    User(SdkUser),
    /// A part of an answer.
    Answer(SdkAnswer),
    /// An error of the API in place of an answer.
    Failed(String),
    /// A compaction. The summary follows.
    Boundary(SdkBoundary),
    /// The API begins an answer with this id.
    Streamed(Box<str>),
    /// Tokens of the answer that the API streams.
    StreamedOutput(Tokens),
    /// A run ends.
    End(SdkEnd),
    /// Content that is not sent to the model.
    Ignored,
}

/// Beginning of a run.
pub(super) struct SdkInit {
    /// Name of the model.
    pub(super) model: Option<String>,
    /// Working directory.
    pub(super) folder: Option<String>,
}

/// A message of the user or the program.
pub(super) struct SdkUser {
    /// Parts of the message.
    pub(super) parts: Vec<Part>,
    /// Whether the program wrote it.
    pub(super) is_injected: bool,
    /// Whether it consists of results.
    pub(super) has_results: bool,
}

/// A part of an answer.
pub(super) struct SdkAnswer {
    /// Id of the message.
    pub(super) message: Option<Box<str>>,
    /// The call, as far as this record has it.
    pub(super) call: CallDraft,
    /// Whether the record was written before the usage was known.
    pub(super) is_partial: bool,
    /// Parts of the message.
    pub(super) parts: Vec<Part>,
}

/// A compaction.
pub(super) struct SdkBoundary {
    /// Trigger.
    pub(super) trigger: String,
    /// Tokens before it.
    pub(super) before: Option<Tokens>,
    /// Tokens after it.
    pub(super) after: Option<Tokens>,
    /// Ids of the records that are kept.
    pub(super) kept: Vec<Box<str>>,
    /// Ids of the first and the last kept record.
    pub(super) range: Option<(Box<str>, Box<str>)>,
}

/// Totals at the end of a run.
pub(super) struct SdkEnd {
    /// Usage by model, of the run or of the session so far.
    pub(super) totals: Vec<(String, Usage)>,
    /// Usage of the run, without summaries and sub-agents.
    pub(super) own: Option<Usage>,
    /// Context windows by model.
    pub(super) windows: Vec<(String, Tokens)>,
}

impl SdkRecord {
    /// Parses a record. `includes_cache` says whether `input_tokens` include cached ones.
    pub(super) fn read(row: Row, includes_cache: bool) -> Self {
        let value = &row.value;
        let field = |key| json::str_at(value, &[key]);
        let kind = field("type").unwrap_or("other");
        let sub = field("subtype").filter(|_| kind != "result");
        let sub = sub.or_else(|| json::str_at(value, &["event", "type"]));
        Self {
            label: sub.map_or_else(|| kind.to_owned(), |sub| format!("{kind}/{sub}")),
            session: field("session_id").unwrap_or_default().into(),
            parent: field("parent_tool_use_id").map(Into::into),
            id: field("uuid").map(Into::into),
            time: json::millis_at(value, &["timestamp"]),
            content: read_content(kind, value, includes_cache),
            span: row.span,
        }
    }

    /// Returns the key of the record's conversation.
    pub(super) fn conversation(&self) -> String {
        format!("{}\n{}", self.session, self.parent.as_deref().unwrap_or_default())
    }
}

fn read_content(kind: &str, value: &Value, includes_cache: bool) -> SdkContent {
    let field = |path: &[&str]| json::str_at(value, path);
    let sub = field(&["subtype"]).unwrap_or_default();
    match (kind, sub) {
        ("system", "init") => SdkContent::Init(SdkInit {
            model: field(&["model"]).map(str::to_owned),
            folder: field(&["cwd"]).map(str::to_owned),
        }),
        ("system", "compact_boundary") => SdkContent::Boundary(boundary(value)),
        ("user", _) => user(value),
        ("assistant", _) => answer(value, includes_cache),
        ("stream_event", _) => streamed(value),
        ("result", _) => SdkContent::End(end(value, includes_cache)),
        _ => SdkContent::Ignored,
    }
}

fn user(value: &Value) -> SdkContent {
    let Some(content) = json::at(value, &["message", "content"]) else {
        return SdkContent::Ignored;
    };
    let parts = content::parts(content);
    let has_results = parts.iter().any(|part| matches!(part.body, Body::ToolResult { .. }));
    let is_words = |part: &Part| matches!(&part.body, Body::Text(text) if !is_of_program(text));
    let has_words = parts.iter().any(is_words);
    let has_text = parts.iter().any(|part| matches!(part.body, Body::Text(_)));
    SdkContent::User(SdkUser {
        is_injected: json::is_true(value, &["isSynthetic"])
            || has_text && (has_results || !has_words),
        has_results,
        parts,
    })
}

fn answer(value: &Value, includes_cache: bool) -> SdkContent {
    let message = value.get("message").unwrap_or(&Value::Null);
    let content = message.get("content").unwrap_or(&Value::Null);
    let model = json::str_at(message, &["model"]);
    if model == Some("<synthetic>") || value.get("error").is_some_and(|error| !error.is_null()) {
        return SdkContent::Failed(json::text_of(content));
    }
    let stop_reason = json::str_at(message, &["stop_reason"]);
    let usage = message.get("usage").and_then(|usage| self::usage(usage, includes_cache));
    // A placeholder until the answer ends. Qwen Code writes all of the usage at the end.
    let is_final = includes_cache || stop_reason.is_some();
    let usage = usage.map(|usage| Usage { output: usage.output.filter(|_| is_final), ..usage });
    SdkContent::Answer(SdkAnswer {
        message: json::str_at(message, &["id"]).map(Into::into),
        is_partial: usage.is_none() && stop_reason.is_none(),
        call: CallDraft {
            model: model.map(str::to_owned),
            usage,
            cut: matches!(stop_reason, Some("max_tokens" | "model_context_window_exceeded"))
                .then(CutAnswer::default),
            ..CallDraft::default()
        },
        parts: content::parts(content),
    })
}

/// Reads usage in the form of Anthropic's API.
fn usage(usage: &Value, includes_cache: bool) -> Option<Usage> {
    let count = |path: &[&str]| counts::tokens_at(usage, path);
    let cache_read = count(&["cache_read_input_tokens"]);
    let cache_write = count(&["cache_creation_input_tokens"]);
    let cached = [cache_read, cache_write].into_iter().flatten().filter(|_| !includes_cache);
    let input = count(&["input_tokens"]).into_iter().chain(cached).sum();
    let output = count(&["output_tokens"]).filter(|tokens| *tokens > Tokens::ZERO);
    (input > Tokens::ZERO).then_some(Usage {
        input,
        cache_read,
        cache_write,
        cache_write_hour: count(&["cache_creation", "ephemeral_1h_input_tokens"]),
        output,
        reasoning: None,
    })
}

/// Reads an event of the API. Its last count of output tokens is that of the whole answer.
fn streamed(value: &Value) -> SdkContent {
    let event = value.get("event").unwrap_or(&Value::Null);
    match json::str_at(event, &["type"]) {
        Some("message_start") => json::str_at(event, &["message", "id"])
            .map_or(SdkContent::Ignored, |id| SdkContent::Streamed(id.into())),
        Some("message_delta") => counts::tokens_at(event, &["usage", "output_tokens"])
            .filter(|tokens| *tokens > Tokens::ZERO && counts::is_possible(*tokens))
            .map_or(SdkContent::Ignored, SdkContent::StreamedOutput),
        _ => SdkContent::Ignored,
    }
}

fn boundary(value: &Value) -> SdkBoundary {
    let at = |path: &[&str]| json::at(value, &[&["compact_metadata"], path].concat());
    let text = |path: &[&str]| at(path).and_then(Value::as_str);
    let tokens = |path: &[&str]| counts::tokens_at(value, &[&["compact_metadata"], path].concat());
    let kept = at(&["preserved_messages", "all_uuids"]);
    let kept = kept.or_else(|| at(&["preserved_messages", "uuids"])).and_then(Value::as_array);
    SdkBoundary {
        trigger: text(&["trigger"]).unwrap_or_default().to_owned(),
        before: tokens(&["pre_tokens"]),
        after: tokens(&["post_tokens"]),
        kept: kept.into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect(),
        range: text(&["preserved_segment", "head_uuid"])
            .zip(text(&["preserved_segment", "tail_uuid"]))
            .map(|(first, last)| (first.into(), last.into())),
    }
}

fn end(value: &Value, includes_cache: bool) -> SdkEnd {
    let own = value.get("usage").and_then(|own| usage(own, includes_cache));
    let models = || value.get("modelUsage").and_then(Value::as_object).into_iter().flatten();
    let total = |(model, counts_of): (&String, &Value)| {
        let count = |key| counts::tokens_at(counts_of, &[key]);
        let (read, write) = (count("cacheReadInputTokens"), count("cacheCreationInputTokens"));
        let input = [count("inputTokens"), read, write].into_iter().flatten().sum();
        let usage = Usage {
            input,
            cache_read: read,
            cache_write: write,
            output: count("outputTokens"),
            ..Usage::default()
        };
        (input > Tokens::ZERO).then(|| (model.clone(), usage))
    };
    let totals: Vec<(String, Usage)> = models().filter_map(total).collect();
    let window = |(model, counts_of): (&String, &Value)| {
        let window = counts::window_at(counts_of, &["contextWindow"])?;
        counts::is_possible(window).then(|| (model.clone(), window))
    };
    if totals.is_empty() {
        // Qwen Code records only the usage of the session so far.
        let totals = own.map(|own| (String::new(), own)).into_iter().collect();
        return SdkEnd { totals, own: None, windows: Vec::new() };
    }
    SdkEnd { totals, own, windows: models().filter_map(window).collect() }
}
