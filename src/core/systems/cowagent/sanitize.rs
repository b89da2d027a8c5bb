//! Repairs calls without results and results without calls, after the trim and before every model call.
//!
//! Removing a message can leave the partner of another one alone, so mismatches are removed in passes until nothing is
//! left to remove. Missing results are inserted directly behind their calls, before these passes and after them.

use super::block::{answered_id, call_id, has};
use crate::chat::{Block, BlockBody, ChatMessage, Content, Fields, Messages, Rule};
use crate::json::json;
use crate::languages::python::python_str;
use std::collections::{BTreeSet, HashSet};

/// Text of an inserted result.
const SYNTHETIC: &str = "Error: Missing tool_result adjacent to tool_use (session repair). \
                         The conversation history was inconsistent; continue from here.";

/// Maximum number of passes that remove mismatches.
// As in `CowAgent` 2.0.8, `agent/protocol/message_utils.py`.
const MAX_PASSES: usize = 5;

/// `sanitize_claude_messages`: repairs in place and returns the number of removals and repairs.
pub fn sanitize(messages: &mut Vec<ChatMessage>, log: &mut Vec<String>) -> usize {
    if messages.is_empty() {
        return 0;
    }
    let mut n_repairs = repair_adjacency(messages, log);
    let mut n_removed = remove_leading_results(messages, log);
    for _ in 0..MAX_PASSES {
        match remove_unmatched(messages, log) {
            0 => break,
            n => n_removed += n,
        }
    }
    if n_removed > 0 {
        n_repairs += repair_adjacency(messages, log);
        log.push(format!("info: 🔧 Message validation: removed {n_removed} broken message(s)"));
    }
    if n_repairs > 0 {
        log.push(format!("info: 🔧 Message validation: adjacency repairs={n_repairs}"));
    }
    n_removed + n_repairs
}

const SOUND: Rule = Rule::new("cowagent.sound");

/// State of the messages that need no repair so far.
#[derive(Clone, Default)]
struct Sound {
    /// Number of messages read.
    n_read: usize,
    /// Whether a message other than instructions was read.
    has_begun: bool,
    is_broken: bool,
    /// Calls that the next message must answer.
    waiting: Vec<String>,
    calls: HashSet<String>,
    /// Results without a call.
    unmatched: HashSet<String>,
}

impl Sound {
    fn read(&mut self, message: &ChatMessage) {
        if !self.has_begun && message.is("system") {
            return;
        }
        self.is_broken |= !self.has_begun && is_orphan(message);
        self.has_begun = true;
        let blocks = message.blocks();
        let answers = |id: &String| blocks.iter().any(|b| answered_id(b) == Some(id));
        if !self.waiting.is_empty() {
            self.is_broken |= !message.is("user") || !self.waiting.iter().all(answers);
        }
        self.waiting = calls(message);
        for id in blocks.iter().filter_map(call_id) {
            self.unmatched.remove(id);
            self.calls.insert(id.to_owned());
        }
        if message.is("user") {
            let results = blocks.iter().filter_map(answered_id);
            let unmatched = results.filter(|id| !self.calls.contains(*id));
            self.unmatched.extend(unmatched.map(str::to_owned));
        }
    }
}

/// Returns whether [`sanitize`] finds nothing to repair after the instructions. Looks only at messages added since the
/// last call.
pub(super) fn is_sound(messages: &Messages) -> bool {
    let sound = messages.updated_state(SOUND, |sound: &mut Sound, messages| {
        for message in &messages[sound.n_read..] {
            sound.read(message);
        }
        sound.n_read = messages.len();
    });
    !sound.is_broken && sound.waiting.is_empty() && sound.unmatched.is_empty()
}

/// Ensures that a message with calls is followed by a user message with all their results.
fn repair_adjacency(messages: &mut Vec<ChatMessage>, log: &mut Vec<String>) -> usize {
    let mut n_repairs = 0;
    let mut at = 0;
    while at < messages.len() {
        let wanted = calls(&messages[at]);
        at += 1;
        if wanted.is_empty() {
            continue;
        }
        let Some(next) = messages.get_mut(at) else {
            messages.push(synthetic_message(&wanted));
            log.push(
                "warning: ⚠️ Appended synthetic tool_result after trailing assistant tool_use"
                    .to_owned(),
            );
            return n_repairs + 1;
        };
        if !next.is("user") {
            let role = quoted(&next.role);
            log.push(format!(
                "warning: ⚠️ Inserted synthetic tool_result user after tool_use (next role={role})"
            ));
        } else if let Some(n_missing) = complete(next, &wanted, log) {
            n_repairs += n_missing;
            continue;
        }
        messages.insert(at, synthetic_message(&wanted));
        n_repairs += 1;
        at += 1;
    }
    n_repairs
}

/// Inserts missing results at the start of a user message and returns their number; `None` if it is not a list of
/// blocks.
fn complete(next: &mut ChatMessage, wanted: &[String], log: &mut Vec<String>) -> Option<usize> {
    if next.content == Content::Missing {
        next.content = Content::Blocks(Vec::new());
    }
    let Content::Blocks(blocks) = &next.content else {
        return None;
    };
    let present: BTreeSet<&str> = blocks.iter().filter_map(answered_id).collect();
    let is_missing = |id: &&String| !present.contains(&***id);
    let missing: Vec<&String> = wanted.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Some(0);
    }
    let ids = python_str(&json!(missing));
    log.push(format!(
        "warning: ⚠️ Prepended synthetic tool_result for Anthropic adjacency (missing_ids={ids})"
    ));
    let n_missing = missing.len();
    let synthetic: Vec<Block> = missing.into_iter().map(|id| synthetic_block(id)).collect();
    if let Content::Blocks(blocks) = &mut next.content {
        blocks.splice(0..0, synthetic);
    }
    Some(n_missing)
}

/// Returns the ids of the calls of an assistant message.
fn calls(message: &ChatMessage) -> Vec<String> {
    let ids = message.blocks().iter().filter_map(call_id);
    let is_asking = message.is("assistant");
    ids.filter(|_| is_asking).map(str::to_owned).collect()
}

fn synthetic_message(ids: &[String]) -> ChatMessage {
    ChatMessage::from(Fields {
        content: Content::Blocks(ids.iter().map(|id| synthetic_block(id)).collect()),
        ..ChatMessage::notice("user", "").into_fields()
    })
}

fn synthetic_block(id: &str) -> Block {
    Block {
        part: None,
        body: BlockBody::ToolResult {
            id: id.into(),
            content: Box::new(Content::text(SYNTHETIC)),
            is_error: Some(true),
        },
    }
}

/// `repr` of a role; a missing one is `None`.
fn quoted(role: &str) -> String {
    if role.is_empty() {
        return "None".to_owned();
    }
    let list = python_str(&json!([role]));
    let inner = list.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
    inner.unwrap_or(&list).to_owned()
}

/// Returns whether a user message has results and no text.
fn is_orphan(message: &ChatMessage) -> bool {
    message.is("user") && has(message, "tool_result") && !has(message, "text")
}

fn remove_leading_results(messages: &mut Vec<ChatMessage>, log: &mut Vec<String>) -> usize {
    let n_orphans = messages.iter().take_while(|m| is_orphan(m)).count();
    messages.drain(..n_orphans);
    log.extend(
        (0..n_orphans)
            .map(|_| "warning: ⚠️ Removing leading orphaned tool_result user message".to_owned()),
    );
    n_orphans
}

/// Runs one pass over everything: removes messages with an unanswered call, and results without a call.
fn remove_unmatched(messages: &mut Vec<ChatMessage>, log: &mut Vec<String>) -> usize {
    let ids = |read: fn(&Block) -> Option<&str>| -> BTreeSet<String> {
        let blocks = messages.iter().flat_map(ChatMessage::blocks);
        blocks.filter_map(read).map(str::to_owned).collect()
    };
    let (calls, results) = (ids(call_id), ids(answered_id));
    let is_bad_call = |b: &Block| call_id(b).is_some_and(|id| !results.contains(id));
    let is_bad_result = |b: &Block| answered_id(b).is_some_and(|id| !calls.contains(id));
    let mut n_removed = 0;
    messages.retain_mut(|message| {
        if message.is("assistant") && message.blocks().iter().any(is_bad_call) {
            log.push("warning: ⚠️ Removing assistant msg with unmatched tool_use".to_owned());
            n_removed += 1;
            return false;
        }
        let has_bad_result = message.is("user") && message.blocks().iter().any(is_bad_result);
        if has_bad_result && !has(message, "text") {
            log.push("warning: ⚠️ Removing user msg with unmatched tool_result".to_owned());
            n_removed += 1;
            return false;
        }
        if has_bad_result && let Content::Blocks(blocks) = &mut message.content {
            let before = blocks.len();
            blocks.retain(|block| !is_bad_result(block));
            n_removed += before - blocks.len();
        }
        true
    });
    n_removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{message_from_json, n_system};
    use crate::json::Value;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn id() -> impl Strategy<Value = &'static str> {
        select(&["a", "b", "c", ""])
    }

    fn call(id: &str) -> Value {
        json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
    }

    fn result(id: &str) -> Value {
        json!({"type": "tool_result", "tool_use_id": id, "content": "read"})
    }

    fn block() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!({"type": "text", "text": "said"})),
            id().prop_map(call),
            id().prop_map(result),
            Just(json!({"type": "tool_use"})),
            Just(json!("no object")),
        ]
    }

    fn any_message() -> impl Strategy<Value = Value> {
        let content = prop_oneof![
            4 => prop::collection::vec(block(), 0..4).prop_map(Value::from),
            1 => Just(json!("said")),
            1 => Just(Value::Null),
        ];
        let role = select(&["user", "assistant", "system", "tool"]);
        let message = (role, content, prop::bool::weighted(0.9));
        message.prop_map(|(role, content, has_content)| {
            let mut message = json!({"role": role});
            if has_content {
                message["content"] = content;
            }
            message
        })
    }

    /// Calls and their results in the next message.
    fn exchange() -> impl Strategy<Value = Vec<Value>> {
        let ids = prop::collection::vec(select(&["a", "b", "c"]), 1..4);
        (ids.clone(), ids, any::<bool>()).prop_map(|(calls, more, says_more)| {
            let more = more.iter().filter(|id| calls.contains(id));
            let mut results: Vec<_> = calls.iter().rev().chain(more).map(|id| result(id)).collect();
            if says_more {
                results.push(json!({"type": "text", "text": "said"}));
            }
            let calls: Vec<_> = calls.iter().map(|id| call(id)).collect();
            vec![
                json!({"role": "assistant", "content": calls}),
                json!({"role": "user", "content": results}),
            ]
        })
    }

    fn conversation() -> impl Strategy<Value = Vec<ChatMessage>> {
        let some = prop_oneof![
            6 => exchange(),
            1 => any_message().prop_map(|message| vec![message]),
        ];
        prop::collection::vec(some, 0..8)
            .prop_map(|some| some.iter().flatten().map(message_from_json).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// Checks every prefix of a conversation in order, as a replay does.
        #[test]
        fn a_conversation_is_sound_exactly_if_sanitize_changes_nothing(given in conversation()) {
            let mut messages = Messages::default();
            for message in given {
                messages.grow([message]);
                let n_instructions = n_system(&messages);
                let before = &messages[n_instructions..];
                let (mut after, mut log) = (before.to_vec(), Vec::new());
                let n_repairs = sanitize(&mut after, &mut log);
                prop_assert_eq!(n_repairs == 0, after == before && log.is_empty());
                prop_assert_eq!(is_sound(&messages), n_repairs == 0, "{:?}", before);
            }
        }
    }
}
