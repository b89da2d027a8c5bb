//! The projected tokens of the next call: the newest answer's usage and an estimate of what is newer.

use super::stored_messages::StoredMessage;
use crate::chat::{Block, ChatMessage, Content, Rule, n_system};
use crate::engine::{Memory, RewriteInput};
use crate::json::{Value, json};
use crate::languages::python::{Layout, python_dumps};

/// Key of the usage of answers, in memory: pairs of an answer's first part and its tokens.
const USAGE: &str = "strands_usage";

const ESTIMATE: Rule = Rule::new("strands: estimate");

/// Returns the projected tokens, and the usage for an action's memory. The usage of answers that may be pinned is kept:
/// such an answer may become the newest one. An answer without usage counts as one of 0 tokens.
pub(super) fn projected(input: &RewriteInput<'_>, stored: &[StoredMessage<'_>]) -> (u64, Memory) {
    let newest = stored.iter().rposition(|message| message[0].is("assistant"));
    let Some((newest, part)) = newest.and_then(|at| Some((at, stored[at][0].parts().next()?)))
    else {
        let system = input.messages[..n_system(&input.messages)].iter();
        let tools = input.tools.iter().map(json_tokens).sum::<u64>();
        let tools = tools.max(input.count("tools_tokens") as u64);
        let texts = system.chain(stored.iter().copied().flatten());
        return (texts.map(estimate).sum::<u64>() + tools, Memory::default());
    };
    let known = input.memory[USAGE].as_array();
    let known = known.map_or(&[][..], Vec::as_slice);
    let is_newest = |usage: &&Value| usage[0].as_u64() == Some(part.into());
    let reported = input.count("reported") as u64;
    let usage = known.iter().find(is_newest).cloned();
    let usage = usage.unwrap_or_else(|| json!([part, reported]));
    let total = usage[1].as_u64().unwrap_or(0);
    let may_be_pinned = |usage: &&Value| {
        let first = stored.iter().take(input.count("pin_first") + 1);
        let mut parts = first.copied().flatten().flat_map(ChatMessage::parts);
        parts.any(|part| usage[0].as_u64() == Some(part.into()))
    };
    let kept = known.iter().filter(|usage| !is_newest(usage));
    let mut kept: Vec<Value> = kept.filter(may_be_pinned).cloned().collect();
    kept.push(usage);
    let newer = stored[newest + 1..].iter().copied().flatten();
    let tokens = total + newer.map(estimate).sum::<u64>();
    (tokens, json!({USAGE: kept}).into())
}

/// Returns the estimated tokens of a message. Each text and each JSON is rounded up.
fn estimate(message: &ChatMessage) -> u64 {
    message.weigh(ESTIMATE, |message| {
        let content = match &message.content {
            Content::Text(text) => text_tokens(&text.text),
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(Block::as_text);
                texts.map(text_tokens).sum()
            }
            Content::Missing | Content::Null | Content::Other(_) => 0,
        };
        let reasoning = message.reasoning.as_ref();
        let calls = message.calls().iter();
        content
            + reasoning.map_or(0, |reasoning| text_tokens(&reasoning.text))
            + calls
                .map(|call| text_tokens(call.tool()) + json_tokens(&call.arguments_as_value()))
                .sum::<u64>()
    })
}

fn text_tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

fn json_tokens(value: &Value) -> u64 {
    let json = python_dumps(value, Layout::ASCII);
    json.len().div_ceil(2) as u64
}
