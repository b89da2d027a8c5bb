//! Reduction after a provider rejected the context: cuts results, arguments and questions everywhere, then drops old
//! turns.

use super::block::{cut_text, input_mut, is, result_text, set_result_text, set_text, text_of};
use super::turn::turns;
use crate::chat::{Block, ChatMessage, Content};
use crate::json::Value;
use crate::languages::python::{Layout, python_dumps};

/// Characters kept of an argument.
// The limits of this file are those of `CowAgent` 2.0.8, `agent/protocol/agent_stream.py`.
const ARGUMENT_CHARS: usize = 1000;

/// Limits of the reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// `AGGRESSIVE_LIMIT`: characters of a result, and of a call's arguments as JSON.
    pub result_chars: usize,
    /// `USER_MSG_LIMIT`: characters of a user's text.
    pub user_chars: usize,
    /// Number of turns kept.
    pub turns: usize,
}

impl Recovery {
    /// As in the code.
    pub const SHIPPED: Self = Self { result_chars: 10_000, user_chars: 10_000, turns: 5 };
}

/// `_aggressive_trim_for_overflow`: cuts in place. Returns whether another try is worthwhile. Notices make the cut texts longer than the limit, so a
/// second pass counts them as cut again although nothing shrinks.
pub fn trim_for_overflow(
    messages: &mut Vec<ChatMessage>,
    recovery: Recovery,
    log: &mut Vec<String>,
) -> bool {
    if messages.is_empty() {
        return false;
    }
    let before = messages.len();
    let n_cut: usize = messages.iter_mut().map(|m| shorten(m, recovery)).sum();
    let turns = turns(messages);
    let n_removed = turns.len().saturating_sub(recovery.turns);
    if n_removed > 0 {
        messages.drain(..turns.get(n_removed).map_or(before, |turn| turn.start));
        log.push(format!(
            "info: 🔧 Aggressive trim: removed {n_removed} old turns, truncated {n_cut} large blocks, \
             {before} -> {} messages",
            messages.len()
        ));
    } else if n_cut > 0 {
        log.push(format!(
            "info: 🔧 Aggressive trim: truncated {n_cut} large blocks (no turns removed, only {} turn(s) left)",
            turns.len()
        ));
    } else {
        log.push("warning: 🔧 Aggressive trim: nothing to trim, will clear history".to_owned());
    }
    n_removed > 0 || n_cut > 0
}

/// Cuts long contents of one message and returns their number.
fn shorten(message: &mut ChatMessage, recovery: Recovery) -> usize {
    let is_user = message.is("user");
    let of_user = |text: &str| {
        let most = recovery.user_chars;
        cut_text(text, most, |n| {
            format!("\n\n[Message truncated for context recovery: {n} -> {most} chars]")
        })
    };
    match &mut message.content {
        Content::Text(text) if is_user => {
            of_user(&text.text).map(|shorter| text.text = shorter.into()).map_or(0, |()| 1)
        }
        Content::Blocks(blocks) => {
            let mut n_cut = 0;
            for block in blocks {
                n_cut += usize::from(shorten_tool(block, recovery.result_chars));
                if is_user
                    && is(block, "text")
                    && let Some(shorter) = of_user(text_of(block))
                {
                    set_text(block, shorter);
                    n_cut += 1;
                }
            }
            n_cut
        }
        _ => 0,
    }
}

/// Cuts an overlong result or a call's arguments. Returns whether they were too long. Long arguments count as cut even
/// if none of them could be.
fn shorten_tool(block: &mut Block, most: usize) -> bool {
    let notice = |n: usize| format!("\n\n[Truncated for context recovery: {n} -> {most} chars]");
    if let Some(shorter) = result_text(block).and_then(|text| cut_text(text, most, notice)) {
        set_result_text(block, shorter);
        return true;
    }
    let Some(arguments) = input_mut(block).filter(|arguments| arguments.is_object()) else {
        return false;
    };
    if python_dumps(arguments, Layout::UNICODE).chars().count() <= most {
        return false;
    }
    for argument in arguments.as_object_mut().into_iter().flat_map(|o| o.values_mut()) {
        let notice = |n: usize| format!("... [truncated {n} chars]");
        let shorter = argument.as_str().and_then(|text| cut_text(text, ARGUMENT_CHARS, notice));
        if let Some(shorter) = shorter {
            *argument = Value::String(shorter);
        }
    }
    true
}
