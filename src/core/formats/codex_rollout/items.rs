//! Response items: the content sent to the model and the model's answers.

use super::blocks::{block_body, encrypted, opaque, sealed_bytes};
use super::tools;
use crate::formats::content::part;
use crate::formats::json::{str_at, text_of};
use crate::json::Value;
use crate::session::{Body, Part, Role};

/// A response item.
#[derive(Clone, Debug)]
pub(super) struct ResponseItem {
    /// Id in the file.
    pub id: Option<Box<str>>,
    /// Role of the message.
    pub role: Role,
    /// Parts of the item.
    pub parts: Vec<Part>,
    /// Relation to the context.
    pub sort: ItemKind,
    /// Whether its text begins like the user messages that Codex writes itself.
    pub looks_injected: bool,
    /// Type of the item, if unknown.
    pub unknown: Option<Box<str>>,
}

/// Relation of an item to the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// Written by the model.
    Answer,
    /// Sent to the model.
    Input,
    /// Written by Codex at the start of every context: instructions, environment.
    Setup,
    /// Summary of messages that a compaction removed.
    Summary,
    /// Never sent to the model.
    NotContext,
}

/// Item types that files of the oldest versions record without an envelope.
pub(super) const TYPES: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
];

/// Prefixes of the summary that Codex's own compaction (not the provider's) writes as a user message.
/// <https://github.com/openai/codex/blob/main/codex-rs/core/templates/compact/summary_prefix.md>
const SUMMARY_STARTS: [&str; 2] = [
    "Another language model started to solve this problem",
    // Earlier versions wrapped the summary.
    "You were originally given instructions from a user over one or more turns",
];
/// Prefixes of notifications, which do not belong to the start of a context.
const NOTIFICATION_STARTS: [&str; 4] =
    ["<subagent_notification", "<turn_aborted", "<user_action", "<user_shell_command"];
/// Id prefix of the outcome of review mode, which runs in a separate context and is recorded like a model answer.
const REVIEW_ID: &str = "review_rollout_";

impl ResponseItem {
    /// Reads an item.
    pub(super) fn read(value: &Value) -> Self {
        let kind = str_at(value, &["type"]).unwrap_or("message");
        let (role, sort, parts) = match kind {
            "message" => return Self::message(value),
            "reasoning" => (Role::Assistant, ItemKind::Answer, vec![part(0, reasoning(value))]),
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => {
                (Role::Assistant, ItemKind::Answer, vec![part(0, tools::call(kind, value))])
            }
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                (Role::Tool, ItemKind::Input, tools::result(value))
            }
            "image_generation_call" => {
                (Role::Assistant, ItemKind::Answer, tools::generated_image(value))
            }
            "agent_message" => (Role::User, ItemKind::Input, content(value)),
            "compaction" | "compaction_summary" | "context_compaction" => {
                (Role::Assistant, ItemKind::Summary, vec![part(0, encrypted(value))])
            }
            "ghost_snapshot" | "compaction_trigger" => {
                (Role::System, ItemKind::NotContext, Vec::new())
            }
            // The provider keeps its results. As a call without a result it would look incomplete.
            "web_search_call" => {
                (Role::Assistant, ItemKind::Answer, vec![part(0, opaque(kind, value))])
            }
            _ => return Self::unknown(kind, value),
        };
        Self { id: id(value), role, parts, sort, looks_injected: role == Role::User, unknown: None }
    }

    /// Returns the text of all its parts.
    pub(super) fn text(&self) -> String {
        self.parts.iter().map(|p| p.body.text()).collect::<Vec<_>>().join("\n")
    }

    fn message(value: &Value) -> Self {
        let parts = content(value);
        let first = parts.first().map_or("", |p| p.body.text()).trim_start();
        let starts_with = |starts: &[&str]| starts.iter().any(|start| first.starts_with(start));
        let (role, sort) = match str_at(value, &["role"]) {
            Some("assistant")
                if str_at(value, &["id"]).is_some_and(|id| id.starts_with(REVIEW_ID)) =>
            {
                (Role::Assistant, ItemKind::Input)
            }
            Some("assistant") => (Role::Assistant, ItemKind::Answer),
            Some("developer" | "system") => (Role::System, ItemKind::Setup),
            _ if starts_with(&SUMMARY_STARTS) => (Role::User, ItemKind::Summary),
            _ if starts_with(&NOTIFICATION_STARTS) => (Role::User, ItemKind::Input),
            _ => (Role::User, ItemKind::Setup),
        };
        let looks_injected = role == Role::User && looks_injected(first);
        Self { id: id(value), role, parts, sort, looks_injected, unknown: None }
    }

    /// Reads an item of an unknown type, whose name implies its role.
    fn unknown(kind: &str, value: &Value) -> Self {
        let (role, sort) = if kind.ends_with("_call") {
            (Role::Assistant, ItemKind::Answer)
        } else {
            (Role::User, ItemKind::Input)
        };
        let parts = vec![part(0, opaque(kind, value))];
        Self { id: id(value), role, parts, sort, looks_injected: true, unknown: Some(kind.into()) }
    }
}

/// Returns whether a text begins with `<environment_context>`, `<user_instructions>`, `# AGENTS.md instructions for` or
/// similar, but not with the frame of an image.
fn looks_injected(text: &str) -> bool {
    let tag = text.strip_prefix('<').unwrap_or_default();
    let is_tag = tag.starts_with(|c: char| c.is_ascii_alphabetic()) && tag.contains('>');
    text.starts_with("# AGENTS.md instructions") || is_tag && !tag.starts_with("image")
}

fn id(value: &Value) -> Option<Box<str>> {
    str_at(value, &["id"]).map(Into::into)
}

/// Returns the parts of a message's content.
fn content(value: &Value) -> Vec<Part> {
    match value.get("content") {
        Some(Value::String(text)) => vec![part(0, Body::Text(text.as_str().into()))],
        Some(Value::Array(blocks)) => blocks
            .iter()
            .enumerate()
            .map(|(idx, block)| part(idx, block_body(block, None)))
            .collect(),
        _ => Vec::new(),
    }
}

fn reasoning(value: &Value) -> Body {
    let texts = ["summary", "content"].map(|key| value.get(key).map(text_of).unwrap_or_default());
    let text =
        texts.iter().filter(|t| !t.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n");
    Body::Thinking { text: text.into(), sealed_bytes: sealed_bytes(value), reported: None }
}
