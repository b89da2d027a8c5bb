//! Compression of the history: the part to summarize, the two requests, and the new history.

use super::contents::{call_id, contents, estimated_tokens, parts, tools};
use crate::chat::{Block, Calls, ChatMessage, PendingRequest, Replies, SummaryRequest};
use crate::json::json;
use crate::languages::javascript::length;
use std::ops::Range;
use std::sync::Arc;

/// Share of the history, in characters of its JSON, before the kept part.
// As in gemini-cli-core 0.61.0, which preserves the other 0.3 (`context/chatCompressionService.js`).
const COMPRESSED_SHARE: f64 = 0.7;

const SYSTEM: &str = include_str!("prompts/system.txt");
const VERIFY: &str = include_str!("prompts/verify.txt");
const NEW_SNAPSHOT: &str = "Generate a new <state_snapshot> based on the provided history.";
const NEXT_SNAPSHOT: &str = "A previous <state_snapshot> exists in the history. You MUST integrate all still-relevant information from that snapshot into the new one, updating it with the more recent events. Do not lose established constraints or critical knowledge.";
const REASON: &str =
    "First, reason in your scratchpad. Then, generate the updated <state_snapshot>.";
const ACKNOWLEDGED: &str = "Got it. Thanks for the additional context!";
const CONTEXT_START: &str = "<session_context>";

/// The result of a compression.
pub(super) enum Compressed {
    /// There is no message before the split, or the summary is empty.
    Nothing,
    /// The new history with its estimated tokens.
    History(Vec<ChatMessage>, u64),
    /// A request failed.
    Failed(String),
}

/// `ChatCompressionService.compress`: compresses a history without instructions.
pub(super) fn compress(
    history: &[ChatMessage],
    replies: &mut Replies<'_>,
) -> Result<Compressed, PendingRequest> {
    let split = split(history);
    if split == 0 {
        return Ok(Compressed::Nothing);
    }
    let (old, kept) = history.split_at(split);
    let instruction = if old.iter().any(has_snapshot) { NEXT_SNAPSHOT } else { NEW_SNAPSHOT };
    let question = ChatMessage::new("user", format!("{instruction}\n\n{REASON}"));
    let first = match replies.reply_to(request(old, [question]))?.into_text() {
        Ok(text) => text,
        Err(why) => return Ok(Compressed::Failed(why)),
    };
    let again =
        [ChatMessage::new("assistant", Arc::clone(&first)), ChatMessage::new("user", VERIFY)];
    let second = match replies.reply_to(request(old, again))?.into_text() {
        Ok(text) => text,
        Err(why) => return Ok(Compressed::Failed(why)),
    };
    let summary = [second.trim(), first.trim()].into_iter().find(|text| !text.is_empty());
    let Some(summary) = summary else {
        return Ok(Compressed::Nothing);
    };
    let is_context = |m: &&ChatMessage| m.text().is_some_and(|t| t.starts_with(CONTEXT_START));
    let context = history.first().filter(is_context);
    let mut new: Vec<ChatMessage> = context.into_iter().cloned().collect();
    new.push(ChatMessage::summary("user", summary));
    new.push(ChatMessage::notice("assistant", ACKNOWLEDGED));
    new.extend_from_slice(kept);
    let tokens = estimated_tokens(&new, &tools(history));
    Ok(Compressed::History(new, tokens))
}

/// `findCompressSplitPoint`: returns the first kept message, the first user message after enough characters of JSON. Without one, everything is
/// compressed after a final answer, else what is before the last user message.
fn split(history: &[ChatMessage]) -> usize {
    let tools = tools(history);
    let contents = contents(history);
    let size = |content: &Range<usize>| {
        let messages = &history[content.clone()];
        let role = if messages[0].is("assistant") { "model" } else { "user" };
        let parts: Vec<_> = messages.iter().flat_map(|m| parts(m, &tools)).collect();
        length(&json!({"role": role, "parts": parts}).to_string())
    };
    let sizes: Vec<usize> = contents.iter().map(size).collect();
    let target = sizes.iter().sum::<usize>() as f64 * COMPRESSED_SHARE;
    let (mut sum, mut last_user) = (0, 0);
    for (content, size) in contents.iter().zip(&sizes) {
        if history[content.start].is("user") {
            if sum as f64 >= target {
                return content.start;
            }
            last_user = content.start;
        }
        sum += size;
    }
    match history.last() {
        Some(last) if last.is("assistant") && last.calls().is_empty() => history.len(),
        _ => last_user,
    }
}

fn request(old: &[ChatMessage], question: impl IntoIterator<Item = ChatMessage>) -> SummaryRequest {
    let mut messages = vec![ChatMessage::new("system", SYSTEM)];
    messages.extend(old.iter().map(with_own_ids));
    messages.extend(question);
    SummaryRequest::new(messages)
}

/// Returns a message with the program's ids of calls.
fn with_own_ids(message: &ChatMessage) -> ChatMessage {
    let mut message = message.clone();
    if message.calls().is_empty() {
        return message;
    }
    if let Calls::List(calls) = &mut message.calls {
        for call in calls {
            let own = call.id.as_deref().map(|id| call_id(call.tool(), id).into());
            call.id = own;
        }
    }
    message
}

fn has_snapshot(message: &ChatMessage) -> bool {
    let blocks = message.blocks().iter().filter_map(Block::as_text);
    let mut texts = message.text().into_iter().chain(blocks);
    texts.any(|text| text.contains("<state_snapshot>"))
}
