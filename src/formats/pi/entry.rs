//! One entry of the file, taken apart.

use super::super::jsonl::Record;
use super::super::message_list::MARK;
use super::super::{content, counts, json, mark};
use crate::session::{Calibration, Draft, Part, Role, Span, StepDraft, Usage};
use crate::units::Tokens;
use serde_json::Value;
use std::fmt::Write as _;

/// One entry of the file.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its bytes.
    pub(super) span: Span,
    /// What the import report calls it.
    pub(super) label: String,
    /// Its id, from version 2 on.
    pub(super) id: Option<Box<str>>,
    /// The id of the entry before it.
    pub(super) parent: Option<Box<str>>,
    /// What it says.
    pub(super) what: What,
}

/// What an entry says.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Somebody speaks.
    Said(Draft),
    /// The model speaks. Without a draft it broke off, and is not sent again.
    Answered(StepDraft, Option<Draft>),
    /// A compaction.
    Compaction(Compaction),
    /// The name of the session.
    Title(Box<str>),
    /// We wrote what stands before.
    Managed(Option<Calibration>),
    /// The reasoning effort from here on.
    Effort(Box<str>),
    /// Nothing that goes to the model.
    Aside,
    /// Of a type that came after us.
    Unknown,
}

/// A compaction.
#[derive(Clone, Debug)]
pub(super) struct Compaction {
    /// What stands for what was removed.
    pub(super) summary: Draft,
    /// The first entry that is kept.
    pub(super) first_kept: Option<First>,
    /// Tokens before it.
    pub(super) before: Option<Tokens>,
}

/// How an entry is named.
#[derive(Clone, Debug)]
pub(super) enum First {
    /// By its id.
    Id(Box<str>),
    /// By its place in the file, the header being 0 (version 1).
    Index(usize),
}

impl Entry {
    /// Takes a record apart.
    pub(super) fn read(record: Record) -> Self {
        let value = &record.value;
        let kind = json::str_at(value, &["type"]).unwrap_or("?");
        let role = json::str_at(value, &["message", "role"]).filter(|_| kind == "message");
        let id = |key| json::str_at(value, &[key]).map(Into::into);
        let what = what(kind, value, &record.span);
        let broke_off = if matches!(what, What::Answered(_, None)) {
            " (broken off)"
        } else {
            ""
        };
        Self {
            label: role.map_or_else(
                || kind.to_owned(),
                |role| format!("{kind}/{role}{broke_off}"),
            ),
            id: id("id").filter(|_| kind != "session"),
            parent: id("parentId"),
            what,
            span: record.span,
        }
    }
}

fn what(kind: &str, value: &Value, span: &Span) -> What {
    let draft = |role, parts| Draft {
        time: json::millis_at(value, &["timestamp"]),
        id: json::str_at(value, &["id"]).map(Into::into),
        raw: vec![span.clone()],
        ..Draft::new(role, parts)
    };
    let injected = |content: &Value| {
        What::Said(Draft {
            is_injected: true,
            ..draft(Role::User, content::parts(content))
        })
    };
    match kind {
        "message" => value
            .get("message")
            .map_or(What::Aside, |m| message(m, draft)),
        "custom_message" => injected(value.get("content").unwrap_or(&Value::Null)),
        "branch_summary" => injected(value.get("summary").unwrap_or(&Value::Null)),
        "compaction" => What::Compaction(Compaction {
            summary: Draft {
                is_summary: true,
                in_history: false,
                ..draft(
                    Role::User,
                    content::parts(value.get("summary").unwrap_or(&Value::Null)),
                )
            },
            first_kept: first_kept(value),
            before: counts::tokens_at(value, &["tokensBefore"]),
        }),
        "session_info" => {
            json::str_at(value, &["name"]).map_or(What::Aside, |n| What::Title(n.into()))
        }
        "custom"
            if json::str_at(value, &["customType"]) == Some(MARK)
                && json::is_true(value, &["data", "managed"]) =>
        {
            What::Managed(value.get("data").and_then(mark::calibration))
        }
        "thinking_level_change" => {
            json::str_at(value, &["thinkingLevel"]).map_or(What::Aside, |l| What::Effort(l.into()))
        }
        "session" | "model_change" | "custom" | "label" => What::Aside,
        _ => What::Unknown,
    }
}

fn first_kept(value: &Value) -> Option<First> {
    let by_id = json::str_at(value, &["firstKeptEntryId"]).map(|id| First::Id(id.into()));
    let index = json::u64_at(value, &["firstKeptEntryIndex"]);
    by_id.or_else(|| Some(First::Index(usize::try_from(index?).ok()?)))
}

fn message(message: &Value, draft: impl Fn(Role, Vec<Part>) -> Draft) -> What {
    let content = message.get("content").unwrap_or(&Value::Null);
    let injected = |parts| {
        What::Said(Draft {
            is_injected: true,
            ..draft(Role::User, parts)
        })
    };
    match json::str_at(message, &["role"]) {
        Some("user") => What::Said(draft(Role::User, content::parts(content))),
        Some("assistant") => answer(message, draft(Role::Assistant, content::parts(content))),
        Some("toolResult") => {
            let says = |key| json::str_at(message, &[key]);
            let is_error = json::is_true(message, &["isError"]);
            let names = (says("toolCallId"), says("toolName"));
            What::Said(draft(
                Role::Tool,
                content::result(0, names, is_error, content),
            ))
        }
        Some("bashExecution") if json::is_true(message, &["excludeFromContext"]) => What::Aside,
        Some("bashExecution") => {
            injected(content::text_part(0, &shell(message)).into_iter().collect())
        }
        Some("custom" | "hookMessage") => injected(content::parts(content)),
        Some("branchSummary" | "compactionSummary") => {
            let summary = message.get("summary").unwrap_or(&Value::Null);
            injected(content::parts(summary))
        }
        _ => What::Unknown,
    }
}

fn answer(message: &Value, draft: Draft) -> What {
    let step = StepDraft {
        model: json::str_at(message, &["model"]).map(str::to_owned),
        window: None,
        usage: usage(message),
        time: draft.time,
    };
    let broke_off = matches!(
        json::str_at(message, &["stopReason"]),
        Some("aborted" | "error")
    );
    What::Answered(
        step,
        (!broke_off && !draft.parts.is_empty()).then_some(draft),
    )
}

fn usage(message: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(message, &["usage", key]);
    let (read, write) = (count("cacheRead"), count("cacheWrite"));
    let input = [count("input"), read, write].into_iter().flatten().sum();
    (input > Tokens::ZERO).then_some(Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("output"),
        ..Usage::default()
    })
}

/// A command that a person ran, in the words in which Pi tells the model.
fn shell(message: &Value) -> String {
    let says = |key| json::str_at(message, &[key]).unwrap_or_default();
    let output = match says("output") {
        "" => "(no output)".to_owned(),
        output => format!("```\n{output}\n```"),
    };
    let mut text = format!("Ran `{}`\n{output}", says("command"));
    let code = json::u64_at(message, &["exitCode"]).filter(|code| *code != 0);
    if json::is_true(message, &["cancelled"]) {
        text.push_str("\n\n(command cancelled)");
    } else if let Some(code) = code {
        let _ = write!(text, "\n\nCommand exited with code {code}");
    }
    text
}
