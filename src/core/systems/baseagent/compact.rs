//! Summarizes everything: a system prompt and one user message remain.

use super::text_tokens;
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};

/// `COMPACTION_PROMPT`, the last message of the request.
const PROMPT: &str = "\
You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM that will resume the task.

Include:
- Current progress and key decisions made
- Important context, constraints, or user preferences
- What remains to be done (clear next steps)
- Any critical data, examples, or references needed to continue
- Which files were modified and how
- Any errors encountered and how they were resolved

Be concise, structured, and focused on helping the next LLM seamlessly continue the work. Use bullet points and clear sections.";

/// `SUMMARY_PREFIX`, before the summary.
const PREFIX: &str = "\
Another language model started to solve this problem and produced a summary of its thinking process. You also have \
access to the state of the tools that were used. Use this to build on the work that has already been done and avoid \
duplicating work.

Here is the summary from the previous context:

";

/// The text of the request and its result, and the limit of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The last message of the request.
    pub prompt: String,
    /// The text before the summary.
    pub prefix: String,
    /// The most tokens of the answer.
    pub max_tokens: u64,
}

impl Default for Texts {
    /// Returns the shipped values.
    fn default() -> Self {
        Self { prompt: PROMPT.to_owned(), prefix: PREFIX.to_owned(), max_tokens: 4096 }
    }
}

/// The result of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    /// The messages afterwards; `None` if the given list is unchanged.
    pub messages: Option<Vec<ChatMessage>>,
    /// Its log lines.
    pub log: Vec<String>,
}

/// `run_compaction`.
///
/// Any failure leaves the messages unchanged. An empty answer is a failure; an answer of white space only is not. Does not check whether the result is
/// smaller.
///
/// # Errors
/// [`PendingRequest`] until the summary is available.
pub fn compact(
    messages: &[ChatMessage],
    system: Option<&ChatMessage>,
    texts: &Texts,
    replies: &mut Replies<'_>,
) -> Result<Compacted, PendingRequest> {
    let mut request = messages.to_vec();
    request.push(ChatMessage::new("user", texts.prompt.as_str()));
    let reply = replies.reply_to(SummaryRequest {
        messages: request,
        with_tools: false,
        max_tokens: Some(texts.max_tokens),
    })?;
    let mut log = vec!["[compaction] Starting AI compaction...".to_owned()];
    let summary = match reply {
        SummaryReply::Text(text) if !text.is_empty() => text,
        // The request names no tools; an answer with calls has no text.
        SummaryReply::Text(_) | SummaryReply::ToolCall => {
            log.push("[compaction] Compaction failed: empty response".to_owned());
            return Ok(Compacted { messages: None, log });
        }
        SummaryReply::Failed(why) => {
            log.push(format!("[compaction] Compaction failed: {why}"));
            return Ok(Compacted { messages: None, log });
        }
    };
    log.push(format!(
        "[compaction] Compaction complete: {} token summary",
        text_tokens(&summary).0
    ));
    let summary = ChatMessage::summary("user", format!("{}{summary}", texts.prefix));
    let messages = system.cloned().into_iter().chain([summary]).collect();
    Ok(Compacted { messages: Some(messages), log })
}
