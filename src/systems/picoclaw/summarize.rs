//! Summarizing the older part of a session, after a turn.
//!
//! The model sees what the user and the assistant said: never a tool's result, never a call's arguments.

use super::boundary::{before_group, find_safe_boundary};
use super::estimate::{tokens_after, tokens_before};
use super::event::Event;
use super::message::text_of;
use super::summary_text::{merge_summaries, summarize_batch};
use super::{Edition, Settings, Stored};
use crate::chat::{ChatMessage, Dialogue, Wants};

/// What PicoClaw logs when it starts to summarize.
pub const STARTED: &str = "Memory threshold reached. Optimizing conversation history...";

/// Up to this many messages are summarized at once, with the summary there was; more in two halves, without it.
const MOST_AT_ONCE: usize = 10;

/// Added where messages were too large to be summarized.
const OMITTED: &str =
    "\n[Note: Some oversized messages were omitted from this summary for efficiency.]";

/// What decides whether a session is summarized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Messages of the history.
    pub messages: usize,
    /// More than this many fire.
    pub message_threshold: i64,
    /// Tokens of the history.
    pub tokens: i64,
    /// More than this many fire.
    pub token_threshold: i64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarized {
    /// The session afterwards.
    pub stored: Stored,
    /// What listeners are told; before, nobody is.
    pub event: Event,
}

/// What of a history is summarized.
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

    /// Whether it is to be summarized.
    pub fn fires(&self) -> bool {
        self.messages.cast_signed() as i64 > self.message_threshold
            || self.tokens > self.token_threshold
    }
}

/// Summarizes a session; none if nothing can be, or the summary came out empty.
///
/// # Errors
/// [`Wants`] until every answer is there.
pub fn summarize_session(
    stored: &Stored,
    edition: Edition,
    settings: &Settings,
    dialogue: &mut Dialogue<'_>,
) -> Result<Option<Summarized>, Wants> {
    let Some(plan) = plan(&stored.history, edition, settings) else {
        return Ok(None);
    };
    let max_tokens = settings.max_tokens;
    let mut summary = if plan.messages.len() > MOST_AT_ONCE {
        // The summary there was is not shown to the model: from here on it is gone.
        let (first, second) = plan.messages.split_at(middle(&plan.messages));
        let first = summarize_batch(first, "", max_tokens, dialogue)?;
        let second = summarize_batch(second, "", max_tokens, dialogue)?;
        merge_summaries(&first, &second, max_tokens, dialogue)?
    } else {
        summarize_batch(&plan.messages, &stored.summary, max_tokens, dialogue)?
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

/// Everything before the cut that was said, unless a message is larger than half the window; it is weighed by half its
/// bytes, which counts CJK text nearly four times as high as the estimate does.
fn plan<'a>(history: &'a [ChatMessage], edition: Edition, settings: &Settings) -> Option<Plan<'a>> {
    let target = history
        .len()
        .checked_sub(settings.kept_messages)
        .filter(|n| *n > 0)?;
    let cut = match edition {
        Edition::Before => target,
        Edition::Proposed => before_group(history, target),
        Edition::After => find_safe_boundary(history, target.cast_signed()),
    };
    let largest = settings.context_window / 2;
    let said = history[..cut]
        .iter()
        .filter(|m| m.is("user") || m.is("assistant"));
    let (omitted, messages): (Vec<_>, Vec<_>) =
        said.partition(|m| (text_of(m).len() / 2).cast_signed() as i64 > largest);
    (!messages.is_empty()).then_some(Plan {
        messages,
        omitted: !omitted.is_empty(),
        kept: history.len() - cut,
    })
}

/// The middle, at the nearest message of the user: at it or before, else behind.
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
    use crate::chat::{Heard, converse};

    fn said(n: usize) -> Vec<ChatMessage> {
        let role = |idx| if idx % 2 == 0 { "user" } else { "assistant" };
        (0..n)
            .map(|idx| ChatMessage::new(role(idx), format!("m{idx}")))
            .collect()
    }

    fn prompts(stored: &Stored) -> Vec<String> {
        let settings = Settings::new(Edition::After, 1000, 100);
        let mut prompts = Vec::new();
        converse(
            |dialogue| summarize_session(stored, Edition::After, &settings, dialogue),
            |ask| {
                prompts.push(text_of(&ask.messages[0]).into_owned());
                Heard::Text("S".into())
            },
        );
        prompts
    }

    #[test]
    fn more_than_ten_messages_forget_the_summary_there_was() {
        let asked = |n| prompts(&Stored::new(said(n), "EARLIER"));
        let few = asked(14);
        assert_eq!(few.len(), 1);
        assert!(few[0].contains("Existing context: EARLIER\n"));
        let many = asked(16);
        assert_eq!(many.len(), 3);
        assert!(many.iter().all(|prompt| !prompt.contains("EARLIER")));
    }

    #[test]
    fn a_summary_that_comes_out_empty_changes_nothing() {
        let stored = Stored::new(said(8), "EARLIER");
        let settings = Settings::new(Edition::After, 1000, 100);
        let done = converse(
            |dialogue| summarize_session(&stored, Edition::After, &settings, dialogue),
            |_| Heard::Text(" ".into()),
        );
        assert_eq!(done, None);
    }
}
