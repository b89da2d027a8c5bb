//! The settings of `agents.defaults` that context management reads, with PicoClaw's replacements for zero.

use super::Edition;

/// `max_tokens` if the configuration has zero.
// The defaults of this file are those of picoclaw 021aa7d6, `pkg/agent/instance.go`.
const MAX_TOKENS: i64 = 8192;

/// `summarize_message_threshold` if the configuration has zero.
const MESSAGE_THRESHOLD: i64 = 20;

/// `summarize_token_percent` if the configuration has zero.
const TOKEN_PERCENT: i64 = 75;

/// The default context window that the issue proposes.
// From sipeed/picoclaw issue 1439.
const PROPOSED_WINDOW: i64 = 131_072;

/// Ratio of the default context window to the output tokens, as built.
const WINDOW_FACTOR: i64 = 4;

/// Number of messages that a summary keeps; a constant of the code.
pub const KEPT_MESSAGES: usize = 4;

/// An agent's settings. Integers may be negative, since no check rejects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The context window that the agent assumes, in tokens.
    pub context_window: i64,
    /// Maximum number of tokens of an answer, reserved in the window.
    pub max_tokens: i64,
    /// A history with more messages than this is summarized.
    pub message_threshold: i64,
    /// A history with more tokens than this share of the window, in percent, is summarized.
    pub token_percent: i64,
    /// Number of newest messages that a summary keeps.
    pub kept_messages: usize,
}

impl Settings {
    /// Returns the settings of an agent with this configuration; zero selects the default.
    pub fn new(edition: Edition, context_window: i64, max_tokens: i64) -> Self {
        let max_tokens = non_zero(max_tokens, MAX_TOKENS);
        let default_window = match edition {
            Edition::Before => max_tokens,
            Edition::Proposed => PROPOSED_WINDOW,
            Edition::After => max_tokens.saturating_mul(WINDOW_FACTOR),
        };
        Self {
            context_window: non_zero(context_window, default_window),
            max_tokens,
            message_threshold: MESSAGE_THRESHOLD,
            token_percent: TOKEN_PERCENT,
            kept_messages: KEPT_MESSAGES,
        }
    }

    /// Sets the thresholds for summaries; zero selects the default.
    #[must_use]
    pub fn with_thresholds(self, message_threshold: i64, token_percent: i64) -> Self {
        Self {
            message_threshold: non_zero(message_threshold, MESSAGE_THRESHOLD),
            token_percent: non_zero(token_percent, TOKEN_PERCENT),
            ..self
        }
    }

    /// Returns the tokens of history above which it is summarized: the share of the window in whole percent.
    pub fn token_threshold(&self) -> i64 {
        self.context_window.saturating_mul(self.token_percent) / 100
    }
}

fn non_zero(configured: i64, default: i64) -> i64 {
    if configured == 0 { default } else { configured }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_is_not_configured_differs_by_edition() {
        let window = |edition| Settings::new(edition, 0, 32_768).context_window;
        assert_eq!(window(Edition::Before), 32_768);
        assert_eq!(window(Edition::Proposed), 131_072);
        assert_eq!(window(Edition::After), 131_072);
        assert_eq!(Settings::new(Edition::After, 0, 0).context_window, 32_768);
    }

    #[test]
    fn zero_thresholds_are_the_defaults_and_negative_ones_stay() {
        let settings = Settings::new(Edition::After, 1001, 1).with_thresholds(0, 0);
        assert_eq!(settings.message_threshold, 20);
        assert_eq!(settings.token_threshold(), 750);
        let negative = settings.with_thresholds(-1, -75);
        assert_eq!(negative.message_threshold, -1);
        assert_eq!(negative.token_threshold(), -750, "Go rounds toward zero");
    }
}
