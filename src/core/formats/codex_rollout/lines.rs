//! Parses the lines of a rollout.

use super::items::{self, ResponseItem};
use super::usage::TokenCount;
use crate::formats::content::part;
use crate::formats::counts::window_at;
use crate::formats::json::{at, is_true, millis_at, str_at, u64_at};
use crate::formats::jsonl::Record;
use crate::json::Value;
use crate::session::{Body, Part, Span};
use crate::units::{Millis, Tokens};

/// A parsed line.
#[derive(Debug)]
pub(super) struct RolloutLine {
    /// Byte range in the file.
    pub span: Span,
    /// Line number from 1.
    pub number: usize,
    /// Time at which it was written.
    pub time: Option<Millis>,
    /// Kind of record, as named in the import report.
    pub kind: String,
    /// Content of the line.
    pub content: LineContent,
}

/// Content of a line.
#[derive(Debug)]
pub(super) enum LineContent {
    /// A session head. It is repeated when the session is resumed, and a fork also has its parent's.
    Meta(Box<Meta>),
    /// The settings of a turn, or its start.
    Turn {
        /// Id of the turn.
        id: Option<Box<str>>,
        /// Model of the turn.
        model: Option<String>,
        /// Context window.
        window: Option<Tokens>,
        /// Reasoning effort.
        effort: Option<Box<str>>,
        /// The turn starts here.
        starts: bool,
    },
    /// The end of a turn.
    TurnEnds {
        /// The turn was aborted.
        is_aborted: bool,
    },
    /// A response item.
    Item(Box<ResponseItem>),
    /// A compaction.
    Compacted {
        /// The summary, unless it is encrypted.
        message: String,
        /// The items of the new context.
        history: Option<Vec<ResponseItem>>,
        /// Whether the latest call wrote the summary. Older versions do not record it.
        has_own_call: bool,
    },
    /// The usage of a call.
    Count(TokenCount),
    /// The display copy of a user message.
    UserMessage(String),
    /// The name of the session.
    Name(String),
    /// The number of turns that the user rewound.
    Rewind(u64),
    /// Content without effect: display copies, state that items repeat.
    Mirror,
    /// Content of an unknown type.
    Unknown,
}

/// The head of a session.
#[derive(Debug)]
pub(super) struct Meta {
    /// Id of the session.
    pub id: Box<str>,
    /// Id of the session that it was forked from.
    pub forked_from: Option<Box<str>>,
    /// Time at which it began.
    pub time: Option<Millis>,
    /// Working folder.
    pub folder: Option<Box<str>>,
    /// Version of the program.
    pub version: Option<Box<str>>,
    /// System prompt and tool definitions.
    pub parts: Vec<Part>,
}

/// Known types of lines.
pub(super) const TYPES: &[&str] = &[
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication_metadata",
];

impl RolloutLine {
    /// Parses a record.
    pub(super) fn read(record: Record) -> Self {
        let Record { span, line, value } = record;
        let outer = str_at(&value, &["type"]).unwrap_or_default();
        let payload = value.get("payload");
        // The oldest versions wrote items without an envelope.
        let (outer, payload) = match payload {
            Some(payload) => (outer, payload),
            None if items::TYPES.contains(&outer) => ("response_item", &value),
            None if value.get("instructions").is_some() => ("session_meta", &value),
            None => (outer, &Value::Null),
        };
        let inner =
            str_at(payload, &["type"]).filter(|_| matches!(outer, "response_item" | "event_msg"));
        let kind = match inner {
            Some(inner) => format!("{outer}/{inner}"),
            None if outer.is_empty() => "(no type)".to_owned(),
            None => outer.to_owned(),
        };
        let time = millis_at(&value, &["timestamp"]);
        Self {
            span,
            number: line,
            time,
            kind,
            content: content(outer, inner.unwrap_or_default(), payload),
        }
    }

    /// Returns the line's item, if it is one.
    pub(super) fn item(&self) -> Option<&ResponseItem> {
        match &self.content {
            LineContent::Item(item) => Some(item),
            _ => None,
        }
    }
}

fn content(outer: &str, inner: &str, payload: &Value) -> LineContent {
    match outer {
        "session_meta" => LineContent::Meta(Box::new(meta(payload))),
        "turn_context" => turn(payload, false),
        "response_item" => LineContent::Item(Box::new(ResponseItem::read(payload))),
        "compacted" => LineContent::Compacted {
            message: str_at(payload, &["message"]).unwrap_or_default().to_owned(),
            history: at(payload, &["replacement_history"])
                .and_then(Value::as_array)
                .map(|items| items.iter().map(ResponseItem::read).collect()),
            has_own_call: str_at(payload, &["compaction_response_id"]).is_some(),
        },
        "event_msg" => event(inner, payload),
        // Items and `token_count` events hold the same content. These lines are Codex's record of what it has sent.
        "token_usage_record" | "world_state" | "inter_agent_communication_metadata" => {
            LineContent::Mirror
        }
        _ => LineContent::Unknown,
    }
}

fn event(inner: &str, payload: &Value) -> LineContent {
    let text = |key| str_at(payload, &[key]).unwrap_or_default().to_owned();
    match inner {
        "token_count" => TokenCount::read(payload).map_or(LineContent::Mirror, LineContent::Count),
        "task_started" | "turn_started" => turn(payload, true),
        "task_complete" | "turn_complete" | "turn_aborted" => {
            LineContent::TurnEnds { is_aborted: inner == "turn_aborted" }
        }
        "user_message" => LineContent::UserMessage(text("message")),
        "thread_name_updated" => LineContent::Name(text("thread_name")),
        "thread_rolled_back" => LineContent::Rewind(u64_at(payload, &["num_turns"]).unwrap_or(0)),
        _ => LineContent::Mirror,
    }
}

fn turn(payload: &Value, starts: bool) -> LineContent {
    LineContent::Turn {
        id: str_at(payload, &["turn_id"]).map(Into::into),
        model: str_at(payload, &["model"]).map(ToOwned::to_owned),
        window: window_at(payload, &["model_context_window"]),
        effort: str_at(payload, &["effort"]).map(Into::into),
        starts,
    }
}

fn meta(payload: &Value) -> Meta {
    let base = str_at(payload, &["base_instructions", "text"])
        .or_else(|| str_at(payload, &["base_instructions"]));
    let mut bodies: Vec<_> = base.map(|text| Body::Text(text.into())).into_iter().collect();
    match payload.get("dynamic_tools") {
        Some(Value::Array(tools)) => tools.iter().for_each(|tool| define(tool, &mut bodies)),
        Some(tool @ Value::Object(_)) => define(tool, &mut bodies),
        _ => {}
    }
    let parts = bodies.into_iter().enumerate();
    let parts = parts.map(|(block, body)| part(block, body));
    Meta {
        id: str_at(payload, &["id"]).unwrap_or_default().into(),
        forked_from: str_at(payload, &["forked_from_id"]).map(Into::into),
        time: millis_at(payload, &["timestamp"]),
        folder: str_at(payload, &["cwd"]).map(Into::into),
        version: str_at(payload, &["cli_version"]).map(Into::into),
        parts: parts.collect(),
    }
}

/// Adds the definition of a tool, or those of a namespace of tools. Deferred tools are sent to the model only after it
/// searches for them.
fn define(tool: &Value, bodies: &mut Vec<Body>) {
    if let Some(tools) = tool.get("tools").and_then(Value::as_array) {
        for tool in tools {
            define(tool, bodies);
        }
    } else if !is_true(tool, &["deferLoading"]) && !is_true(tool, &["defer_loading"]) {
        let name = str_at(tool, &["name"]).unwrap_or_default();
        bodies.push(Body::ToolDefinition { tool: name.into(), json: tool.to_string().into() });
    }
}
