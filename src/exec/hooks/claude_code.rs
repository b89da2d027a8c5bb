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
        // What an earlier compaction lost is among the constraints of this one.
        file.write(&SessionState { is_reading: true, ..SessionState::default() })?;
        file.remove_old();
    }
    let session_len = event.session_len();
    let constraints = current(event)?;
    let note = format!("{} added to the summary request", counted(constraints.len(), "constraint"));
    let reply = Reply::new(for_summary(&constraints), note);
    Ok(match file {
        Some(file) => reply.keeping(file, SessionState::new(constraints, session_len)),
        None => reply,
    })
}

fn after_compaction(event: &Event) -> Result<Reply, String> {
    let file = SessionFile::open(NAME, &event.session_id)?;
    let session_len = event.session_len();
    let mut state = match file.read().filter(|state| is_of_this_compaction(state, event)) {
        Some(state) => SessionState { session_len, ..state },
        // `PreCompact` was not handled.
        None => SessionState::new(current(event)?, session_len),
    };
    let all = (0..state.constraints.len()).filter(|idx| !state.handed_back.contains(idx));
    let back = fitting(&state.constraints, all.collect());
    let text = for_context(&state.constraints, &back);
    let note = format!("{} came back after the compaction", counted(back.len(), "constraint"));
    state.handed_back.extend(back);
    Ok(Reply::new(additional_context("SessionStart", &text), note).keeping(file, state))
}

/// Returns whether a state was kept at `PreCompact` of the compaction whose summary is not known yet, not at that of an
/// earlier or cancelled one. Meanwhile, the agent records neither a compaction nor a message of the user.
fn is_of_this_compaction(state: &SessionState, event: &Event) -> bool {
    let is_other =
        |text: &str| text.contains("\"compact_boundary\"") || text.contains("\"type\":\"user\"");
    let added = event.session_since(state.session_len);
    !state.is_reading && !state.is_compared && added.is_some_and(|added| !is_other(&added))
}

fn with_summary(event: &Event) -> Result<Reply, String> {
    let summary = event.compact_summary.as_deref();
    let summary = summary.ok_or("the event has no compact_summary")?;
    let file = SessionFile::open(NAME, &event.session_id)?;
    let is_open = |state: &SessionState| !state.is_reading && !state.is_compared;
    let Some(mut state) = file.read().filter(is_open) else {
        return Err("the constraints before the compaction are not known".to_owned());
    };
    let received = ReceivedText { text: summary, is_summary: true };
    state.lost = missing_constraints(&state.constraints, &[received]);
    state.is_compared = true;
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
