//! The tool `find`: messages of a session that match a query.

use super::session::{CallSession, SessionParameters};
use super::tool::{Answer, CallContext, Page, SessionTool, parameters, schema};
use crate::cli::find::{FindResult, messages};
use crate::cli::found;
use crate::exec::mcp::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOL: SessionTool = SessionTool {
    name: "find",
    title: "Find messages",
    description: "Finds messages of a recorded agent session by text, kind, role, tool, size, call or turn, including those that compactions removed from the context. Returns the number of each message (the same in all tools), the part and the bytes of the first match, and the text around it. `message` returns the whole text. Words of a query: all must match; case is ignored. Terms: \"a phrase\", kind:result, role:user, tool:Bash, tokens>2000, call:20-34, turn:3, message:12, is:error; - before a term negates it.",
    parameters: schema::<Parameters>,
    answer,
};

#[derive(Debug, Deserialize, JsonSchema)]
struct Parameters {
    #[serde(flatten)]
    session: SessionParameters,
    /// Words and terms, such as: kind:result tokens>2000 error
    query: String,
    #[serde(flatten)]
    page: Page,
}

fn answer(arguments: &JsonObject, context: &CallContext<'_>) -> anyhow::Result<Answer> {
    let Parameters { session, query, page } = parameters(arguments)?;
    let parsed = found::query(&query)?;
    let session = CallSession::open(session, context)?;
    let all = messages(&session.loaded.case, &parsed);
    let (shown, after) = page.of(&all)?;
    let mut answer = session.answer(page.limit.rows()?)?;
    answer
        .take(&FindResult::new(&query, &all, shown), &["query", "messages", "matches", "found"])?;
    answer.leave_out("found", after);
    if all.is_empty() {
        answer.set("valid", parsed.valid_values(&session.loaded.case.session))?;
    }
    Ok(answer)
}
