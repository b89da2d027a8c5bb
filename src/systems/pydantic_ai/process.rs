//! Processors that the documentation shows. What they return replaces the history.

use super::history::{History, Start, orphans, state};
use crate::chat::{
    Call, ChatMessage, PendingRequest, Replies, Shape, SummaryReply, SummaryRequest,
};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use serde_json::json;
use std::sync::Arc;

pub(super) const KEEP: NamedAction = NamedAction {
    name: "pydantic_ai.keep_recent",
    kind: ActionKind::Drop,
    help: "Removes all messages but the newest.",
    shape: Shape::OpenAi,
    numbers: &["n"],
    make: |_| Ok(Arc::new(Keep)),
};

pub(super) const SUMMARIZE: NamedAction = NamedAction {
    name: "pydantic_ai.summarize_old",
    kind: ActionKind::Summarize,
    help: "Replaces all messages but the newest with a summary of the oldest.",
    shape: Shape::OpenAi,
    numbers: &["n"],
    make: |_| Ok(Arc::new(Summarize)),
};

const INSTRUCTIONS: &str = include_str!("instructions.txt");

#[derive(Debug)]
struct Keep;

impl Rewrite for Keep {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let history = History::new(&input);
        let n_removed = history.len().saturating_sub(input.count("n"));
        if n_removed == 0 {
            return Ok(Rewritten::default());
        }
        let kept = history.messages[n_removed..].iter().copied().flatten();
        Ok(Rewritten {
            messages: Some(history.system.iter().chain(kept).cloned().collect()),
            fired: true,
            ..Rewritten::default()
        })
    }
}

#[derive(Debug)]
struct Summarize;

impl Rewrite for Summarize {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let history = History::new(&input);
        let n = input.count("n");
        let (newest, messages) = match history.messages.split_last() {
            Some(split) if history.len() > n => split,
            _ => return Ok(Rewritten::default()),
        };
        let oldest = &messages[..n - usize::from(history.starts_empty)];
        let last = oldest.last().and_then(|message| message.first());
        let start = match last.filter(|last| last.is("assistant")) {
            // The summarizer's agent goes on from an answer: it runs its calls, or sends nothing more.
            Some(answer) => Start::Empty {
                is_repaired: !answer.calls().is_empty(),
            },
            None => Start::Plain,
        };
        let summary = match replies.reply_to(request(oldest))? {
            SummaryReply::Text(text) => text,
            SummaryReply::ToolCall => "".into(),
            SummaryReply::Failed(why) => {
                // The error ends the turn.
                return Ok(Rewritten {
                    fired: true,
                    log: vec![why.clone()],
                    halt: Some(why),
                    ..Rewritten::default()
                });
            }
        };
        let mut after = history.system.to_vec();
        after.push(ChatMessage::summary("assistant", summary));
        after.extend_from_slice(newest);
        Ok(Rewritten {
            messages: Some(after),
            fired: true,
            memory: state(&input, &start).into(),
            ..Rewritten::default()
        })
    }
}

/// Returns the request for a summary of messages. The summarizer has no tools: open calls are answered with an error.
fn request(oldest: &[&[ChatMessage]]) -> SummaryRequest {
    let oldest: Vec<ChatMessage> = oldest.concat();
    let removed = orphans(&oldest);
    let open = oldest.last().map_or(&[][..], |last| last.calls());
    let results: Vec<ChatMessage> = open.iter().map(unknown_tool).collect();
    let mut messages = vec![ChatMessage::new("system", INSTRUCTIONS)];
    let kept = oldest.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| removed.binary_search(at).is_err());
    messages.extend(kept.map(|(_, message)| message));
    messages.extend(results);
    SummaryRequest {
        messages,
        with_tools: false,
        max_tokens: None,
    }
}

fn unknown_tool(call: &Call) -> ChatMessage {
    let text = format!("Unknown tool name: '{}'. No tools available.", call.tool());
    ChatMessage::notice_result(call, json!({"error": text}).to_string())
}
