//! The tool `lost`: facts that compactions removed from the context.

use super::session::{CallSession, SessionParameters};
use super::tool::{Answer, CallContext, Page, SessionTool, parameters, schema};
use crate::analysis::facts::FactKind;
use crate::cli::args::fact_kind;
use crate::cli::evaluate::recorded;
use crate::cli::targets::SessionId;
use crate::exec::mcp::JsonObject;
use anyhow::Context as _;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

pub(super) const TOOL: SessionTool = SessionTool {
    name: "lost",
    title: "List lost facts",
    description: "Lists facts of a recorded agent session that its compactions removed from the context: user constraints and decisions, plan items, files, commands with their outcome, errors, values, identifiers and links. Constraints and decisions of the user come first, then facts that the agent used while they were lost. Each fact has the number of the message that states it, which `message` returns. Facts are found by rules; a reworded fact counts as lost. Use it after a compaction to see what is no longer in the context.",
    parameters: schema::<Parameters>,
    answer,
};

#[derive(Debug, Deserialize, JsonSchema)]
struct Parameters {
    #[serde(flatten)]
    session: SessionParameters,
    /// Only facts of this kind. Default: all kinds.
    #[serde(default)]
    #[schemars(schema_with = "kinds")]
    kind: Option<String>,
    /// Also list facts that are in the context again. Default: false.
    all: Option<bool>,
    #[serde(flatten)]
    page: Page,
}

fn kinds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "Only facts of this kind. Default: all kinds.",
        "type": "string",
        "enum": FactKind::ALL.map(FactKind::name),
    })
}

fn answer(arguments: &JsonObject, context: &CallContext<'_>) -> anyhow::Result<Answer> {
    let Parameters { session, kind, all, page } = parameters(arguments)?;
    let kind = kind.as_deref().map(fact_kind).transpose()?;
    let session = CallSession::open(session, context)?;
    let file = session.file.to_string_lossy().into_owned();
    let id = SessionId { file, conversation: session.shared.conversation };
    let evaluated = recorded(&id, &session.loaded.case, session.reserve, &session.shared);
    context.progress.check_cancelled()?;
    let mut output = serde_json::to_value(evaluated.json_output())?;
    let lane = output.pointer_mut("/lanes/0").context("the recorded run was not evaluated")?;
    let lost = lane.get_mut("lost").map(Value::take);
    let lost: Vec<Value> = serde_json::from_value(lost.unwrap_or_default())?;
    let is_asked = |fact: &&Value| {
        let is_kind = kind.is_none_or(|kind| fact["kind"] == kind.name());
        is_kind && (all == Some(true) || fact["gone"] == true)
    };
    let mut asked: Vec<&Value> = lost.iter().filter(is_asked).collect();
    let of_user = [FactKind::Constraint, FactKind::Decision];
    let place = |fact: &&Value| of_user.iter().position(|kind| fact["kind"] == kind.name());
    asked.sort_by_key(|fact| place(fact).unwrap_or(of_user.len()));
    let (shown, after) = page.of(&asked)?;
    let mut answer = session.answer(page.limit.rows()?)?;
    answer
        .take(&*lane, &["compactions", "context_tokens", "removed_facts", "total", "survival"])?;
    answer.set("lost_facts", lost.len())?;
    answer.set("lost", shown)?;
    answer.leave_out("lost", after);
    Ok(answer)
}
