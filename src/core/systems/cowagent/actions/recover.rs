//! Actions that restore or empty a conversation: after an overflow or a restart.

use super::super::emergency::{Recovery, trim_for_overflow};
use super::super::error::{
    ErrorKind, FORMAT_ERROR, MAX_RETRIES, OVERFLOW_ERROR, classify, wait_seconds,
};
use super::super::restore::restore;
use super::super::turn::turns;
use super::{idle, split_instructions, term, with_instructions};
use crate::engine::{Edits, Memory, RewriteInput, Rewritten};
use crate::json::json;

/// Cuts, then drops, and finally empties.
pub(super) fn recover(input: &RewriteInput<'_>) -> Rewritten {
    if let Some(done) = other_error(input) {
        return done;
    }
    let recovery = Recovery {
        result_chars: input.count("result_chars"),
        user_chars: input.count("user_chars"),
        turns: input.count("keep_turns"),
    };
    // A call that was retried after a trim is not tried a third time.
    let was_tried = input.memory["tried_call"] == json!(input.call);
    let (system, conversation) = split_instructions(&input.messages);
    let mut conversation = conversation.to_vec();
    let n_turns = turns(&conversation).len();
    let mut log = Vec::new();
    let helps = !was_tried && trim_for_overflow(&mut conversation, recovery, &mut log);
    let mut terms = vec![
        term("turns", n_turns),
        term("keep_turns", recovery.turns),
        term("tried_before", usize::from(was_tried)),
    ];
    if helps {
        log.push("warning: 🔄 Aggressively trimmed context, retrying...".to_owned());
    } else {
        log.push("warning: 🔄 Clearing conversation history to recover".to_owned());
        conversation.clear();
    }
    terms.push(term("turns_left", turns(&conversation).len()));
    Rewritten {
        compared: None,
        repeats: false,
        messages: Some(with_instructions(system, &conversation)),
        edits: Edits::default(),
        fired: true,
        terms,
        log,
        files: Vec::new(),
        halt: (!helps).then(|| OVERFLOW_ERROR.to_owned()),
        memory: if helps { json!({"tried_call": input.call}).into() } else { Memory::default() },
    }
}

/// Handles a provider error that is not treated as an overflow. A format error, or one treated as such, empties the
/// conversation.
fn other_error(input: &RewriteInput<'_>) -> Option<Rewritten> {
    let error = input.error;
    if error.is_empty() {
        return None;
    }
    let done = match classify(error, true) {
        ErrorKind::Overflow => return None,
        ErrorKind::Format => {
            let (system, conversation) = split_instructions(&input.messages);
            Rewritten {
                messages: Some(system.to_vec()),
                fired: true,
                terms: vec![term("messages", conversation.len())],
                log: vec![
                    format!("error: 💥 message format error detected: {error}"),
                    "warning: 🔄 Clearing conversation history to recover".to_owned(),
                ],
                halt: Some(FORMAT_ERROR.to_owned()),
                ..Rewritten::default()
            }
        }
        ErrorKind::Temporary => Rewritten {
            log: vec![
                format!("warning: ⚠️ LLM API error (attempt 1/{MAX_RETRIES}): {error}"),
                format!("sleep: {}", wait_seconds(error, 0)),
            ],
            ..Rewritten::default()
        },
        ErrorKind::Final => Rewritten {
            log: vec![format!("error: ❌ LLM call error (non-retryable): {error}")],
            halt: Some(error.to_owned()),
            ..Rewritten::default()
        },
    };
    Some(done)
}

/// Restores the last turns.
pub(super) fn restore_last_turns(input: &RewriteInput<'_>) -> Rewritten {
    let max_turns = input.count("max_turns");
    let is_scheduled = input.number("is_scheduled") > 0.0;
    let session = if is_scheduled { "scheduler_" } else { "" };
    let (system, conversation) = split_instructions(&input.messages);
    let restored = restore(conversation, 0, max_turns, session);
    let terms = vec![
        term("messages", conversation.len()),
        term("restore_turns", restored.n_turns),
        term("messages_loaded", restored.n_loaded),
        term("messages_restored", restored.messages.len()),
    ];
    Rewritten {
        messages: Some(with_instructions(system, &restored.messages)),
        fired: true,
        terms,
        ..Rewritten::default()
    }
}

/// Empties the conversation in memory.
pub(super) fn clear(input: &RewriteInput<'_>) -> Rewritten {
    let (system, conversation) = split_instructions(&input.messages);
    let terms = vec![term("messages", conversation.len())];
    if conversation.is_empty() {
        return idle(terms);
    }
    Rewritten {
        messages: Some(system.to_vec()),
        fired: true,
        terms,
        log: vec![format!("✅ 已清除当前对话上下文 ({} 条消息)", conversation.len())],
        ..Rewritten::default()
    }
}
