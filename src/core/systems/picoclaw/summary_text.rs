//! Summary requests: their text, their retries, and the fallback without an answer.

use super::message::text_of;
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};

/// Temperature of every summary request.
// The numbers of this file are those of picoclaw, `pkg/agent/loop.go` at 021aa7d6 and `pkg/agent/context_legacy.go` at
// cf67dd38.
pub const TEMPERATURE: f64 = 0.3;

/// Number of tries per request. Between them PicoClaw sleeps for 100 and 200 ms.
const TRIES: usize = 3;

/// Characters of a message that the fallback always keeps.
const FALLBACK_CHARS: usize = 200;

/// Share of a longer message, in percent, that the fallback keeps.
const FALLBACK_PERCENT: usize = 10;

/// Requests a summary of messages; without an answer, uses the start of each.
///
/// # Errors
/// [`PendingRequest`] until the answer is available.
pub fn summarize_batch(
    batch: &[&ChatMessage],
    existing: &str,
    max_tokens: i64,
    replies: &mut Replies<'_>,
) -> Result<String, PendingRequest> {
    let mut prompt = String::from(
        "Provide a concise summary of this conversation segment, preserving core context and key points.\n",
    );
    if !existing.is_empty() {
        prompt.extend(["Existing context: ", existing, "\n"]);
    }
    prompt.push_str("\nCONVERSATION:\n");
    for message in batch {
        prompt.extend([&*message.role, ": ", &*text_of(message), "\n"]);
    }
    let answer = request_with_retries(&prompt, max_tokens, replies)?;
    Ok(answer.map_or_else(|| fallback(batch), |text| text.trim().to_owned()))
}

/// Requests one summary of two; without an answer, joins both.
///
/// # Errors
/// [`PendingRequest`] until the answer is available.
pub fn merge_summaries(
    first: &str,
    second: &str,
    max_tokens: i64,
    replies: &mut Replies<'_>,
) -> Result<String, PendingRequest> {
    let prompt = format!(
        "Merge these two conversation summaries into one cohesive summary:\n\n1: {first}\n\n2: {second}"
    );
    let answer = request_with_retries(&prompt, max_tokens, replies)?;
    Ok(answer.unwrap_or_else(|| format!("{first} {second}")))
}

/// Returns the first answer that is not empty, even if it is blank.
fn request_with_retries(
    prompt: &str,
    max_tokens: i64,
    replies: &mut Replies<'_>,
) -> Result<Option<String>, PendingRequest> {
    for _ in 0..TRIES {
        let reply = replies.reply_to(SummaryRequest {
            messages: vec![ChatMessage::new("user", prompt)],
            with_tools: false,
            max_tokens: u64::try_from(max_tokens).ok(),
        })?;
        if let SummaryReply::Text(text) = reply
            && !text.is_empty()
        {
            return Ok(Some(text.to_string()));
        }
    }
    Ok(None)
}

fn fallback(batch: &[&ChatMessage]) -> String {
    let starts: Vec<String> = batch
        .iter()
        .map(|message| format!("{}: {}", message.role, start_of(text_of(message).trim())))
        .collect();
    format!("Conversation summary: {}", starts.join(" | "))
}

fn start_of(text: &str) -> String {
    let length = text.chars().count();
    let kept = FALLBACK_CHARS.max(length * FALLBACK_PERCENT / 100);
    if kept >= length {
        return text.to_owned();
    }
    let start: String = text.chars().take(kept).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fallback_keeps_a_tenth_of_long_messages_and_two_hundred_of_short_ones() {
        assert_eq!(start_of(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(start_of(&"é".repeat(201)), format!("{}...", "é".repeat(200)));
        assert_eq!(start_of(&"é".repeat(3001)), format!("{}...", "é".repeat(300)));
    }

    #[test]
    fn an_answer_of_spaces_is_an_answer() {
        let replies = [SummaryReply::Text("  ".into())];
        let batch = ChatMessage::new("user", "hi");
        let summary = summarize_batch(&[&batch], "", 10, &mut Replies::new(&replies)).unwrap();
        assert_eq!(summary, "");
        let merged = merge_summaries("a", "b", 10, &mut Replies::new(&replies)).unwrap();
        assert_eq!(merged, "  ");
    }
}
