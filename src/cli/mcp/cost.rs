//! The tool `cost`: cost and usage of a session so far.

use super::session::{CallSession, ListParameters};
use super::tool::{Answer, CallContext, SessionTool, parameters, schema};
use crate::analysis::resent::resent;
use crate::cli::diagnose::RecordedCost;
use crate::cli::played;
use crate::exec::mcp::JsonObject;

pub(super) const TOOL: SessionTool = SessionTool {
    name: "cost",
    title: "Show cost and usage",
    description: "Shows what a recorded agent session has cost so far, at list prices, and its usage in tokens: cache reads, cache writes, other input, output and summaries, cache misses with their cause, and for each compaction when it pays off. Unknown values are null.",
    parameters: schema::<ListParameters>,
    answer,
};

fn answer(arguments: &JsonObject, context: &CallContext<'_>) -> anyhow::Result<Answer> {
    let ListParameters { session, limit } = parameters(arguments)?;
    let session = CallSession::open(session, context)?;
    let case = &session.loaded.case;
    let recorded = played::recorded(case, session.reserve);
    let cost = RecordedCost::new(case, &recorded);
    let mut answer = session.answer(limit.rows()?)?;
    answer.set("calls", case.session.calls.len())?;
    answer.set("accuracy", case.ledger.accuracy.name())?;
    answer.set("window", case.windows.largest())?;
    answer.set("output_reserve", session.reserve)?;
    answer.set("end_tokens", recorded.outcome.end)?;
    answer.set("tokens_sent", resent(case, &recorded.outcome).sent)?;
    answer.take(&cost.json_output(), &["cost", "models", "cache_audit", "break_even"])?;
    Ok(answer)
}
