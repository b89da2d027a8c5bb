//! The size of a request, and trimming of its history until it fits.

use super::boundary::turn_starts;
use super::estimate::known_tokens;
use super::prompt::Prompt;
use super::sanitize::sent;
use super::{Settings, Stored};
use crate::chat::ChatMessage;

/// Estimated tokens of a request against the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens of all messages, including the system prompt.
    pub message_tokens: i64,
    /// Tokens of the tool definitions.
    pub tool_tokens: i64,
    /// Tokens reserved for the answer.
    pub max_tokens: i64,
    /// The window.
    pub context_window: i64,
}

/// A trimmed history of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trimmed {
    /// Estimate of the original request.
    pub budget: Budget,
    /// Number of messages removed from the start of the history.
    pub dropped: usize,
    /// Whether it fits.
    pub fits: bool,
}

impl Budget {
    /// Weighs the request of a stored session without building it.
    pub fn of(prompt: &Prompt, stored: &Stored, tool_tokens: u64, settings: &Settings) -> Self {
        let history = sent_tokens(&stored.history, prompt).into_iter();
        let tokens = history.sum::<u64>() + fixed_tokens(prompt, stored);
        Self::with_tokens(tokens, tool_tokens, settings)
    }

    fn with_tokens(message_tokens: u64, tool_tokens: u64, settings: &Settings) -> Self {
        Self {
            message_tokens: message_tokens.cast_signed(),
            tool_tokens: tool_tokens.cast_signed(),
            max_tokens: settings.max_tokens,
            context_window: settings.context_window,
        }
    }

    /// Returns whether messages, tools and the output reserve exceed the window.
    pub fn is_over(&self) -> bool {
        let needed = self.message_tokens.saturating_add(self.tool_tokens);
        needed.saturating_add(self.max_tokens) > self.context_window
    }

    /// Returns the context usage that PicoClaw displays, in percent of the window minus the output reserve.
    pub fn shown_percent(&self) -> i64 {
        let effective = self.context_window.saturating_sub(self.max_tokens);
        let effective = if effective < 0 { self.context_window } else { effective };
        let used = self.message_tokens.saturating_add(self.tool_tokens);
        let percent = used.saturating_mul(100).checked_div(effective);
        percent.map_or(100, |percent| percent.min(100))
    }
}

impl Trimmed {
    /// Returns the request of a session with the messages of the current turn.
    pub fn request(
        &self,
        prompt: &Prompt,
        stored: &Stored,
        active: &[ChatMessage],
    ) -> Vec<ChatMessage> {
        let rest = [&stored.history[self.dropped..], active].concat();
        prompt.request(&Stored::new(rest, stored.summary.clone()))
    }
}

/// Returns the tokens of the window that remain for the history, as the issue proposes: without the system prompt, the
/// tools and the output reserve.
pub fn history_budget(system: Option<&ChatMessage>, tool_tokens: u64, settings: &Settings) -> i64 {
    let fixed = system.map_or(0, known_tokens).saturating_add(tool_tokens).cast_signed();
    let left = settings.context_window.saturating_sub(fixed);
    left.saturating_sub(settings.max_tokens)
}

/// Drops the oldest turns from a request until it fits. Does not change the store and never drops `active` (the
/// messages of the current turn).
pub fn trim_to_fit(
    prompt: &Prompt,
    stored: &Stored,
    active: &[ChatMessage],
    tool_tokens: u64,
    settings: &Settings,
) -> Trimmed {
    let history = &stored.history;
    let budget = |tokens: u64| Budget::with_tokens(tokens, tool_tokens, settings);
    let fixed = fixed_tokens(prompt, stored);
    let weights = Weights::new(prompt, history, active);
    let ends = history.len();
    let cuts = std::iter::once(0).chain(cuts(history));
    let fit = cuts.into_iter().find(|cut| !budget(fixed + weights.from(*cut)).is_over());
    Trimmed {
        budget: budget(fixed + weights.from(0)),
        dropped: fit.unwrap_or(ends),
        fits: fit.is_some(),
    }
}

/// Returns the tokens of a request without its history.
fn fixed_tokens(prompt: &Prompt, stored: &Stored) -> u64 {
    let system = prompt.system(&stored.summary);
    let fixed = system.iter().chain(prompt.sent_current());
    fixed.map(known_tokens).sum()
}

/// Returns the tokens that each message of a history adds to a request: 0 if it is not sent.
fn sent_tokens(history: &[ChatMessage], prompt: &Prompt) -> Vec<u64> {
    let mut tokens = vec![0; history.len()];
    for idx in sent(history, prompt.edition) {
        tokens[idx] = known_tokens(&history[idx]);
    }
    tokens
}

/// Returns the possible starts of the history, in the order tried: its second turn and each later one, then its end. A
/// single turn is tried first, unless it is already at the start.
fn cuts(history: &[ChatMessage]) -> Vec<usize> {
    if history.is_empty() {
        return Vec::new();
    }
    let starts = turn_starts(history);
    let mut cuts = match &*starts {
        [only] if *only > 0 => vec![*only],
        [] | [_] => Vec::new(),
        [_, later @ ..] => later.to_vec(),
    };
    cuts.push(history.len());
    cuts
}

/// Tokens sent of a history, for any cut at a turn. The messages sent after a user message do not depend on those
/// before it, so one pass covers all cuts.
struct Weights {
    /// Tokens sent from each message on; one entry more than messages.
    from: Vec<u64>,
    ends: usize,
    /// Tokens sent of the current turn alone.
    active: u64,
}

impl Weights {
    fn new(prompt: &Prompt, history: &[ChatMessage], active: &[ChatMessage]) -> Self {
        let mut from = sent_tokens(&[history, active].concat(), prompt);
        let mut total = 0;
        for tokens in from.iter_mut().rev() {
            total += *tokens;
            *tokens = total;
        }
        Self { from, ends: history.len(), active: sent_tokens(active, prompt).into_iter().sum() }
    }

    fn from(&self, cut: usize) -> u64 {
        if cut == self.ends {
            return self.active;
        }
        self.from.get(cut).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::picoclaw::Edition;

    fn history(roles: &str) -> Vec<ChatMessage> {
        let role = |c| if c == 'u' { "user" } else { "assistant" };
        roles.chars().map(|c| ChatMessage::new(role(c), "text")).collect()
    }

    #[test]
    fn messages_before_the_first_turn_are_dropped_with_it() {
        assert_eq!(cuts(&history("auaua")), [3, 5]);
        assert_eq!(cuts(&history("aua")), [1, 3]);
        assert_eq!(cuts(&history("uaa")), [3]);
        assert_eq!(cuts(&history("aa")), [2]);
        assert_eq!(cuts(&history("")), [0; 0]);
    }

    #[test]
    fn the_current_turn_is_never_trimmed() {
        let settings = Settings { max_tokens: 0, ..Settings::new(Edition::After, 20, 1) };
        let prompt = Prompt { instructions: vec![], current: None, edition: Edition::After };
        let stored = Stored::new(history("uaua"), "");
        let active = history("ua");
        let trimmed = trim_to_fit(&prompt, &stored, &active, 0, &settings);
        let request = trimmed.request(&prompt, &stored, &active);
        assert_eq!((trimmed.dropped, request.len(), trimmed.fits), (4, 2, true));
        let tight = Settings { context_window: 5, ..settings };
        let trimmed = trim_to_fit(&prompt, &stored, &active, 0, &tight);
        assert_eq!((trimmed.dropped, trimmed.fits), (4, false));
    }

    #[test]
    fn the_history_budget_excludes_prompt_tools_and_answer() {
        let settings = Settings::new(Edition::Proposed, 1000, 300);
        let system = ChatMessage::new("system", "x".repeat(488));
        assert_eq!(history_budget(Some(&system), 50, &settings), 1000 - 200 - 50 - 300);
    }
}
