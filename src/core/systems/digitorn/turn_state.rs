//! The state of a turn that hooks read and actions change.

use super::estimate::{all_hook_tokens, all_log_tokens};
use super::tool_injection::ToolInjection;
use super::window;
use crate::chat::Messages;
use crate::json::Value;
use crate::languages::python::PythonError;

/// `last_compact_turn` of an agent that never compacted.
// As in mbathe/digitorn-bridge @8d8eb4a6: low enough that no usual cooldown delays the first compaction.
pub const NEVER_COMPACTED: i64 = -10;

/// Maximum number of turns of an agent for a user message.
pub const MAX_TURNS: i64 = 50;

/// The state of a turn when an event is raised.
#[derive(Clone, Debug)]
pub struct TurnState {
    /// The conversation, which actions change.
    pub messages: Messages,
    /// The turn, restarting at 0 for every user message.
    pub turn: i64,
    /// Maximum number of turns.
    pub max_turns: i64,
    /// Tool calls since the user message.
    pub tool_calls: i64,
    /// The agent.
    pub agent_id: String,
    /// Form of the tool descriptions.
    pub tool_injection: ToolInjection,
    /// The context window.
    pub max_tokens: i64,
    /// Tokens reserved for the output.
    pub output_reserved: i64,
    /// The turn of the last compaction; kept across user messages.
    pub last_compact_turn: i64,
    /// `compression_trigger`, shown in the status.
    pub trigger: f64,
    /// The tool of a tool event.
    pub tool: Option<ToolContext>,
    /// Whether to use the plain estimate of the documentation instead of the shipped one.
    pub is_plain_estimate: bool,
    /// Whether an action changed the conversation.
    pub is_changed: bool,
    /// The cached estimate. Conditions may use one from before a change.
    estimate: Option<i64>,
}

/// The tool of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolContext {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub params: Value,
    /// Its result.
    pub result: Value,
    /// Its error.
    pub error: Option<String>,
}

impl TurnState {
    /// Creates the state of the first turn of an agent that never compacted.
    pub fn new(messages: impl Into<Messages>, max_tokens: i64, output_reserved: i64) -> Self {
        Self {
            messages: messages.into(),
            turn: 0,
            max_turns: MAX_TURNS,
            tool_calls: 0,
            agent_id: String::new(),
            tool_injection: ToolInjection::Discovery,
            max_tokens,
            output_reserved,
            last_compact_turn: NEVER_COMPACTED,
            trigger: 0.75,
            tool: None,
            is_plain_estimate: false,
            is_changed: false,
            estimate: None,
        }
    }

    /// Starts the state for the next event, without a cached estimate.
    pub fn start_event(&mut self, turn: i64, tool_calls: i64) {
        self.turn = turn;
        self.tool_calls = tool_calls;
        self.estimate = None;
    }

    /// Returns the cached estimate, computing it if necessary.
    ///
    /// # Errors
    /// The exception that the estimate raises.
    pub fn estimated_tokens(&mut self) -> Result<i64, PythonError> {
        if let Some(known) = self.estimate {
            return Ok(known);
        }
        let tokens = if self.is_plain_estimate {
            all_log_tokens(&self.messages)?
        } else {
            all_hook_tokens(&self.messages)?
        };
        self.estimate = Some(tokens);
        Ok(tokens)
    }

    /// Discards the cached estimate.
    pub fn forget_estimate(&mut self) {
        self.estimate = None;
    }

    /// Returns the window minus the output reserve.
    pub fn effective_max_tokens(&self) -> i64 {
        window::usable(self.max_tokens, self.output_reserved)
    }

    /// Returns the estimate as a share of [`Self::effective_max_tokens`].
    ///
    /// # Errors
    /// The exception that the estimate raises.
    pub fn token_pressure(&mut self) -> Result<f64, PythonError> {
        Ok(self.estimated_tokens()? as f64 / self.effective_max_tokens() as f64)
    }

    /// Replaces the conversation.
    pub(super) fn replace(&mut self, messages: impl Into<Messages>) {
        self.messages = messages.into();
        self.is_changed = true;
    }
}
