//! Kimi CLI's `context.jsonl`: one OpenAI chat message per line, interleaved with the program's own records. The roles
//! of those records begin with an underscore. After a compaction, the program starts a new file.
//!
//! A `_usage` record directly before an answer counts the context of its call. One directly after it counts the answer
//! too.

use crate::formats::content::CallMatcher;
use crate::formats::editing::Editing;
use crate::formats::message_list::{self, Dialect, Writes};
use crate::formats::openai_roles::ROLES;
use crate::formats::{Format, Probe, RecordedData, content, counts, json, openai_chat};
use crate::json::Value;
use crate::session::{CallDraft, Draft, Role, Usage};
use crate::units::Tokens;

pub(crate) const CONTEXT: Format = Format {
    name: DIALECT.name,
    label: "Kimi CLI context",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    recorded: &[RecordedData::Usage, RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// The dialect that reads and writes these messages.
const DIALECT: Dialect = Dialect {
    name: "kimi_context",
    messages,
    call,
    writes: Some(Writes {
        edit,
        written: openai_chat::written,
        result: Some(openai_chat::added_result),
    }),
    ..Dialect::READ_ONLY
};

/// Role of the system prompt, in files that record it.
const SYSTEM_PROMPT: &str = "_system_prompt";
/// Role of a record with the context's token count.
const USAGE: &str = "_usage";

fn detect(probe: &Probe) -> Option<String> {
    let look = message_list::detect_list(probe, &message_list::CHAT)?;
    let role = |m: &&Value| json::str_at(m, &["role"]).map(str::to_owned);
    let mut roles = look.messages.iter().filter_map(role);
    let is_own = |role: &str| matches!(role, "_checkpoint" | USAGE | SYSTEM_PROMPT);
    roles.clone().any(|role| is_own(&role)).then_some(())?;
    let is_known = |role: &str| role.starts_with('_') || ROLES.contains(&role);
    roles.all(|role| is_known(&role)).then(|| format!("{} with Kimi CLI records", look.how))
}

fn call(value: &Value) -> Option<CallDraft> {
    let is_count = json::str_at(value, &["role"]) == Some(USAGE);
    let input = counts::tokens_at(value, &["token_count"]);
    let input = input.filter(|tokens| is_count && *tokens > Tokens::ZERO)?;
    Some(CallDraft { usage: Some(Usage { input, ..Usage::default() }), ..CallDraft::default() })
}

fn messages(value: &Value, calls: &mut CallMatcher) -> Result<Vec<Draft>, String> {
    let role = json::str_at(value, &["role"]).unwrap_or_default();
    if role == SYSTEM_PROMPT {
        let parts = value.get("content").map(content::parts).unwrap_or_default();
        return Ok(vec![Draft::new(Role::System, parts)]);
    }
    if role.starts_with('_') {
        return Ok(Vec::new());
    }
    let mut draft = openai_chat::message(value, calls)?;
    if draft.role == Role::Assistant && value.get("content").is_some_and(Value::is_array) {
        // Thoughts are blocks of the content.
        let tool_calls = draft
            .parts
            .drain(..)
            .filter(|p| matches!(p.body, crate::session::Body::ToolCall { .. }));
        let tool_calls: Vec<_> = tool_calls.collect();
        draft.parts = value.get("content").map(content::parts).unwrap_or_default();
        draft.parts.extend(tool_calls);
    }
    Ok(vec![draft])
}

fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    openai_chat::edit(editing)
}
