//! The tool `inspect`: sizes of a session, and what fills its context window.

use super::session::{CallSession, ListParameters};
use super::tool::{Answer, CallContext, SessionTool, parameters, schema};
use crate::cli::inspect::findings;
use crate::cli::played;
use crate::engine::{Case, Context};
use crate::exec::mcp::JsonObject;
use crate::report::status_text;
use serde::Serialize;

pub(super) const TOOL: SessionTool = SessionTool {
    name: "inspect",
    title: "Inspect a session",
    description: "Shows how large a recorded agent session is and what fills its context window: tokens of the current context (end_tokens), what is left of the window (left_tokens), and the largest messages of the current context (in_context). The fields tokens and largest count the whole history, also what compactions removed; attribution is that of the largest context, by source (system prompt, MCP servers, memory files). The verdict compares the recorded run with the trigger of truncate, the default policy of `plimsoll`, not with that of the agent.",
    parameters: schema::<ListParameters>,
    answer,
};

/// Fields of the output of `plimsoll inspect --json`.
const FIELDS: [&str; 20] = [
    "format",
    "verdict",
    "messages",
    "compaction_messages",
    "turns",
    "calls",
    "models",
    "window",
    "window_source",
    "output_reserve",
    "end_tokens",
    "peak_tokens",
    "peak_call",
    "peak_share",
    "recorded",
    "tokens",
    "largest",
    "attribution",
    "warnings",
    "issues",
];

/// A message of the current context.
#[derive(Serialize)]
struct ContextMessage {
    /// Its number.
    message: usize,
    role: &'static str,
    /// Tokens that the context has of it.
    tokens: u32,
    status: &'static str,
}

fn answer(arguments: &JsonObject, context: &CallContext<'_>) -> anyhow::Result<Answer> {
    let ListParameters { session, limit } = parameters(arguments)?;
    let session = CallSession::open(session, context)?;
    let found = findings(&session.file, &session.loaded, &session.none, &session.shared)?;
    let mut answer = session.answer(limit.rows()?)?;
    answer.take(&found.json_output(), &FIELDS)?;
    let case = &session.loaded.case;
    let recorded = played::recorded(case, session.reserve).outcome;
    let end = recorded.end;
    let window = case.windows.at(case.session.calls.len());
    answer.set("left_tokens", window.0.saturating_sub(end.0))?;
    answer.set("in_context", in_context(case, &recorded.context))?;
    Ok(answer)
}

/// Returns the messages that a context still has, the largest first.
fn in_context(case: &Case, context: &Context) -> Vec<ContextMessage> {
    let statuses = context.statuses(case.session.messages.len());
    let kept = statuses.iter().enumerate().filter(|(_, (_, tokens))| *tokens > 0);
    let mut kept: Vec<ContextMessage> = kept
        .map(|(index, (status, tokens))| {
            let message = &case.session.messages[index];
            let role = message.author(case.session.parts_of(message)).name();
            ContextMessage {
                message: index + 1,
                role,
                tokens: *tokens,
                status: status_text(*status),
            }
        })
        .collect();
    kept.sort_by_key(|message| (std::cmp::Reverse(message.tokens), message.message));
    kept
}
