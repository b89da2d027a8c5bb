//! Context management before every call: measure, clear, measure again, summarize.

use super::prune::{StopAtMarker, prune_old_tool_outputs};
use super::{Limits, PythonError, Texts, compact, total_tokens};
use crate::chat::{ChatMessage, Dialogue, Wants};
use crate::units::Tokens;

/// The result of the management.
#[derive(Clone, Debug, PartialEq)]
pub struct Managed {
    /// The messages to send; `None` if they are the given list. Or the original's exception.
    pub messages: Result<Option<Vec<ChatMessage>>, PythonError>,
    /// Its log lines, up to the exception.
    pub log: Vec<String>,
}

/// `manage_context`. The summary request contains the cleared messages. If it fails, those are sent.
///
/// # Errors
/// [`Wants`] until the summary is available.
pub fn manage_context(
    messages: &[ChatMessage],
    system: &ChatMessage,
    limits: &Limits,
    is_forced: bool,
    dialogue: &mut Dialogue<'_>,
) -> Result<Managed, Wants> {
    let mut log = Vec::new();
    let cleared = match clear(messages, limits, is_forced, &mut log) {
        Ok(cleared) => cleared,
        Err(error) => {
            return Ok(Managed {
                messages: Err(error),
                log,
            });
        }
    };
    let Cleared {
        messages: pruned,
        before,
        after,
    } = match cleared {
        Step::Enough(messages) => {
            return Ok(Managed {
                messages: Ok(messages),
                log,
            });
        }
        Step::Insufficient(cleared) => cleared,
    };
    log.push(insufficient(after));
    let given = pruned.as_deref().unwrap_or(messages);
    let compacted = compact(given, Some(system), &Texts::default(), dialogue)?;
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
enum Step {
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
) -> Result<Step, PythonError> {
    let before = total_tokens(messages)?;
    log.push(status(before, limits)?);
    if !is_forced && !limits.is_overflow(before) {
        return Ok(Step::Enough(None));
    }
    log.push(OVERFLOW.to_owned());
    let pruned = prune_old_tool_outputs(messages, limits, StopAtMarker::Yes)?;
    log.extend(pruned.log);
    let messages = pruned.messages;
    let after = messages.as_deref().map_or(Ok(before), total_tokens)?;
    if !is_forced && !limits.is_overflow(after) {
        log.push(sufficient(before, after));
        return Ok(Step::Enough(messages));
    }
    Ok(Step::Insufficient(Cleared {
        messages,
        before,
        after,
    }))
}

/// Log line at the start.
pub(super) const OVERFLOW: &str = "[compaction] Context overflow detected, managing...";

/// Returns the log line before every call.
pub(super) fn status(total: Tokens, limits: &Limits) -> Result<String, PythonError> {
    let percent = limits.percent(total)?;
    Ok(format!(
        "[compaction] Context: {} tokens ({percent:.1}% of {})",
        total.0,
        limits.usable()
    ))
}

/// Returns the log line if clearing was enough.
pub(super) fn sufficient(before: Tokens, after: Tokens) -> String {
    format!(
        "[compaction] Pruning sufficient: {} -> {} tokens",
        before.0, after.0
    )
}

/// Returns the log line if clearing was not enough.
pub(super) fn insufficient(after: Tokens) -> String {
    format!(
        "[compaction] Pruning insufficient ({} tokens), running AI compaction...",
        after.0
    )
}

/// Returns the log line at the end, with or without a summary.
pub(super) fn compaction_result(before: Tokens, after: Tokens) -> String {
    format!(
        "[compaction] Compaction result: {} -> {} tokens",
        before.0, after.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn managed(limits: &Limits, is_forced: bool) -> Managed {
        let system = ChatMessage::new("system", "S");
        let mut dialogue = Dialogue::new(&[]);
        manage_context(&[], &system, limits, is_forced, &mut dialogue).unwrap()
    }

    #[test]
    fn no_room_for_input_raises_before_anything_is_logged() {
        let limits = Limits {
            context: 100,
            output: 100,
            ..Limits::SHIPPED
        };
        let managed = managed(&limits, false);
        assert_eq!(managed.log, Vec::<String>::new());
        assert_eq!(managed.messages.unwrap_err().text, "division by zero");
    }

    #[test]
    fn shares_are_rounded_as_python_rounds_them() {
        let limits = Limits {
            context: 1000,
            output: 0,
            ..Limits::SHIPPED
        };
        let shown = |total| status(Tokens(total), &limits).unwrap();
        assert_eq!(shown(2), "[compaction] Context: 2 tokens (0.2% of 1000)");
        let limits = Limits {
            context: 800,
            ..limits
        };
        let shown = |total| status(Tokens(total), &limits).unwrap();
        assert_eq!(shown(2), "[compaction] Context: 2 tokens (0.2% of 800)");
        assert_eq!(shown(6), "[compaction] Context: 6 tokens (0.8% of 800)");
    }
}
