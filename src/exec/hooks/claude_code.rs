//! Claude Code. Order of events: `PreCompact`, the summary request, `SessionStart`, `PostCompact`.
//!
//! `PreCompact` prints plain text, which becomes instructions of the summary request. At `SessionStart` the summary is not
//! known, so all constraints come back. `PostCompact` has the summary but prints nothing that the model receives; what is
//! lost and did not come back yet follows at the next prompt or tool result.

use super::constraints::{current, fitting, for_context, for_summary};
use super::event::Event;
use super::reply::{Reply, additional_context};
use super::store::{SessionFile, SessionState};
use crate::analysis::facts::{ReceivedText, missing_constraints};
use crate::figure::counted;

/// Name of the agent.
pub(super) const NAME: &str = "claude-code";

/// Handles an event.
///
/// # Errors
/// Returns one line for the log.
pub(super) fn handle(event: &Event, is_kept: bool) -> Result<Reply, String> {
    let is_compact = event.source.as_deref() == Some("compact");
    match &*event.hook_event_name {
        "PreCompact" => before_compaction(event, is_kept),
        "SessionStart" if is_compact && is_kept => after_compaction(event),
        "PostCompact" if is_kept => with_summary(event),
        "UserPromptSubmit" | "PostToolUse" | "PostToolBatch" if is_kept => pending(event),
        _ => Ok(Reply::none()),
    }
}

fn before_compaction(event: &Event, is_kept: bool) -> Result<Reply, String> {
    let file = is_kept.then(|| SessionFile::open(NAME, &event.session_id)).transpose()?;
    if let Some(file) = &file {
        // If the agent ends this process, the next event knows that it must read the session itself.
        let state = file.read().unwrap_or_default();
        file.write(&SessionState { is_reading: true, ..state })?;
        file.remove_old();
    }
    let constraints = current(event)?;
    let note = format!("{} added to the summary request", counted(constraints.len(), "constraint"));
    let reply = Reply::new(for_summary(&constraints), note);
    Ok(match file {
        Some(file) => reply.keeping(file, SessionState::new(&constraints)),
        None => reply,
    })
}

fn after_compaction(event: &Event) -> Result<Reply, String> {
    let file = SessionFile::open(NAME, &event.session_id)?;
    let mut state = match file.read() {
        Some(state) if !state.is_reading => state,
        // `PreCompact` was not handled.
        _ => SessionState::new(&current(event)?),
    };
    let all = (0..state.constraints.len()).filter(|idx| !state.handed_back.contains(idx));
    let back = fitting(&state.constraints, all.collect());
    let text = for_context(&state.constraints, &back);
    let note = format!("{} came back after the compaction", counted(back.len(), "constraint"));
    state.handed_back.extend(back);
    Ok(Reply::new(additional_context("SessionStart", &text), note).keeping(file, state))
}

fn with_summary(event: &Event) -> Result<Reply, String> {
    let summary = event.compact_summary.as_deref();
    let summary = summary.ok_or("the event has no compact_summary")?;
    let file = SessionFile::open(NAME, &event.session_id)?;
    let Some(mut state) = file.read().filter(|state| !state.is_reading) else {
        return Err("the constraints before the compaction are not known".to_owned());
    };
    let received = ReceivedText { text: summary, is_summary: true };
    state.lost = missing_constraints(&state.constraints, &[received]);
    let note = format!(
        "the summary lacks {} of {}; {} to follow",
        state.lost.len(),
        counted(state.constraints.len(), "constraint"),
        state.pending().len()
    );
    Ok(Reply::new(String::new(), note).keeping(file, state))
}

fn pending(event: &Event) -> Result<Reply, String> {
    // Most prompts and tool results are in sessions without a compaction.
    if !SessionFile::is_kept(NAME, &event.session_id) {
        return Ok(Reply::none());
    }
    let file = SessionFile::open(NAME, &event.session_id)?;
    let Some(mut state) = file.read().filter(|state| !state.pending().is_empty()) else {
        return Ok(Reply::none());
    };
    let back = fitting(&state.constraints, state.pending());
    let text = for_context(&state.constraints, &back);
    let note = format!("{} came back later", counted(back.len(), "lost constraint"));
    state.handed_back.extend(back);
    Ok(Reply::new(additional_context(&event.hook_event_name, &text), note).keeping(file, state))
}
