//! The state of a call: the reported usage, the counts, the input budget, and what was tried.

use crate::chat::{ChatMessage, n_system};
use crate::engine::{Memory, RewriteInput};
use crate::systems::langchain::estimate::scaled;
use crate::systems::langchain::usage::{USAGE, Usage};
use serde_json::json;

/// Key of what was tried at a call, in memory.
const TRIED: &str = "deepagents_tried";

/// Numbers that all actions need which count.
pub(super) const NUMBERS: [&str; 4] =
    ["reported", "max_input_tokens", "max_tokens", "tools_tokens"];

/// What was tried at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tried {
    /// The request as it was.
    Plain,
    /// A request without a summary, whose size was checked.
    Uncut,
    /// A request with a summary, whose size was checked.
    Checked,
    /// The last possible request.
    Last,
    /// Nothing more: the run ended with an error.
    Ended,
}

/// The counts of a call.
pub(super) struct Call<'a> {
    input: &'a RewriteInput<'a>,
    usage: Usage,
    /// Instructions of the conversation.
    n_system: usize,
}

impl<'a> Call<'a> {
    pub(super) fn new(input: &'a RewriteInput<'a>) -> Self {
        Self {
            usage: Usage::new(input),
            n_system: n_system(&input.messages),
            input,
        }
    }

    /// Returns the conversation without instructions.
    pub(super) fn conversation(&self) -> &'a [ChatMessage] {
        &self.input.messages[self.n_system..]
    }

    /// Returns the instructions.
    pub(super) fn system(&self) -> &'a [ChatMessage] {
        &self.input.messages[..self.n_system]
    }

    /// Returns the model's limit for prompts.
    pub(super) fn limit(&self) -> u64 {
        match self.input.count("max_input_tokens") {
            0 => self.input.window,
            limit => limit as u64,
        }
    }

    /// Returns whether a count exceeds the budget for a request.
    pub(super) fn is_over(&self, count: u64) -> bool {
        let budget = (self.limit() as f64 * 0.95) as u64;
        count > budget.saturating_sub(self.input.count("max_tokens") as u64)
    }

    /// Returns the count of a request with these messages behind the instructions.
    pub(super) fn count(&self, messages: &[ChatMessage]) -> u64 {
        let all = [self.system(), messages].concat();
        let tools = self.input.count("tools_tokens") as u64;
        scaled(&all, tools, self.usage.newest(&all))
    }

    /// Returns the count of messages alone.
    pub(super) fn count_alone(&self, messages: &[ChatMessage]) -> u64 {
        scaled(messages, 0, self.usage.newest(messages))
    }

    /// Returns the totals that answers reported.
    pub(super) fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Returns what was tried at this call, with the count of that request.
    pub(super) fn tried(&self) -> Option<(Tried, u64)> {
        let known = &self.input.memory[TRIED];
        let is_of_call = known["call"].as_u64() == Some(self.input.call as u64);
        let tried = match known["tried"].as_str() {
            Some("plain") => Tried::Plain,
            Some("uncut") => Tried::Uncut,
            Some("checked") => Tried::Checked,
            Some("last") => Tried::Last,
            _ => Tried::Ended,
        };
        is_of_call.then(|| (tried, known["count"].as_u64().unwrap_or(0)))
    }

    /// Returns memory with the usage and with what was tried at this call.
    pub(super) fn to_memory(&self, tried: Tried, count: u64) -> Memory {
        let name = match tried {
            Tried::Plain => "plain",
            Tried::Uncut => "uncut",
            Tried::Checked => "checked",
            Tried::Last => "last",
            Tried::Ended => "ended",
        };
        let tried = json!({"call": self.input.call, "tried": name, "count": count});
        json!({USAGE: self.usage.to_json(), TRIED: tried}).into()
    }
}
