//! Reads messages: user messages, and answers with their calls and results.

use crate::formats::content::part;
use crate::formats::{content, counts, json};
use crate::json::Value;
use crate::session::{Body, CallDraft, Draft, Part, Role, Span, Usage};
use crate::units::Tokens;
use std::collections::HashSet;

/// Types of messages.
pub(super) const KINDS: [&str; 5] = ["user", "gemini", "info", "error", "warning"];

/// A message of the file.
#[derive(Clone, Debug)]
pub(super) struct GeminiRecord {
    /// Id of the message.
    pub(super) id: Option<Box<str>>,
    /// Type of the message.
    pub(super) kind: Box<str>,
    /// Byte range in the file.
    pub(super) span: Span,
    /// Content sent to the model, without the results of its calls.
    pub(super) content: Option<Draft>,
    /// Results of its calls.
    pub(super) results: Option<Draft>,
    /// The call that wrote it.
    pub(super) call: Option<CallDraft>,
}

impl GeminiRecord {
    /// Reads a message.
    pub(super) fn read(value: &Value, span: Span) -> Self {
        let kind = json::str_at(value, &["type"]).unwrap_or("other");
        let id: Option<Box<str>> = json::str_at(value, &["id"]).map(Into::into);
        let draft = |role, parts: Vec<Part>| Draft {
            is_injected: role == Role::User && is_from_program(&parts),
            id: id.clone(),
            time: json::millis_at(value, &["timestamp"]),
            raw: vec![span.clone()],
            ..Draft::new(role, parts)
        };
        let mut parts = content::parts(value.get("content").unwrap_or(&Value::Null));
        let (mut results, mut call) = (None, None);
        let role = match kind {
            "user" if is_tool_result(&parts) => Role::Tool,
            "user" => Role::User,
            "gemini" => {
                let known = calls_of(&parts);
                let (calls, answers) = tools(value, &known);
                // Thoughts are not resent.
                parts.retain(|part| !matches!(part.body, Body::Thinking { .. }));
                parts.extend(calls);
                results = (!answers.is_empty()).then(|| draft(Role::Tool, answers));
                call = Some(CallDraft {
                    model: json::str_at(value, &["model"]).map(str::to_owned),
                    usage: usage(value),
                    time: json::millis_at(value, &["timestamp"]),
                    ..CallDraft::default()
                });
                Role::Assistant
            }
            _ => {
                parts.clear();
                Role::System
            }
        };
        Self {
            content: (!parts.is_empty()).then(|| draft(role, parts)),
            kind: kind.into(),
            results,
            call,
            span: span.clone(),
            id,
        }
    }

    /// Returns the calls whose results this separate message contains.
    pub(super) fn answered(&self) -> impl Iterator<Item = &str> {
        let parts = self.content.iter().flat_map(|draft| &draft.parts);
        parts.filter_map(|part| match &part.body {
            Body::ToolResult { call, .. } => Some(&**call),
            _ => None,
        })
    }

    /// Removes results that are in a separate message.
    pub(super) fn remove_results(&mut self, answered: &HashSet<Box<str>>) {
        let Some(results) = &mut self.results else {
            return;
        };
        results.parts.retain(|part| match &part.body {
            Body::ToolResult { call, .. } | Body::Media { within: Some(call), .. } => {
                !answered.contains(call)
            }
            _ => true,
        });
        if results.parts.is_empty() {
            self.results = None;
        }
    }

    /// Iterates over the bodies of all parts in order.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &Body> {
        let drafts = self.content.iter().chain(&self.results);
        drafts.flat_map(|draft| &draft.parts).map(|part| &part.body)
    }
}

/// Returns whether a user text describes the environment instead of being the user's.
pub(super) fn is_environment(text: &str) -> bool {
    text.starts_with("<session_context>")
}

fn is_from_program(parts: &[Part]) -> bool {
    let is_text_of_program =
        |part: &Part| matches!(&part.body, Body::Text(text) if is_environment(text));
    !parts.is_empty() && parts.iter().all(is_text_of_program)
}

fn is_tool_result(parts: &[Part]) -> bool {
    let is_result = |part: &Part| matches!(part.body, Body::ToolResult { .. });
    parts.first().is_some_and(is_result)
}

fn calls_of(parts: &[Part]) -> Vec<Box<str>> {
    let call = |part: &Part| match &part.body {
        Body::ToolCall { call, .. } => Some(call.clone()),
        _ => None,
    };
    parts.iter().filter_map(call).collect()
}

/// Returns the calls that the content lacks, and the results of all calls.
fn tools(value: &Value, known: &[Box<str>]) -> (Vec<Part>, Vec<Part>) {
    let listed = value.get("toolCalls").and_then(Value::as_array);
    let (mut calls, mut answers) = (Vec::new(), Vec::new());
    for (idx, call) in listed.into_iter().flatten().enumerate() {
        let str_of = |key| json::str_at(call, &[key]);
        let (id, name) = (str_of("id"), str_of("name"));
        if !known.iter().any(|known| Some(&**known) == id) {
            let body = content::call(id, name.unwrap_or_default(), call.get("args"));
            calls.push(part(idx, body));
        }
        let failed = matches!(str_of("status"), Some("error" | "cancelled"));
        answers.extend(
            call.get("result").map(|r| result(idx, (id, name), failed, r)).unwrap_or_default(),
        );
    }
    (calls, answers)
}

/// Returns the parts of a call's result.
fn result(
    idx: usize,
    (id, name): (Option<&str>, Option<&str>),
    failed: bool,
    value: &Value,
) -> Vec<Part> {
    if value.is_null() {
        return Vec::new();
    }
    let mut parts = content::parts(value);
    let is_result = |part: &Part| matches!(part.body, Body::ToolResult { .. });
    if !parts.iter().any(is_result) {
        return content::result(idx, (id, name), failed, value);
    }
    for part in &mut parts {
        part.block = u32::try_from(idx).unwrap_or(u32::MAX);
        match &mut part.body {
            Body::ToolResult { call, tool, is_error, .. } => {
                *call = id.unwrap_or_default().into();
                *tool = name.unwrap_or_default().into();
                *is_error |= failed;
            }
            Body::Media { within, .. } => *within = Some(id.unwrap_or_default().into()),
            _ => {}
        }
    }
    parts
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(value, &["tokens", key]);
    let thoughts = count("thoughts");
    let input = count("input")?;
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: count("cached"),
        output: count("output").map(|output| output + thoughts.unwrap_or_default()),
        reasoning: thoughts,
        ..Usage::default()
    })
}
