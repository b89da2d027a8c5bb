//! The tool `inspect`: sizes of a session, and what fills its context window.

use super::session::{CallSession, SessionParameters};
use super::tool::{Answer, CallContext, SessionTool, parameters, rows, schema};
use crate::cli::inspect::findings;
use crate::exec::mcp::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOL: SessionTool = SessionTool {
    name: "inspect",
    title: "Inspect a session",
    description: "Shows how large a recorded agent session is and what fills its context window: tokens of the current context (end_tokens), the window, the largest context, recorded compactions, the largest messages, and tokens by kind, by tool and by source (system prompt, MCP servers, memory files). Use it to see how much of the window is left and what takes it.",
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

fn answer(arguments: &JsonObject, context: &CallContext<'_>) -> anyhow::Result<Answer> {
    let Parameters { session, limit } = parameters(arguments)?;
    let session = CallSession::open(session, context)?;
    let found = findings(&session.file, &session.loaded, &session.none, &session.shared)?;
    let mut answer = Answer::new(&session.entry(&session.file.to_string_lossy()), rows(limit))?;
    answer.take(&found.json_output(), &FIELDS)?;
    Ok(answer)
}
