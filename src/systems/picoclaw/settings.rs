//! The settings of `agents.defaults` that context management reads, with what PicoClaw puts in the place of zero.

use super::Edition;

/// `max_tokens` where the configuration has zero.
const MAX_TOKENS: i64 = 8192;

/// `summarize_message_threshold` where the configuration has zero.
const MESSAGE_THRESHOLD: i64 = 20;

/// `summarize_token_percent` where the configuration has zero.
const TOKEN_PERCENT: i64 = 75;

/// The default context window that the issue proposes.
const PROPOSED_WINDOW: i64 = 131_072;

/// How many times the output tokens fit the context window by default, as built.
const WINDOW_FACTOR: i64 = 4;

/// Messages that a summary leaves as they are; a constant of the code.
pub const KEPT_MESSAGES: usize = 4;

/// Settings as an agent holds them. Whole numbers may be negative, since nothing checks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Tokens that the model takes, as the agent believes.
    pub context_window: i64,
    /// Most tokens of an answer; the room reserved for it.
    pub max_tokens: i64,
    /// More messages than this are summarized.
    pub message_threshold: i64,
    /// More tokens than this share of the window, in percent, are summarized.
    pub token_percent: i64,
    /// Newest messages that a summary spares.
    pub kept_messages: usize,
}

impl Settings {
    /// Settings of an agent configured with these; zero stands for the default.
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

    /// The same with thresholds for summaries; zero stands for the default.
    #[must_use]
    pub fn with_thresholds(self, message_threshold: i64, token_percent: i64) -> Self {
        Self {
            message_threshold: non_zero(message_threshold, MESSAGE_THRESHOLD),
            token_percent: non_zero(token_percent, TOKEN_PERCENT),
            ..self
        }
    }

    /// Tokens of history above which it is summarized: the window's share in whole percent.
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
