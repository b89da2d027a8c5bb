//! The loop around the context management. A scripted run shows which messages are stored and which are only sent.
//!
//! A [`World`] answers calls and runs tools; the loop itself decides, formats and records.

mod cache_marks;
mod failure;
mod run;
mod verification;

pub use cache_marks::mark_for_cache;
pub use failure::{Failure, code_of_status};
pub use run::run_agent_loop;

use super::Limits;
use crate::chat::{Ask, Block, ChatMessage, Heard};
use serde_json::{Map, Value};

/// The task and the initial state.
#[derive(Clone, Debug)]
pub struct Task {
    /// The user's instruction.
    pub instruction: String,
    /// The first message.
    pub system_prompt: String,
    /// Output of `pwd && ls -la`.
    pub initial_state: String,
}

/// Configuration of the agent.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Limits of the context management.
    pub limits: Limits,
    /// Token limit of a tool's output; the only limit that is read from the configuration.
    pub max_output_tokens: i64,
    /// Calls after which it stops.
    pub max_iterations: i64,
    /// Whether messages are marked for the provider's cache.
    pub is_caching: bool,
}

/// The model and the tools.
pub trait World {
    /// Answers a request of the agent.
    ///
    /// # Errors
    /// The client's exception.
    fn chat(&mut self, messages: &[ChatMessage]) -> Result<Reply, Failure>;
    /// Answers a summary request.
    fn summarize(&mut self, ask: &Ask) -> Heard;
    /// Runs a tool.
    fn execute(&mut self, tool: &str, arguments: &Map<String, Value>) -> ToolOutput;
}

/// An answer of the model.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Text of the answer.
    pub text: String,
    /// Tool calls.
    pub calls: Vec<ToolCall>,
    /// Token counts that the provider charges.
    pub usage: Usage,
}

/// A call in an answer.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    /// Its arguments, as parsed by the client.
    pub arguments: Value,
}

/// Output of a tool.
#[derive(Clone, Debug, Default)]
pub struct ToolOutput {
    /// Its text.
    pub text: String,
    /// An image for the model.
    pub image: Option<Block>,
}

/// Tokens as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
}

/// A request as it was sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// Whether it is a summary request.
    pub is_compaction: bool,
    /// Its messages.
    pub messages: Vec<ChatMessage>,
}

/// The recorded run.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Every request, including failed tries.
    pub requests: Vec<Request>,
    /// Names of the events that it prints.
    pub events: Vec<&'static str>,
    /// Log lines; a wait is logged as `sleep SECONDS`.
    pub log: Vec<String>,
    /// Usage of the agent's own requests, without summary requests.
    pub usage: Usage,
    /// Whether it reported completion, even after a failure.
    pub is_done: bool,
}

#[cfg(test)]
mod tests;
