//! What hooks see of a turn, and what actions may change of it.

use super::estimate::{all_hook_tokens, all_log_tokens};
use super::fault::Fault;
use super::tool_injection::ToolInjection;
use super::window;
use crate::chat::Messages;
use serde_json::Value;

/// `last_compact_turn` of an agent that never compacted.
pub const NEVER_COMPACTED: i64 = -10;

/// Turns of a user message that an agent may take.
pub const MAX_TURNS: i64 = 50;

/// The state of a turn when an event is raised.
#[derive(Clone, Debug)]
pub struct TurnState {
    /// The conversation, which actions change.
    pub messages: Messages,
    /// The turn, from 0 again for every user message.
    pub turn: i64,
    /// Turns it may take.
    pub max_turns: i64,
    /// Calls of tools since the user's message.
    pub tool_calls: i64,
    /// The agent.
    pub agent_id: String,
    /// How tools are told.
    pub tool_injection: ToolInjection,
    /// The context window.
    pub max_tokens: i64,
    /// Kept free for the output.
    pub output_reserved: i64,
    /// The turn of the last compaction; outlives the user's message.
    pub last_compact_turn: i64,
    /// `compression_trigger`, for the status.
    pub trigger: f64,
    /// The tool that an event of a tool is about.
    pub tool: Option<ToolContext>,
    /// The document's plain estimate in the place of the shipped one.
    pub is_plain_estimate: bool,
    /// Whether an action changed the conversation.
    pub is_changed: bool,
    /// The estimate as it was worked out last: conditions may see an old one.
    estimate: Option<i64>,
}

/// The tool that an event is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolContext {
    /// Its name.
    pub name: String,
    /// What it was called with.
    pub params: Value,
    /// What it returned.
    pub result: Value,
    /// How it failed.
    pub error: Option<String>,
}

impl TurnState {
    /// The first turn of an agent that never compacted.
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

    /// The state that the next event sees: made anew, so that nothing is known of its estimate.
    pub fn start_event(&mut self, turn: i64, tool_calls: i64) {
        self.turn = turn;
        self.tool_calls = tool_calls;
        self.estimate = None;
    }

    /// The estimate, as it was first asked for since it was last forgotten.
    ///
    /// # Errors
    /// As the estimate raises.
    pub fn estimated_tokens(&mut self) -> Result<i64, Fault> {
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

    /// The next estimate is worked out anew.
    pub(super) fn forget_estimate(&mut self) {
        self.estimate = None;
    }

    /// The window without the output's room.
    pub fn effective_max_tokens(&self) -> i64 {
        window::usable(self.max_tokens, self.output_reserved)
    }

    /// The estimate as a share of that.
    ///
    /// # Errors
    /// As the estimate raises.
    pub fn token_pressure(&mut self) -> Result<f64, Fault> {
        Ok(self.estimated_tokens()? as f64 / self.effective_max_tokens() as f64)
    }

    /// Puts another conversation in the place of this one.
    pub(super) fn replace(&mut self, messages: impl Into<Messages>) {
        self.messages = messages.into();
        self.is_changed = true;
    }
}
