//! The tool `inspect`: sizes of a session, and what fills its context window.

use super::session::{CallSession, SessionParameters};
use super::tool::{Answer, CallContext, SessionTool, parameters, rows, schema};
use crate::cli::inspect::findings;
use crate::cli::played;
use crate::engine::{Case, Context};
use crate::exec::mcp::JsonObject;
use crate::report::status_text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOL: SessionTool = SessionTool {
    name: "inspect",
    title: "Inspect a session",
    description: "Shows how large a recorded agent session is and what fills its context window: tokens of the current context (end_tokens), what is left of the window (left_tokens), and the largest messages of the current context (in_context). The fields tokens and largest count the whole history, also what compactions removed; attribution is that of the largest context, by source (system prompt, MCP servers, memory files).",
    parameters: schema::<Parameters>,
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

#[derive(Debug, Deserialize, JsonSchema)]
struct Parameters {
    #[serde(flatten)]
    session: SessionParameters,
    /// Maximum number of rows of each list, 1 to 100. Default: 10.
    limit: Option<usize>,
}

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
    let Parameters { session, limit } = parameters(arguments)?;
    let session = CallSession::open(session, context)?;
    let found = findings(&session.file, &session.loaded, &session.none, &session.shared)?;
    let mut answer = Answer::new(&session.entry(&session.file.to_string_lossy()), rows(limit))?;
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
