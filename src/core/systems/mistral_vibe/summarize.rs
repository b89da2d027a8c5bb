//! The summary requests: behind the conversation itself, else by a summarizer that reads a transcript.

use crate::chat::{
    Arguments, Call, ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest,
};
use crate::engine::is_stand_in;
use crate::languages::python::strip;

const PROMPT: &str = include_str!("prompts/compact.txt");
const SYSTEM: &str = include_str!("prompts/system.txt");
const NO_SUMMARY: &str = "(no summary available)";
const TOO_LONG: &str = "The conversation context exceeds the model's maximum limit. Use /rewind to undo recent actions, then /compact to summarize the conversation.";
/// Maximum number of times that a request which is too long is shortened.
// As in mistral-vibe 2.26.1, `compaction/manager.py`.
const MAX_RETRIES: usize = 3;
/// Phrases of errors about requests that are too long.
const OF_TOO_LONG: [&str; 7] = [
    "context too long",
    "maximum context length",
    "input too large",
    "couldn't fit with truncation",
    "prompt is too long",
    "model_context_exceeded",
    "prompt_too_long",
];

/// A summary, or the error that ends the turn.
type Summary = Result<String, String>;

/// Returns a summary of the conversation. A summary that is missing is an error only if `is_strict`.
pub(super) fn summarize(
    conversation: &[ChatMessage],
    is_strict: bool,
    replies: &mut Replies<'_>,
) -> Result<Summary, PendingRequest> {
    let mut working = conversation.to_vec();
    let reply = match ask(&mut working, behind, replies)? {
        Ok(reply) => reply,
        Err(why) => return Ok(Err(why)),
    };
    if let Some(summary) = reply.as_deref().and_then(extract) {
        return Ok(Ok(summary));
    }
    if is_strict {
        let reason = reply.map_or("tool_call", |_| "empty_summary");
        return Ok(Err(format!("Compaction did not produce a summary (reason={reason}).")));
    }
    Ok(ask(&mut working, transcript, replies)?.map(|reply| {
        let summary = reply.as_deref().and_then(extract);
        summary.unwrap_or_else(|| NO_SUMMARY.to_owned())
    }))
}

/// Returns the reply to a request about messages; none if the model called a tool. Of messages that are too long, the
/// oldest turns are removed.
fn ask(
    working: &mut Vec<ChatMessage>,
    request: fn(&[ChatMessage]) -> SummaryRequest,
    replies: &mut Replies<'_>,
) -> Result<Result<Option<String>, String>, PendingRequest> {
    let mut left = MAX_RETRIES;
    loop {
        let why = match replies.reply_to(request(working))? {
            SummaryReply::Text(text) => return Ok(Ok(Some(text.to_string()))),
            SummaryReply::ToolCall => return Ok(Ok(None)),
            SummaryReply::Failed(why) => why,
        };
        let is_too_long = {
            let why = why.to_lowercase();
            OF_TOO_LONG.iter().any(|phrase| why.contains(phrase))
        };
        match without_oldest_turn(working) {
            _ if !is_too_long => return Ok(Err(why)),
            Some(shorter) if left > 0 => *working = shorter,
            _ => return Ok(Err(TOO_LONG.to_owned())),
        }
        left -= 1;
    }
}

/// Returns the messages without the oldest turn; none if there is no other.
fn without_oldest_turn(messages: &[ChatMessage]) -> Option<Vec<ChatMessage>> {
    let (system, rest) = messages.split_at_checked(1)?;
    let n_user = rest.iter().take_while(|m| m.is("user")).count();
    let n_others = rest[n_user..].iter().take_while(|m| !m.is("user")).count();
    let rest = &rest[n_user + n_others..];
    (!rest.is_empty()).then(|| [system, rest].concat())
}

/// Returns the request that follows the conversation, with its tools.
fn behind(working: &[ChatMessage]) -> SummaryRequest {
    SummaryRequest {
        messages: [working, &[ChatMessage::new("user", PROMPT)]].concat(),
        with_tools: true,
        max_tokens: None,
    }
}

/// Returns the request to the dedicated summarizer.
fn transcript(working: &[ChatMessage]) -> SummaryRequest {
    let blocks: Vec<String> = working.iter().filter_map(block).collect();
    let text = format!("{PROMPT}\n\n## Conversation Transcript\n{}", blocks.join("\n\n"));
    SummaryRequest::new(vec![ChatMessage::new("system", SYSTEM), ChatMessage::new("user", text)])
}

/// Writes a message for the transcript; none for instructions and without content.
fn block(message: &ChatMessage) -> Option<String> {
    let text = message.joined_text("\n");
    let text = Some(strip(&text).to_owned()).filter(|text| !text.is_empty());
    let call = |call: &Call| {
        let arguments = match call.function.as_ref().map(|f| &f.arguments) {
            Some(Arguments::Text(text)) => text.to_string(),
            Some(Arguments::Json(value)) => value.to_string(),
            Some(Arguments::Missing) | None => "None".to_owned(),
        };
        format!("[calls {}({arguments})]", call.tool())
    };
    let parts = text.into_iter().chain(message.calls().iter().map(call));
    let parts: Vec<String> = parts.collect();
    let is_listed = !message.is("system") && !parts.is_empty();
    is_listed.then(|| format!("### {}\n{}", message.role, parts.join("\n")))
}

/// Returns the text in the tags of a summary. A stand-in has no tags.
fn extract(text: &str) -> Option<String> {
    let tagged = text.split_once("<summary>").map(|(_, rest)| rest);
    let tagged = tagged.and_then(|rest| rest.split_once("</summary>"));
    let summary = match tagged {
        Some((summary, _)) => summary,
        None if is_stand_in(text) => text,
        None => return None,
    };
    Some(strip(summary).to_owned()).filter(|summary| !summary.is_empty())
}
