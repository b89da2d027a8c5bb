//! The tool `cost`: cost and usage of a session so far.

use super::session::{CallSession, SessionParameters};
use super::tool::{Answer, CallContext, SessionTool, parameters, rows, schema};
use crate::analysis::resent::resent;
use crate::cli::diagnose::RecordedCost;
use crate::cli::played;
use crate::exec::mcp::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOL: SessionTool = SessionTool {
    name: "cost",
    title: "Show cost and usage",
    description: "Shows what a recorded agent session has cost so far, at list prices, and its usage in tokens: cache reads, cache writes, other input, output and summaries, cache misses with their cause, and for each compaction when it pays off. Unknown values are null.",
    parameters: schema::<Parameters>,
    answer,
};

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
    let case = &session.loaded.case;
    let recorded = played::recorded(case, session.reserve);
    let cost = RecordedCost::new(case, &recorded);
    let mut answer = Answer::new(&session.entry(&session.file.to_string_lossy()), rows(limit))?;
    answer.set("calls", case.session.calls.len())?;
    answer.set("accuracy", case.ledger.accuracy.name())?;
    answer.set("window", case.windows.largest())?;
    answer.set("output_reserve", session.reserve)?;
    answer.set("end_tokens", recorded.outcome.end)?;
    answer.set("tokens_sent", resent(case, &recorded.outcome).sent)?;
    answer.take(&cost.json_output(), &["cost", "models", "cache_audit", "break_even"])?;
    Ok(answer)
}
