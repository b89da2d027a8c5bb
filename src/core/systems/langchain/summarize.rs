//! `SummarizationMiddleware`.

use super::cut::{Keep, cut};
use super::estimate::scaled;
use super::request::{PROMPT, Trim, summary_request};
use super::usage::Usage;
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, n_system};
use crate::engine::{ActionKind, Memory, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::summarizing;

/// Acts at any trigger, or if `needs_all` at all of them. A trigger or an amount to keep is 0 if it is not set.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "langchain.summarize",
    ActionKind::Summarize,
    "Replaces everything but the newest messages with a summary.",
    |settings| summarizing(settings, summarize),
)
.with_numbers(&[
    "reported",
    "trigger_tokens",
    "trigger_share",
    "trigger_messages",
    "needs_all",
    "keep_messages",
    "keep_tokens",
    "keep_share",
    "trim_tokens",
]);

const PREFIX: &str = "Here is a summary of the conversation to date:\n\n";
const TOO_LONG: &str = "Previous conversation was too long to summarize.";
/// Maximum number of requests for one summary.
// As in langchain 1.5.0, `agents/middleware/summarization.py`.
const MAX_RETRIES: usize = 3;

fn summarize(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let n_system = n_system(all);
    let messages = &all[n_system..];
    let usage = Usage::new(input);
    let total = scaled(messages, 0, usage.newest(messages));
    let unchanged =
        Rewritten { memory: usage.remember(Memory::default()), ..Rewritten::counted(total) };
    let counts = Counts { messages: messages.len(), total, reported: usage.of_newest(messages) };
    if !is_triggered(input, input.window, counts) {
        return Ok(unchanged);
    }
    let first_kept = cut(messages, keep(input, input.window), total);
    if first_kept == 0 {
        return Ok(unchanged);
    }
    let trim = Trim {
        tokens: input.count("trim_tokens") as u64,
        totals: &usage.of(messages)[..first_kept],
    };
    let summary = match summary(&messages[..first_kept], trim, PROMPT, replies)? {
        Ok(summary) => summary,
        Err(why) => return Ok(unchanged.stopped_by(why)),
    };
    let mut left = all[..n_system].to_vec();
    left.push(ChatMessage::summary("user", format!("{PREFIX}{summary}")));
    left.extend_from_slice(&messages[first_kept..]);
    Ok(Rewritten { messages: Some(left), fired: true, ..unchanged })
}

/// Returns a summary of trimmed messages. The inner error ends the agent's run.
pub(crate) fn summary(
    messages: &[ChatMessage],
    trim: Trim<'_>,
    prompt: &str,
    replies: &mut Replies<'_>,
) -> Result<Result<String, String>, PendingRequest> {
    let Some(request) = summary_request(messages, trim, prompt) else {
        return Ok(Ok(TOO_LONG.to_owned()));
    };
    let mut tries = 1;
    loop {
        match replies.reply_to(request.clone())? {
            SummaryReply::Text(text) => return Ok(Ok(text.trim().to_owned())),
            SummaryReply::ToolCall => return Ok(Ok(String::new())),
            SummaryReply::Failed(_) if tries < MAX_RETRIES => tries += 1,
            SummaryReply::Failed(why) => return Ok(Err(why)),
        }
    }
}

/// Counts that triggers compare.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    /// Number of messages.
    pub(crate) messages: usize,
    /// Their estimated tokens.
    pub(crate) total: u64,
    /// Total that the newest answer reported; 0 if none.
    pub(crate) reported: u64,
}

/// Returns whether the triggers are met. Shares are those of `limit` tokens.
pub(crate) fn is_triggered(input: &RewriteInput<'_>, limit: u64, counts: Counts) -> bool {
    let reaches = |limit: u64| counts.total >= limit || counts.reported >= limit;
    let tokens = input.count("trigger_tokens") as u64;
    let share = share_of(limit, input.number("trigger_share"));
    let messages = input.count("trigger_messages");
    let triggers = [
        (tokens > 0).then(|| reaches(tokens)),
        share.map(reaches),
        (messages > 0).then_some(counts.messages >= messages),
    ];
    let mut triggers = triggers.into_iter().flatten().peekable();
    let is_set = triggers.peek().is_some();
    if input.flag("needs_all") {
        is_set && triggers.all(|is_met| is_met)
    } else {
        triggers.any(|is_met| is_met)
    }
}

/// Returns the amount to keep. Its share is that of `limit` tokens.
pub(crate) fn keep(input: &RewriteInput<'_>, limit: u64) -> Keep {
    let tokens = input.count("keep_tokens") as u64;
    match share_of(limit, input.number("keep_share")) {
        Some(share) => Keep::Tokens(share),
        None if tokens > 0 => Keep::Tokens(tokens),
        None => Keep::Messages(input.count("keep_messages")),
    }
}

/// Returns a share of a limit in tokens; `None` if the share is 0.
pub(crate) fn share_of(limit: u64, share: f64) -> Option<u64> {
    (share > 0.0).then(|| ((limit as f64 * share) as u64).max(1))
}
