//! Summaries of the older part of a session, after a turn.
//!
//! The model receives texts of the user and the assistant, but never tool results or arguments of calls.

use super::boundary::{before_group, find_safe_boundary};
use super::estimate::{tokens_after, tokens_before};
use super::event::Event;
use super::message::text_of;
use super::summary_text::{merge_summaries, summarize_batch};
use super::{Edition, Settings, Stored};
use crate::chat::{ChatMessage, PendingRequest, Replies};

/// Log line at the start of a summary.
pub const STARTED: &str = "Memory threshold reached. Optimizing conversation history...";

/// Maximum number of messages that are summarized at once, with the previous summary; more are split into two halves, without
/// it.
// As in picoclaw, `pkg/agent/loop.go` at 021aa7d6 and `pkg/agent/context_legacy.go` at cf67dd38.
const MAX_MESSAGES_AT_ONCE: usize = 10;

/// Appended if messages were too large to be summarized.
const OMITTED: &str =
    "\n[Note: Some oversized messages were omitted from this summary for efficiency.]";

/// Values that decide whether a session is summarized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Messages of the history.
    pub messages: usize,
    /// Fires above this many messages.
    pub message_threshold: i64,
    /// Tokens of the history.
    pub tokens: i64,
    /// Fires above this many tokens.
    pub token_threshold: i64,
}

/// The result of a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarized {
    /// The session afterwards.
    pub stored: Stored,
    /// Event for listeners; before, none is sent.
    pub event: Event,
}

/// The part of a history to summarize.
struct Plan<'a> {
    messages: Vec<&'a ChatMessage>,
    omitted: bool,
    kept: usize,
}

impl Trigger {
    /// Measures a history.
    pub fn measure(
        history: &[ChatMessage],
        edition: Edition,
        message_threshold: i64,
        token_threshold: i64,
    ) -> Self {
        let tokens = match edition {
            Edition::Before => tokens_before(history),
            Edition::Proposed | Edition::After => tokens_after(history),
        };
        Self {
            messages: history.len(),
            message_threshold,
            tokens: tokens.cast_signed(),
            token_threshold,
        }
    }

    /// Returns whether the session is summarized.
    pub fn fires(&self) -> bool {
        self.messages.cast_signed() as i64 > self.message_threshold
            || self.tokens > self.token_threshold
    }
}

/// Summarizes a session; `None` if there is nothing to summarize, or the summary is empty.
///
/// # Errors
/// [`PendingRequest`] until every answer is available.
pub fn summarize_session(
    stored: &Stored,
    edition: Edition,
    settings: &Settings,
    replies: &mut Replies<'_>,
) -> Result<Option<Summarized>, PendingRequest> {
    let Some(plan) = plan(&stored.history, edition, settings) else {
        return Ok(None);
    };
    let max_tokens = settings.max_tokens;
    let mut summary = if plan.messages.len() > MAX_MESSAGES_AT_ONCE {
        // The model does not receive the previous summary, which is lost here.
        let (first, second) = plan.messages.split_at(middle(&plan.messages));
        let first = summarize_batch(first, "", max_tokens, replies)?;
        let second = summarize_batch(second, "", max_tokens, replies)?;
        merge_summaries(&first, &second, max_tokens, replies)?
    } else {
        summarize_batch(&plan.messages, &stored.summary, max_tokens, replies)?
    };
    if summary.is_empty() {
        return Ok(None);
    }
    if plan.omitted {
        summary.push_str(OMITTED);
    }
    let event = Event::Summarized {
        messages: plan.messages.len(),
        kept: plan.kept,
        summary_len: summary.len(),
        omitted: plan.omitted,
    };
    let mut stored = Stored::new(stored.history.clone(), summary);
    stored.truncate_history(plan.kept);
    Ok(Some(Summarized { stored, event }))
}

/// Collects all texts before the cut, except messages larger than half the window. Measures them by half their bytes,
/// which counts CJK text nearly four times as high as the estimate does.
fn plan<'a>(history: &'a [ChatMessage], edition: Edition, settings: &Settings) -> Option<Plan<'a>> {
    let target = history.len().checked_sub(settings.kept_messages).filter(|n| *n > 0)?;
    let cut = match edition {
        Edition::Before => target,
        Edition::Proposed => before_group(history, target),
        Edition::After => find_safe_boundary(history, target.cast_signed()),
    };
    let largest = settings.context_window / 2;
    let spoken = history[..cut].iter().filter(|m| m.is("user") || m.is("assistant"));
    let (omitted, messages): (Vec<_>, Vec<_>) =
        spoken.partition(|m| (text_of(m).len() / 2).cast_signed() as i64 > largest);
    (!messages.is_empty()).then_some(Plan {
        messages,
        omitted: !omitted.is_empty(),
        kept: history.len() - cut,
    })
}

/// Returns the middle, at the nearest user message: there or before, else after it.
fn middle(messages: &[&ChatMessage]) -> usize {
    let middle = messages.len() / 2;
    let is_user = |idx: &usize| messages[*idx].is("user");
    let before = (0..=middle).rev().find(is_user);
    let behind = || (middle..messages.len()).find(is_user);
    before.or_else(behind).unwrap_or(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{SummaryReply, run_with_replies};

    fn texts(n: usize) -> Vec<ChatMessage> {
        let role = |idx| if idx % 2 == 0 { "user" } else { "assistant" };
        (0..n).map(|idx| ChatMessage::new(role(idx), format!("m{idx}"))).collect()
    }

    fn prompts(stored: &Stored) -> Vec<String> {
        let settings = Settings::new(Edition::After, 1000, 100);
        let mut prompts = Vec::new();
        run_with_replies(
            |replies| summarize_session(stored, Edition::After, &settings, replies),
            |request| {
                prompts.push(text_of(&request.messages[0]).into_owned());
                SummaryReply::Text("S".into())
            },
        );
        prompts
    }

    #[test]
    fn the_previous_summary_of_more_than_ten_messages_is_lost() {
        let asked = |n| prompts(&Stored::new(texts(n), "EARLIER"));
        let few = asked(14);
        assert_eq!(few.len(), 1);
        assert!(few[0].contains("Existing context: EARLIER\n"));
        let many = asked(16);
        assert_eq!(many.len(), 3);
        assert!(many.iter().all(|prompt| !prompt.contains("EARLIER")));
    }

    #[test]
    fn an_empty_summary_changes_nothing() {
        let stored = Stored::new(texts(8), "EARLIER");
        let settings = Settings::new(Edition::After, 1000, 100);
        let done = run_with_replies(
            |replies| summarize_session(&stored, Edition::After, &settings, replies),
            |_| SummaryReply::Text(" ".into()),
        );
        assert_eq!(done, None);
    }
}
