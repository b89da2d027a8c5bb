//! Parses one entry of the file.

use crate::formats::jsonl::Record;
use crate::formats::mark::MARK;
use crate::formats::{content, counts, json, mark};
use crate::json::Value;
use crate::session::{
    Body, Calibration, CallDraft, CutAnswer, Draft, Part, Role, Span, Usage, says_too_long,
};
use crate::units::Tokens;
use std::fmt::Write as _;

/// One entry of the file.
#[derive(Debug)]
pub(crate) struct PiEntry {
    /// Byte span in the file.
    pub(crate) span: Span,
    /// Name in the import report.
    pub(crate) label: String,
    /// Id (version 2 and later).
    pub(crate) id: Option<Box<str>>,
    /// Id of the previous entry.
    pub(crate) parent: Option<Box<str>>,
    /// Content of the entry.
    pub(crate) content: EntryContent,
}

/// Content of an entry.
#[derive(Clone, Debug)]
pub(crate) enum EntryContent {
    /// A message of the user, the program or a tool.
    Message(Draft),
    /// An answer of the model. An interrupted answer has no draft and is not resent.
    Answer(CallDraft, Option<Draft>),
    /// A call that the provider rejected because its context was too long, with its error message.
    Rejected(CallDraft, Box<str>),
    /// A compaction.
    Compaction(PiCompaction),
    /// The session's name.
    Title(Box<str>),
    /// A mark that Plimsoll wrote the entries before it.
    Managed(Option<Calibration>),
    /// The reasoning effort of the following calls.
    Effort(Box<str>),
    /// Content that is not sent to the model.
    Ignored,
    /// A type that is not supported.
    Unknown,
}

/// A compaction.
#[derive(Clone, Debug)]
pub(crate) struct PiCompaction {
    /// Summary that replaces the removed messages.
    pub(crate) summary: Draft,
    /// The first entry that is kept.
    pub(crate) first_kept: Option<EntryRef>,
    /// Tokens before the compaction.
    pub(crate) before: Option<Tokens>,
}

/// A reference to an entry.
#[derive(Clone, Debug)]
pub(crate) enum EntryRef {
    /// Id of the entry.
    Id(Box<str>),
    /// Index of the entry in the file; the header is 0 (version 1).
    Index(usize),
}

impl PiEntry {
    /// Parses a record.
    pub(super) fn read(record: Record) -> Self {
        let value = &record.value;
        let kind = json::str_at(value, &["type"]).unwrap_or("?");
        let role = json::str_at(value, &["message", "role"]).filter(|_| kind == "message");
        let id = |key| json::str_at(value, &[key]).map(Into::into);
        let content = entry_content(kind, value, &record.span);
        let is_interrupted =
            if matches!(content, EntryContent::Answer(_, None)) { " (interrupted)" } else { "" };
        Self {
            label: role
                .map_or_else(|| kind.to_owned(), |role| format!("{kind}/{role}{is_interrupted}")),
            id: id("id").filter(|_| kind != "session"),
            parent: id("parentId"),
            content,
            span: record.span,
        }
    }
}

fn entry_content(kind: &str, value: &Value, span: &Span) -> EntryContent {
    let draft = |role, parts| Draft {
        time: json::millis_at(value, &["timestamp"]),
        id: json::str_at(value, &["id"]).map(Into::into),
        raw: vec![span.clone()],
        ..Draft::new(role, parts)
    };
    let injected =
        |parts| EntryContent::Message(Draft { is_injected: true, ..draft(Role::User, parts) });
    let member = |key| value.get(key).unwrap_or(&Value::Null);
    match kind {
        "message" => value.get("message").map_or(EntryContent::Ignored, |m| message(m, draft)),
        "custom_message" => injected(content::parts(member("content"))),
        "branch_summary" => injected(within(BRANCH, member("summary"))),
        "compaction" => EntryContent::Compaction(PiCompaction {
            summary: Draft {
                is_summary: true,
                in_history: false,
                ..draft(Role::User, summary_parts(member("summary")))
            },
            first_kept: first_kept(value),
            before: counts::tokens_at(value, &["tokensBefore"]),
        }),
        "session_info" => json::str_at(value, &["name"])
            .map_or(EntryContent::Ignored, |n| EntryContent::Title(n.into())),
        "custom"
            if json::str_at(value, &["customType"]) == Some(MARK)
                && json::is_true(value, &["data", "managed"]) =>
        {
            EntryContent::Managed(value.get("data").and_then(mark::calibration))
        }
        "thinking_level_change" => json::str_at(value, &["thinkingLevel"])
            .map_or(EntryContent::Ignored, |l| EntryContent::Effort(l.into())),
        "session" | "model_change" | "custom" | "label" => EntryContent::Ignored,
        _ => EntryContent::Unknown,
    }
}

/// Texts that Pi sends before and after the summary of a compaction (`COMPACTION_SUMMARY_PREFIX` in `messages.ts`).
const COMPACTION: [&str; 2] = [
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
];
/// Texts that Pi sends before and after the summary of an abandoned branch (`BRANCH_SUMMARY_PREFIX`).
const BRANCH: [&str; 2] = [
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    "</summary>",
];

/// Returns the summary of a compaction in the words that Pi sends.
pub(crate) fn summary_parts(summary: &Value) -> Vec<Part> {
    within(COMPACTION, summary)
}

fn within([before, after]: [&str; 2], summary: &Value) -> Vec<Part> {
    let mut parts = content::parts(summary);
    if let [Part { body: Body::Text(text), .. }] = &mut parts[..] {
        *text = format!("{before}{text}{after}").into();
    }
    parts
}

/// Returns the text of a summary without the words that Pi adds when it sends it.
pub(super) fn bare_summary(text: &str) -> &str {
    let bare = |[before, after]: [&str; 2]| text.strip_prefix(before)?.strip_suffix(after);
    bare(COMPACTION).or_else(|| bare(BRANCH)).unwrap_or(text)
}

fn first_kept(value: &Value) -> Option<EntryRef> {
    let by_id = json::str_at(value, &["firstKeptEntryId"]).map(|id| EntryRef::Id(id.into()));
    let index = json::u64_at(value, &["firstKeptEntryIndex"]);
    by_id.or_else(|| Some(EntryRef::Index(usize::try_from(index?).ok()?)))
}

/// Reads a message. `draft` creates a message with the id, the time and the position of its record.
pub(crate) fn message(message: &Value, draft: impl Fn(Role, Vec<Part>) -> Draft) -> EntryContent {
    let content = message.get("content").unwrap_or(&Value::Null);
    let injected =
        |parts| EntryContent::Message(Draft { is_injected: true, ..draft(Role::User, parts) });
    match json::str_at(message, &["role"]) {
        Some("user") => EntryContent::Message(draft(Role::User, content::parts(content))),
        Some("assistant") => answer(message, draft(Role::Assistant, content::parts(content))),
        Some("toolResult") => {
            let field = |key| json::str_at(message, &[key]);
            let is_error = json::is_true(message, &["isError"]);
            let names = (field("toolCallId"), field("toolName"));
            EntryContent::Message(draft(Role::Tool, content::result(0, names, is_error, content)))
        }
        Some("bashExecution") if json::is_true(message, &["excludeFromContext"]) => {
            EntryContent::Ignored
        }
        Some("bashExecution") => {
            injected(content::text_part(0, &shell(message)).into_iter().collect())
        }
        Some("custom" | "hookMessage") => injected(content::parts(content)),
        Some("branchSummary") => {
            injected(within(BRANCH, message.get("summary").unwrap_or(&Value::Null)))
        }
        Some("compactionSummary") => {
            injected(summary_parts(message.get("summary").unwrap_or(&Value::Null)))
        }
        _ => EntryContent::Unknown,
    }
}

fn answer(message: &Value, draft: Draft) -> EntryContent {
    let stop_reason = json::str_at(message, &["stopReason"]);
    let usage = usage(message);
    let call = CallDraft {
        model: json::str_at(message, &["model"]).map(str::to_owned),
        usage,
        time: draft.time,
        cut: (stop_reason == Some("length"))
            .then(|| CutAnswer { window: usage.and_then(|usage| window_shown(&usage)) }),
        ..CallDraft::default()
    };
    let is_interrupted = matches!(stop_reason, Some("aborted" | "error"));
    let error = json::str_at(message, &["errorMessage"]).unwrap_or_default();
    if says_too_long(&error.to_lowercase()) && call.usage.is_none() {
        return EntryContent::Rejected(call, error.into());
    }
    EntryContent::Answer(call, (!is_interrupted && !draft.parts.is_empty()).then_some(draft))
}

/// Tokens that Pi leaves free between the context and the window when it limits an answer
/// (`CONTEXT_SAFETY_TOKENS` in `simple-options.ts` of `pi-ai`).
const FREE: Tokens = Tokens(4_096);
/// Maximum answer that was limited by the window. No model's own limit of an answer is lower.
// An answer of this size or more may have reached the model's own limit, which says nothing about the window.
const LIMITED: Tokens = Tokens(4_096);

/// Returns the context window that a limited answer shows: Pi allows an answer only what the window has left.
fn window_shown(usage: &Usage) -> Option<Tokens> {
    let output = usage.output.filter(|output| *output < LIMITED)?;
    Some(usage.input + output + FREE)
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

/// Formats a command that the user ran, in the words that Pi sends to the model.
fn shell(message: &Value) -> String {
    let field = |key| json::str_at(message, &[key]).unwrap_or_default();
    let output = match field("output") {
        "" => "(no output)".to_owned(),
        output => format!("```\n{output}\n```"),
    };
    let mut text = format!("Ran `{}`\n{output}", field("command"));
    let code = json::u64_at(message, &["exitCode"]).filter(|code| *code != 0);
    if json::is_true(message, &["cancelled"]) {
        text.push_str("\n\n(command cancelled)");
    } else if let Some(code) = code {
        let _ = write!(text, "\n\nCommand exited with code {code}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn summaries_are_sent_within_words_of_pi() {
        for words in [COMPACTION, BRANCH] {
            let parts = within(words, &json!("Sorted."));
            let sent = parts[0].body.text();
            assert!(sent.starts_with("The ") && sent.ends_with("</summary>"), "{sent}");
            assert_eq!(bare_summary(sent), "Sorted.");
        }
        assert_eq!(bare_summary("Sorted."), "Sorted.");
    }
}
