//! Response items: what the model sees and says.

use super::super::json::{str_at, text_of};
use super::super::payload;
use super::tools;
use crate::session::{Body, Part, Role};
use serde_json::Value;

/// One response item.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its id in the file.
    pub id: Option<Box<str>>,
    /// Who speaks.
    pub role: Role,
    /// What it holds.
    pub parts: Vec<Part>,
    /// What it is for the conversation.
    pub sort: Sort,
    /// Its text begins as what Codex writes in a person's place does.
    pub looks_injected: bool,
    /// Its type, if we do not know it.
    pub unknown: Option<Box<str>>,
}

/// What an item is for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A model call wrote it.
    Answer,
    /// It was put before the model.
    Input,
    /// Codex writes it whenever it sets up a context: instructions, environment.
    Setup,
    /// A summary that stands for what a compaction removed.
    Summary,
    /// The model never sees it.
    NotContext,
}

/// Items whose type says it all; files of the oldest versions hold them bare.
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

/// How Codex begins the summary that its own (not the provider's) compaction puts in a user's message.
/// <https://github.com/openai/codex/blob/main/codex-rs/core/templates/compact/summary_prefix.md>
const SUMMARY_STARTS: [&str; 2] = [
    "Another language model started to solve this problem",
    // Versions before that wrapped it in a bridge.
    "You were originally given instructions from a user over one or more turns",
];
/// News, other than what a new context is set up with.
const NEWS_STARTS: [&str; 4] = [
    "<subagent_notification",
    "<turn_aborted",
    "<user_action",
    "<user_shell_command",
];
/// Review mode runs elsewhere; Codex then writes down its outcome as if the model had said it.
const REVIEW_ID: &str = "review_rollout_";

impl Item {
    /// Reads an item.
    pub(super) fn read(value: &Value) -> Self {
        let kind = str_at(value, &["type"]).unwrap_or("message");
        let (role, sort, parts) = match kind {
            "message" => return Self::message(value),
            "reasoning" => (
                Role::Assistant,
                Sort::Answer,
                vec![part(reasoning(value), 0)],
            ),
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => (
                Role::Assistant,
                Sort::Answer,
                vec![part(tools::call(kind, value), 0)],
            ),
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                (Role::Tool, Sort::Input, tools::result(value))
            }
            "image_generation_call" => {
                (Role::Assistant, Sort::Answer, tools::generated_image(value))
            }
            "agent_message" => (Role::User, Sort::Input, content(value)),
            "compaction" | "compaction_summary" | "context_compaction" => {
                (Role::Assistant, Sort::Summary, vec![part(sealed(value), 0)])
            }
            "ghost_snapshot" | "compaction_trigger" => (Role::System, Sort::NotContext, Vec::new()),
            // Its results stay with the provider; a call without a result of its own must not look like half a pair.
            "web_search_call" => (
                Role::Assistant,
                Sort::Answer,
                vec![part(opaque(kind, value), 0)],
            ),
            _ => return Self::unknown(kind, value),
        };
        Self {
            id: id(value),
            role,
            parts,
            sort,
            looks_injected: role == Role::User,
            unknown: None,
        }
    }

    /// The text of all its parts.
    pub(super) fn text(&self) -> String {
        self.parts
            .iter()
            .map(|p| p.body.text())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn message(value: &Value) -> Self {
        let parts = content(value);
        let first = parts.first().map_or("", |p| p.body.text()).trim_start();
        let starts_with = |starts: &[&str]| starts.iter().any(|start| first.starts_with(start));
        let (role, sort) = match str_at(value, &["role"]) {
            Some("assistant")
                if str_at(value, &["id"]).is_some_and(|id| id.starts_with(REVIEW_ID)) =>
            {
                (Role::Assistant, Sort::Input)
            }
            Some("assistant") => (Role::Assistant, Sort::Answer),
            Some("developer" | "system") => (Role::System, Sort::Setup),
            _ if starts_with(&SUMMARY_STARTS) => (Role::User, Sort::Summary),
            _ if starts_with(&NEWS_STARTS) => (Role::User, Sort::Input),
            _ => (Role::User, Sort::Setup),
        };
        let looks_injected = role == Role::User && looks_injected(first);
        Self {
            id: id(value),
            role,
            parts,
            sort,
            looks_injected,
            unknown: None,
        }
    }

    /// A type that came after us: its name says who wrote it.
    fn unknown(kind: &str, value: &Value) -> Self {
        let (role, sort) = if kind.ends_with("_call") {
            (Role::Assistant, Sort::Answer)
        } else {
            (Role::User, Sort::Input)
        };
        let parts = vec![part(opaque(kind, value), 0)];
        Self {
            id: id(value),
            role,
            parts,
            sort,
            looks_injected: true,
            unknown: Some(kind.into()),
        }
    }
}

/// `<environment_context>`, `<user_instructions>`, `# AGENTS.md instructions for`... but not an image's frame.
fn looks_injected(text: &str) -> bool {
    let tag = text.strip_prefix('<').unwrap_or_default();
    let is_tag = tag.starts_with(|c: char| c.is_ascii_alphabetic()) && tag.contains('>');
    text.starts_with("# AGENTS.md instructions") || is_tag && !tag.starts_with("image")
}

/// A part of an item, which is a record of its own.
pub(super) fn part(body: Body, block: usize) -> Part {
    Part {
        body,
        record: 0,
        block: u32::try_from(block).unwrap_or(u32::MAX),
    }
}

fn id(value: &Value) -> Option<Box<str>> {
    str_at(value, &["id"]).map(Into::into)
}

fn opaque(name: &str, value: &Value) -> Body {
    Body::Opaque {
        name: name.into(),
        json: value.to_string().into(),
    }
}

/// A message's content.
fn content(value: &Value) -> Vec<Part> {
    match value.get("content") {
        Some(Value::String(text)) => vec![part(Body::Text(text.as_str().into()), 0)],
        Some(Value::Array(blocks)) => blocks
            .iter()
            .enumerate()
            .map(|(idx, block)| part(block_body(block, None), idx))
            .collect(),
        _ => Vec::new(),
    }
}

/// A content block; `within` is the call whose result it stands in.
pub(super) fn block_body(block: &Value, within: Option<&str>) -> Body {
    let url = |key| {
        str_at(block, &[key])
            .or_else(|| str_at(block, &[key, "url"]))
            .unwrap_or_default()
    };
    match str_at(block, &["type"]).unwrap_or("text") {
        "input_image" => payload::from_url("image/*", url("image_url"), within),
        "input_audio" => payload::from_url("audio/*", url("audio_url"), within),
        "input_file" => payload::from_url("application/*", url("file_data"), within),
        "encrypted_content" => sealed(block),
        kind => str_at(block, &["text"])
            .or_else(|| str_at(block, &["refusal"]))
            .or_else(|| block.as_str())
            .map_or_else(|| opaque(kind, block), |text| Body::Text(text.into())),
    }
}

fn reasoning(value: &Value) -> Body {
    let texts = ["summary", "content"].map(|key| value.get(key).map(text_of).unwrap_or_default());
    let text = texts
        .iter()
        .filter(|t| !t.is_empty())
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    Body::Thinking {
        text: text.into(),
        sealed_bytes: sealed_bytes(value),
        reported: None,
    }
}

/// What only the provider can read: it weighs, but how much is not known to the file.
fn sealed(value: &Value) -> Body {
    Body::Thinking {
        text: "".into(),
        sealed_bytes: sealed_bytes(value),
        reported: None,
    }
}

fn sealed_bytes(value: &Value) -> u32 {
    let len = str_at(value, &["encrypted_content"]).map_or(0, str::len);
    u32::try_from(len).unwrap_or(u32::MAX)
}
