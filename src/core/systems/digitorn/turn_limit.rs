//! The request to finish shortly before the turns of an agent run out.
//!
//! Source: `agent_turn` of `runtime/agent_loop.py`, mbathe/digitorn-bridge @8d8eb4a6.

use crate::chat::ChatMessage;

/// Turns before the last at which the model is asked to finish.
const WARNS_BEFORE: i64 = 2;

const WARNING: &str = "You are approaching the turn limit. Stop calling tools and respond to the user now. Summarize \
    what you found from the tool results above.";

/// Returns the message to the model shortly before its turns run out, if it called tools at all.
pub fn turn_limit_warning(turn: i64, max_turns: i64, tool_calls: i64) -> Option<ChatMessage> {
    let is_near = turn == max_turns - WARNS_BEFORE && tool_calls > 0;
    is_near.then(|| ChatMessage::notice("system", WARNING))
}
