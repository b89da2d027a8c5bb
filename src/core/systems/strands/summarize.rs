//! `SummarizingConversationManager.reduce_context`.

use super::sliding::UNABLE;
use super::stored_messages::{Pins, StoredMessage, has_calls, has_results};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};

const SYSTEM: &str = include_str!("prompt.txt");
const REQUEST: &str = "Please summarize this conversation.";
const TOO_FEW: &str = "Cannot summarize: insufficient messages for summarization";
const ALL_PINNED: &str = "Cannot summarize: all messages in summarize range are pinned";
const NO_TEXT: &str = "Failed to generate summary: model response contained no text";

/// Returns the number of oldest messages to summarize.
pub(super) fn n_summarized(
    stored: &[StoredMessage<'_>],
    ratio: f64,
    preserved: usize,
) -> Result<usize, &'static str> {
    let n = stored.len();
    // The limits of the ratio are those of `SummarizingConversationManager` too.
    let share = ((n as f64 * ratio.clamp(0.1, 0.8)) as usize).max(1);
    let mut at = share.min(n.saturating_sub(preserved));
    if at == 0 {
        return Err(TOO_FEW);
    }
    if at == n {
        return Ok(n);
    }
    while at < n {
        let next = stored.get(at + 1);
        let is_torn = has_calls(stored[at]) && next.is_some_and(|next| !has_results(next));
        if !has_results(stored[at]) && !is_torn {
            return Ok(at);
        }
        at += 1;
    }
    Err(UNABLE)
}

/// Returns the conversation with a summary of its first `n` messages behind the pinned ones of them, or the error.
pub(super) fn summarized(
    stored: &[StoredMessage<'_>],
    pins: &Pins,
    n: usize,
    replies: &mut Replies<'_>,
) -> Result<Result<Vec<ChatMessage>, String>, PendingRequest> {
    let (mut kept, mut removed) = (Vec::new(), Vec::new());
    for (at, message) in stored[..n].iter().enumerate() {
        let list = if pins.contain(stored, at) { &mut kept } else { &mut removed };
        list.extend_from_slice(message);
    }
    if removed.is_empty() {
        return Ok(Err(ALL_PINNED.to_owned()));
    }
    let mut messages = vec![ChatMessage::new("system", SYSTEM)];
    messages.append(&mut removed);
    messages.push(ChatMessage::new("user", REQUEST));
    let request = SummaryRequest::new(messages);
    let summary = match replies.reply_to(request)? {
        SummaryReply::Text(text) if text.is_empty() => return Ok(Err(NO_TEXT.to_owned())),
        SummaryReply::Text(text) => text,
        SummaryReply::ToolCall => return Ok(Err(NO_TEXT.to_owned())),
        SummaryReply::Failed(why) => return Ok(Err(why)),
    };
    kept.push(ChatMessage::summary("user", summary));
    kept.extend(stored[n..].iter().copied().flatten().cloned());
    Ok(Ok(kept))
}
