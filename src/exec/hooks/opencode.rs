//! `OpenCode`: a plugin calls this for two of its hooks and passes the whole session.
//!
//! `experimental.session.compacting` adds text to the summary request. `experimental.chat.messages.transform` changes the
//! messages of a request: the plugin adds what the last compaction lost to the summary, where it stays. If nothing was lost,
//! it receives an empty line, because nothing at all is a failure, after which it asks again.

use super::constraints::{current, fitting, for_context, for_summary, losses};
use super::event::Event;
use super::reply::Reply;
use crate::figure::counted;

/// Name of the agent.
pub(super) const NAME: &str = "opencode";

/// Handles an event.
///
/// # Errors
/// Returns one line for the log.
pub(super) fn handle(event: &Event, _is_kept: bool) -> Result<Reply, String> {
    match &*event.hook_event_name {
        "experimental.session.compacting" => {
            let constraints = current(event)?;
            let n = counted(constraints.len(), "constraint");
            Ok(Reply::new(for_summary(&constraints), format!("{n} added to the summary request")))
        }
        "experimental.chat.messages.transform" => {
            let lost = losses(event)?.lost;
            let back = fitting(&lost, (0..lost.len()).collect());
            let n = counted(back.len(), "lost constraint");
            let text = for_context(&lost, &back);
            let text = if text.is_empty() { "\n".to_owned() } else { text };
            Ok(Reply::new(text, format!("{n} came back after the compaction")))
        }
        _ => Ok(Reply::none()),
    }
}
