//! The state of a call: the reported usage, the counts, the input budget, and the last request.

use crate::chat::{ChatMessage, n_system};
use crate::engine::{Memory, RewriteInput};
use crate::json::json;
use crate::systems::langchain::estimate::scaled;
use crate::systems::langchain::usage::Usage;

/// Key of the last request of a call, in memory.
const ATTEMPT: &str = "deepagents_attempt";

/// Numbers that all actions need which count.
pub(super) const NUMBERS: [&str; 4] =
    ["reported", "max_input_tokens", "max_tokens", "tools_tokens"];

/// The last request that was prepared for a call. After a rejection it decides what is done next: a plain one is
/// summarized, one that was or cannot be summarized is clipped, and the last one ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The request as it was: no trigger was met.
    Plain,
    /// A request without a summary: a trigger was met, but all messages are to be kept.
    NothingToSummarize,
    /// A request with a summary.
    Summarized,
    /// The last possible request.
    Last,
    /// No request: the run ended with an error.
    Ended,
}

/// The state of a call.
pub(super) struct CallState<'a> {
    input: &'a RewriteInput<'a>,
    usage: Usage,
    /// Instructions of the conversation.
    n_system: usize,
}

impl<'a> CallState<'a> {
    pub(super) fn new(input: &'a RewriteInput<'a>) -> Self {
        Self { usage: Usage::new(input), n_system: n_system(&input.messages), input }
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
        // As in deepagents 0.7.32, `middleware/summarization.py`: a twentieth is left for errors of the count.
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

    /// Returns the last request of this call with its count.
    pub(super) fn attempt(&self) -> Option<(Attempt, u64)> {
        let known = &self.input.memory[ATTEMPT];
        let is_of_call = known["call"].as_u64() == Some(self.input.call as u64);
        let attempt = match known["attempt"].as_str() {
            Some("plain") => Attempt::Plain,
            Some("nothing to summarize") => Attempt::NothingToSummarize,
            Some("summarized") => Attempt::Summarized,
            Some("last") => Attempt::Last,
            _ => Attempt::Ended,
        };
        is_of_call.then(|| (attempt, known["count"].as_u64().unwrap_or(0)))
    }

    /// Returns memory with the usage, and with a request of this call and its count.
    pub(super) fn to_memory(&self, attempt: Attempt, count: u64) -> Memory {
        let name = match attempt {
            Attempt::Plain => "plain",
            Attempt::NothingToSummarize => "nothing to summarize",
            Attempt::Summarized => "summarized",
            Attempt::Last => "last",
            Attempt::Ended => "ended",
        };
        let attempt = json!({"call": self.input.call, "attempt": name, "count": count});
        self.usage.remember(json!({ATTEMPT: attempt}))
    }
}
