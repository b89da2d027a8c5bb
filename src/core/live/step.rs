//! Next step of a program: send a request, or write a summary.

use crate::engine::Event;
use crate::json::Value;
use serde::{Serialize, Serializer};
use std::ops::Range;
use std::sync::Arc;

/// Next step of the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It sends these messages.
    Ready(Ready),
    /// It has a summary written, and answers with it.
    Summarize(Ask),
}

/// The messages of the next request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ready {
    /// Number of the call, from 1.
    pub call: usize,
    /// The messages, in order.
    pub entries: Vec<Entry>,
    /// Tokens of the context: the messages, and what is known of the rest of the request.
    pub tokens: u64,
    /// Accuracy of the count: `exact`, `calibrated` or `estimated`.
    pub accuracy: &'static str,
    /// Mean relative error of the counts so far, each compared with the usage reported for it later; or that of the
    /// calibration. `None` if unknown.
    pub error: Option<f64>,
    /// Events of the policy since the last request.
    pub events: Vec<EventReport>,
    /// Sentences about the options, with the first request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A message of the next request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// A message of the program, unchanged.
    Keep {
        /// Its number, from 0, in the order in which messages were pushed.
        keep: usize,
    },
    /// A message of the program with changed content.
    Edit {
        /// Its number, from 0.
        edit: usize,
        /// The changed message, which later requests share.
        #[serde(serialize_with = "serialize_shared")]
        message: Arc<Value>,
    },
    /// A message that the policy added.
    Add {
        /// The message, which later requests share.
        #[serde(serialize_with = "serialize_shared")]
        add: Arc<Value>,
    },
}

fn serialize_shared<S: Serializer>(value: &Arc<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    value.serialize(serializer)
}

/// A summary to be written by a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ask {
    /// Number of the call that needs it, from 1.
    pub call: usize,
    /// The stage of the policy that asks.
    pub stage: String,
    /// The prompt, in the notation of Chat Completions.
    pub messages: Vec<Value>,
    /// Maximum number of tokens of the answer.
    pub max_tokens: u64,
    /// Whether the real system that is the model for the policy sends exactly this prompt.
    pub verbatim: bool,
    /// Whether that system sends the tool definitions of the conversation with it.
    pub with_tools: bool,
    /// The part of the prompt, from 1, and their number: a conversation that overflows the window is summarized in parts.
    pub part: (usize, usize),
    /// Messages that the summary will cover, as ranges of numbers from 0.
    pub covers: Vec<Range<usize>>,
    /// Texts of earlier summaries among them.
    pub previous: Vec<String>,
}

/// Something that the policy did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventReport {
    /// Number of the call, from 1.
    pub call: usize,
    /// The stage of the policy.
    pub stage: String,
    /// The kind of action.
    pub action: &'static str,
    /// The result: `removed`, `changed`, `nothing` or `logged`.
    pub effect: &'static str,
    /// Why: the trigger with its values.
    pub why: String,
    /// Tokens of the context before.
    pub before: u64,
    /// Tokens of the context after.
    pub after: u64,
    /// Lines that the real system logs or shows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// Files that the policy writes, by name, if their content is text. Pointers in the context name them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
}

impl EventReport {
    pub(super) fn of(event: &Event) -> Self {
        let texts = event.files.iter().filter_map(|file| match &file.content {
            crate::engine::FileContent::Text(text) => Some((file.name.clone(), text.to_string())),
            _ => None,
        });
        Self {
            call: event.call + 1,
            stage: event.stage.clone(),
            action: event.action.name(),
            effect: event.effect.name(),
            why: event.cause.filled_in(|value| value.to_string()),
            before: event.before.0,
            after: event.after.0,
            log: event.log.clone(),
            files: texts.collect(),
        }
    }
}
