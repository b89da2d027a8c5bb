//! `SummarizationMiddleware`.

use super::cut::{Keep, cut};
use super::estimate::{scaled_total, total, total_of};
use super::request::request;
use crate::chat::{ChatMessage, PendingRequest, Replies, Shape, SummaryReply};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use std::sync::Arc;

/// Acts at any trigger, or if `needs_all` at all of them. A trigger or an amount to keep is 0 if it is not set.
pub(super) const ACTION: NamedAction = NamedAction {
    name: "langchain.summarize",
    kind: ActionKind::Summarize,
    help: "Replaces everything but the newest messages with a summary.",
    shape: Shape::OpenAi,
    numbers: &[
        "reported",
        "trigger_tokens",
        "trigger_share",
        "trigger_messages",
        "needs_all",
        "keep_messages",
        "keep_tokens",
        "keep_share",
        "trim_tokens",
    ],
    make: |_| Ok(Arc::new(Summarize)),
};

const PREFIX: &str = "Here is a summary of the conversation to date:\n\n";
const TOO_LONG: &str = "Previous conversation was too long to summarize.";
/// Maximum number of requests for one summary.
const MAX_RETRIES: usize = 3;

#[derive(Debug)]
struct Summarize;

impl Rewrite for Summarize {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let all = &input.messages;
        let n_system = all.iter().take_while(|m| m.is("system")).count();
        let messages = &all[n_system..];
        let reported = input.number("reported").max(0.0) as u64;
        let plain = total_of(all) - total(&all[..n_system]);
        let total = scaled_total(messages, plain, reported);
        let unchanged = Rewritten {
            compared: Some(total),
            terms: vec![("used".to_owned(), total as f64)],
            ..Rewritten::default()
        };
        if !is_triggered(&input, messages.len(), total, reported) {
            return Ok(unchanged);
        }
        let first_kept = cut(messages, keep(&input), reported);
        if first_kept == 0 {
            return Ok(unchanged);
        }
        let trim_tokens = input.count("trim_tokens") as u64;
        let summary = match request(&messages[..first_kept], trim_tokens) {
            None => TOO_LONG.to_owned(),
            Some(ask) => {
                let mut tries = 1;
                loop {
                    match replies.reply_to(ask.clone())? {
                        SummaryReply::Text(text) => break text.trim().to_owned(),
                        SummaryReply::ToolCall => break String::new(),
                        SummaryReply::Failed(_) if tries < MAX_RETRIES => tries += 1,
                        // The error ends the agent's run.
                        SummaryReply::Failed(why) => {
                            return Ok(Rewritten {
                                fired: true,
                                log: vec![why.clone()],
                                halt: Some(why),
                                ..unchanged
                            });
                        }
                    }
                }
            }
        };
        let mut left = all[..n_system].to_vec();
        left.push(ChatMessage::summary("user", format!("{PREFIX}{summary}")));
        left.extend_from_slice(&messages[first_kept..]);
        Ok(Rewritten {
            messages: Some(left),
            fired: true,
            ..unchanged
        })
    }
}

fn is_triggered(input: &RewriteInput<'_>, n_messages: usize, total: u64, reported: u64) -> bool {
    let reaches = |limit: u64| total >= limit || reported >= limit;
    let tokens = input.count("trigger_tokens") as u64;
    let share = share_of_window(input, "trigger_share");
    let messages = input.count("trigger_messages");
    let triggers = [
        (tokens > 0).then(|| reaches(tokens)),
        share.map(reaches),
        (messages > 0).then_some(n_messages >= messages),
    ];
    let mut triggers = triggers.into_iter().flatten().peekable();
    let is_set = triggers.peek().is_some();
    if input.number("needs_all") == 0.0 {
        triggers.any(|is_met| is_met)
    } else {
        is_set && triggers.all(|is_met| is_met)
    }
}

fn keep(input: &RewriteInput<'_>) -> Keep {
    let tokens = input.count("keep_tokens") as u64;
    match share_of_window(input, "keep_share") {
        Some(share) => Keep::Tokens(share),
        None if tokens > 0 => Keep::Tokens(tokens),
        None => Keep::Messages(input.count("keep_messages")),
    }
}

/// Returns a share of the window in tokens; `None` if the share is 0.
fn share_of_window(input: &RewriteInput<'_>, name: &str) -> Option<u64> {
    let share = input.number(name);
    (share > 0.0).then(|| ((input.window as f64 * share) as u64).max(1))
}
