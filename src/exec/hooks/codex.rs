//! Codex. Order of events: `PreCompact`, the summary request, `PostCompact`, `SessionStart`.
//!
//! No event adds text to the summary request. At `SessionStart`, the session file contains the compaction, so exactly what
//! it lost comes back.

use super::constraints::{fitting, for_context, losses};
use super::event::Event;
use super::reply::{Reply, additional_context};
use super::store::{SessionFile, SessionState};
use crate::figure::counted;

/// Name of the agent.
pub(super) const NAME: &str = "codex";

/// Handles an event.
///
/// # Errors
/// Returns one line for the log.
pub(super) fn handle(event: &Event, is_kept: bool) -> Result<Reply, String> {
    if event.hook_event_name != "SessionStart" || event.source.as_deref() != Some("compact") {
        return Ok(Reply::none());
    }
    let losses = losses(event)?;
    let file = is_kept.then(|| SessionFile::open(NAME, &event.session_id)).transpose()?;
    let state = file.as_ref().and_then(SessionFile::read).unwrap_or_default();
    if state.handled_compactions >= losses.compactions {
        return Ok(Reply::none());
    }
    let back = fitting(&losses.lost, (0..losses.lost.len()).collect());
    let text = for_context(&losses.lost, &back);
    let note = format!("{} came back after the compaction", counted(back.len(), "lost constraint"));
    let reply = Reply::new(additional_context("SessionStart", &text), note);
    Ok(match file {
        Some(file) => {
            file.remove_old();
            let handled_compactions = losses.compactions;
            reply.keeping(file, SessionState { handled_compactions, ..SessionState::default() })
        }
        None => reply,
    })
}
