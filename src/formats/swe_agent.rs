//! SWE-agent's trajectories: a JSON document with the conversation (`history`) and the steps (`trajectory`).
//!
//! Every step repeats the whole query of its call, so the conversation is read from `history` alone, and from the last
//! step's query where there is none. `history` holds everything; what the agent's own history processors left out of
//! a call is told by that call's query, which later versions keep. Tokens are recorded as a total only.

use super::message_list::Calls;
use super::notes::Notes;
use super::rows::{self, Row};
use super::talk::Talk;
use super::{
    Carried, Format, ImportReport, Input, Parsed, Probe, Refused, Unread, content, json,
    openai_chat,
};
use crate::progress::Progress;
use crate::session::{Draft, Role, StepDraft};
use serde_json::Value;

/// The row of the table.
pub(super) const FORMAT: Format = Format {
    name: "swe_agent",
    label: "SWE-agent trajectory",
    detect,
    parse,
    export: None,
    carries: &[Carried::SystemPrompt],
    kept: None,
    resume: None,
};

/// Members of a message of the history that only this agent writes.
const OWN: [&str; 4] = ["agent", "message_type", "is_demo", "thought"];

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let steps = document.get("trajectory").and_then(Value::as_array);
    let is_step = |s: &Value| s.get("observation").is_some() && s.get("response").is_some();
    if steps.is_some_and(|steps| !steps.is_empty() && steps.iter().all(is_step)) {
        return Some("a document whose `trajectory` holds responses with observations".to_owned());
    }
    let history = document.get("history")?.as_array()?;
    let has_role = |m: &Value| json::str_at(m, &["role"]).is_some();
    let is_own = |m: &Value| OWN.iter().any(|key| m.get(key).is_some());
    (!history.is_empty() && history.iter().all(has_role) && history.iter().any(is_own))
        .then(|| "a document whose `history` holds messages of agents".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, Unread> {
    let bytes = &input.bytes;
    let whole = json::document_span(bytes);
    let mut notes = Notes::default();
    let mut report = ImportReport::default();
    let mut talk = Talk::new(input, FORMAT.name, None);
    let mut history = rows::listed(bytes, &whole, &["history"], progress, &mut notes)?;
    let steps = rows::listed(bytes, &whole, &["trajectory"], progress, &mut notes)?;
    if history.is_empty() {
        history = last_query(bytes, &steps, progress, &mut notes)?;
    }
    for _ in &steps {
        report.note("trajectory step", false);
    }
    let mut calls = Calls::default();
    let mut is_running = false;
    for row in history {
        progress.go_on()?;
        let role = json::str_at(&row.value, &["role"]).unwrap_or("other");
        match draft(&row, &mut calls, is_running) {
            Ok(draft) => {
                report.note(role, true);
                is_running |= draft.role == Role::Assistant;
                if draft.role == Role::Assistant {
                    talk.answer(StepDraft::default(), draft);
                } else {
                    talk.say(draft);
                }
            }
            Err(why) => {
                report.note(role, false);
                notes.add(row.span.start, why);
            }
        }
    }
    let session = talk.finish().ok_or_else(|| Refused {
        looks_like: "this looks like a SWE-agent trajectory without a message".to_owned(),
    })?;
    Ok(Parsed {
        sessions: vec![session],
        warnings: notes.warnings(bytes),
        report,
    })
}

/// What the last call saw, and what was answered to it.
fn last_query(
    bytes: &[u8],
    steps: &[Row],
    progress: &Progress,
    notes: &mut Notes,
) -> Result<Vec<Row>, Unread> {
    for step in steps.iter().rev() {
        for key in ["query", "messages"] {
            let query = rows::listed(bytes, &step.span, &[key], progress, notes)?;
            if !query.is_empty() {
                return Ok(query);
            }
        }
    }
    Ok(Vec::new())
}

/// A message. Where the model has no tools of its own, its action is a text and the observation a user's: a person
/// speaks before the first answer only.
fn draft(row: &Row, calls: &mut Calls, is_running: bool) -> Result<Draft, String> {
    let mut draft = openai_chat::message(&row.value, calls)?;
    draft.raw = vec![row.span.clone()];
    let kind = json::str_at(&row.value, &["message_type"]);
    let is_demo = kind == Some("demonstration") || json::is_true(&row.value, &["is_demo"]);
    draft.is_injected = draft.role == Role::User && (is_demo || is_running);
    // One observation may answer several calls; it names them all.
    let ids = row.value.get("tool_call_ids").and_then(Value::as_array);
    if let (Role::Tool, Some(id)) = (draft.role, ids.and_then(|ids| ids.first()?.as_str())) {
        let said = row.value.get("content").unwrap_or(&Value::Null);
        draft.parts = content::result(0, (Some(id), None), false, said);
    }
    Ok(draft)
}
