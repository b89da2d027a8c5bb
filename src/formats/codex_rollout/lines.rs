//! Lines of a rollout, each read for what it means to us.

use super::super::counts::window_at;
use super::super::json::{at, is_true, millis_at, str_at, u64_at};
use super::super::jsonl::Record;
use super::items::{self, Item};
use super::usage::Count;
use crate::session::{Body, Part, Span};
use crate::units::{Millis, Tokens};
use serde_json::Value;

/// One line.
#[derive(Debug)]
pub(super) struct Line {
    /// Its bytes.
    pub span: Span,
    /// Its number, from 1.
    pub number: usize,
    /// When it was written.
    pub time: Option<Millis>,
    /// Its type as the file calls it, for the report.
    pub kind: String,
    /// What it says.
    pub what: What,
}

/// What a line says.
#[derive(Debug)]
pub(super) enum What {
    /// The head of a session; repeated when it is resumed, and once more for a fork's parent.
    Meta(Box<Meta>),
    /// A turn's settings, or its start.
    Turn {
        /// Its id.
        id: Option<Box<str>>,
        /// The model that will answer.
        model: Option<String>,
        /// Its context window.
        window: Option<Tokens>,
        /// The reasoning effort.
        effort: Option<Box<str>>,
        /// It starts here.
        starts: bool,
    },
    /// The turn is over, answered or not.
    TurnEnds {
        /// It was aborted.
        is_aborted: bool,
    },
    /// What the model sees.
    Item(Box<Item>),
    /// Codex replaced the context.
    Compacted {
        /// The summary, where it can be read.
        message: String,
        /// The new context, item by item.
        history: Option<Vec<Item>>,
    },
    /// Tokens of a call.
    Count(Count),
    /// The screen's copy of what a person said.
    Said(String),
    /// The session got a name.
    Named(String),
    /// The person took back this many turns.
    RolledBack(u64),
    /// Of no weight: screen mirrors, state that items repeat.
    Mirror,
    /// A type that came after us.
    Unknown,
}

/// The head of a session.
#[derive(Debug)]
pub(super) struct Meta {
    /// The session's id.
    pub id: Box<str>,
    /// The session it was forked from.
    pub forked_from: Option<Box<str>>,
    /// When it began.
    pub time: Option<Millis>,
    /// The folder in which the agent worked.
    pub folder: Option<Box<str>>,
    /// System prompt and definitions of tools.
    pub parts: Vec<Part>,
}

/// Types of lines.
pub(super) const TYPES: &[&str] = &[
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication_metadata",
];

impl Line {
    /// Reads a record.
    pub(super) fn read(record: Record) -> Self {
        let Record { span, line, value } = record;
        let outer = str_at(&value, &["type"]).unwrap_or_default();
        let payload = value.get("payload");
        // The oldest versions wrote items bare.
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
            what: what(outer, inner.unwrap_or_default(), payload),
        }
    }

    /// Its item, if it is one.
    pub(super) fn item(&self) -> Option<&Item> {
        match &self.what {
            What::Item(item) => Some(item),
            _ => None,
        }
    }
}

fn what(outer: &str, inner: &str, payload: &Value) -> What {
    match outer {
        "session_meta" => What::Meta(Box::new(meta(payload))),
        "turn_context" => turn(payload, false),
        "response_item" => What::Item(Box::new(Item::read(payload))),
        "compacted" => What::Compacted {
            message: str_at(payload, &["message"]).unwrap_or_default().to_owned(),
            history: at(payload, &["replacement_history"])
                .and_then(Value::as_array)
                .map(|items| items.iter().map(Item::read).collect()),
        },
        "event_msg" => event(inner, payload),
        // The items say the same to the model; this is Codex's own memory of what it has said.
        "world_state" | "inter_agent_communication_metadata" => What::Mirror,
        _ => What::Unknown,
    }
}

fn event(inner: &str, payload: &Value) -> What {
    let text = |key| str_at(payload, &[key]).unwrap_or_default().to_owned();
    match inner {
        "token_count" => Count::read(payload).map_or(What::Mirror, What::Count),
        "task_started" | "turn_started" => turn(payload, true),
        "task_complete" | "turn_complete" | "turn_aborted" => What::TurnEnds {
            is_aborted: inner == "turn_aborted",
        },
        "user_message" => What::Said(text("message")),
        "thread_name_updated" => What::Named(text("thread_name")),
        "thread_rolled_back" => What::RolledBack(u64_at(payload, &["num_turns"]).unwrap_or(0)),
        _ => What::Mirror,
    }
}

fn turn(payload: &Value, starts: bool) -> What {
    What::Turn {
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
    let mut bodies: Vec<_> = base
        .map(|text| Body::Text(text.into()))
        .into_iter()
        .collect();
    match payload.get("dynamic_tools") {
        Some(Value::Array(tools)) => tools.iter().for_each(|tool| define(tool, &mut bodies)),
        Some(tool @ Value::Object(_)) => define(tool, &mut bodies),
        _ => {}
    }
    let parts = bodies.into_iter().zip(0..).map(|(body, block)| Part {
        body,
        record: 0,
        block,
    });
    Meta {
        id: str_at(payload, &["id"]).unwrap_or_default().into(),
        forked_from: str_at(payload, &["forked_from_id"]).map(Into::into),
        time: millis_at(payload, &["timestamp"]),
        folder: str_at(payload, &["cwd"]).map(Into::into),
        parts: parts.collect(),
    }
}

/// A tool, or a namespace of tools. Deferred ones reach the model only when it searches for them.
fn define(tool: &Value, bodies: &mut Vec<Body>) {
    if let Some(tools) = tool.get("tools").and_then(Value::as_array) {
        for tool in tools {
            define(tool, bodies);
        }
    } else if !is_true(tool, &["deferLoading"]) && !is_true(tool, &["defer_loading"]) {
        let name = str_at(tool, &["name"]).unwrap_or_default();
        bodies.push(Body::ToolDefinition {
            tool: name.into(),
            json: tool.to_string().into(),
        });
    }
}
