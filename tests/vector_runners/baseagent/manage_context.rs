//! `manage_context`, which runs before every call: measures, clears, measures again, summarizes.
//!
//! Presets split it into stages; only case files run it whole.

use plimsoll::chat::{ChatMessage, PendingRequest, Replies};
use plimsoll::languages::python::PythonError;
use plimsoll::systems::baseagent::log_lines::{
    OVERFLOW, compaction_result, insufficient, status, sufficient,
};
use plimsoll::systems::baseagent::{
    Limits, StopAtMarker, Texts, compact, prune_old_tool_outputs, total_tokens,
};
use plimsoll::units::Tokens;

/// The result of the management.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Managed {
    /// The messages to send; `None` if they are the given list. Or the original's exception.
    pub(super) messages: Result<Option<Vec<ChatMessage>>, PythonError>,
    /// Its log lines, up to the exception.
    pub(super) log: Vec<String>,
}

/// `manage_context`. The summary request contains the cleared messages. If it fails, those are sent.
///
/// # Errors
/// [`PendingRequest`] until the summary is available.
pub(super) fn manage_context(
    messages: &[ChatMessage],
    system: &ChatMessage,
    limits: &Limits,
    is_forced: bool,
    replies: &mut Replies<'_>,
) -> Result<Managed, PendingRequest> {
    let mut log = Vec::new();
    let cleared = match clear(messages, limits, is_forced, &mut log) {
        Ok(cleared) => cleared,
        Err(error) => {
            return Ok(Managed { messages: Err(error), log });
        }
    };
    let Cleared { messages: pruned, before, after } = match cleared {
        Clearing::Enough(messages) => {
            return Ok(Managed { messages: Ok(messages), log });
        }
        Clearing::Insufficient(cleared) => cleared,
    };
    log.push(insufficient(after));
    let given = pruned.as_deref().unwrap_or(messages);
    let compacted = compact(given, Some(system), &Texts::default(), replies)?;
    log.extend(compacted.log);
    let messages = compacted.messages.or(pruned);
    let result = messages.as_deref().map_or(Ok(after), total_tokens);
    let messages = result.map(|result| {
        log.push(compaction_result(before, result));
        messages
    });
    Ok(Managed { messages, log })
}

/// Whether clearing was enough.
enum Clearing {
    /// The messages to send.
    Enough(Option<Vec<ChatMessage>>),
    /// A summary is needed.
    Insufficient(Cleared),
}

struct Cleared {
    messages: Option<Vec<ChatMessage>>,
    before: Tokens,
    after: Tokens,
}

fn clear(
    messages: &[ChatMessage],
    limits: &Limits,
    is_forced: bool,
    log: &mut Vec<String>,
) -> Result<Clearing, PythonError> {
    let before = total_tokens(messages)?;
    log.push(status(before, limits)?);
    if !is_forced && !limits.is_overflow(before) {
        return Ok(Clearing::Enough(None));
    }
    log.push(OVERFLOW.to_owned());
    let pruned = prune_old_tool_outputs(messages, limits, StopAtMarker::Yes)?;
    log.extend(pruned.log);
    let messages = pruned.messages;
    let after = messages.as_deref().map_or(Ok(before), total_tokens)?;
    if !is_forced && !limits.is_overflow(after) {
        log.push(sufficient(before, after));
        return Ok(Clearing::Enough(messages));
    }
    Ok(Clearing::Insufficient(Cleared { messages, before, after }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn managed(limits: &Limits, is_forced: bool) -> Managed {
        let system = ChatMessage::new("system", "S");
        let mut replies = Replies::new(&[]);
        manage_context(&[], &system, limits, is_forced, &mut replies).unwrap()
    }

    #[test]
    fn a_window_without_input_tokens_raises_before_anything_is_logged() {
        let limits = Limits { context: 100, output: 100, ..Limits::SHIPPED };
        let managed = managed(&limits, false);
        assert_eq!(managed.log, Vec::<String>::new());
        assert_eq!(managed.messages.unwrap_err().text, "division by zero");
    }
}
