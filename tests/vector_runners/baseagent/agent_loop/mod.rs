//! The agent loop around the context management. Its record contains which messages are stored and which are only sent.
//!
//! An [`Environment`] answers calls and runs tools. The loop decides what to send, formats it and records it.

mod cache_marks;
mod run;
mod verification;

pub(crate) use run::run_agent_loop;

use plimsoll::chat::{Block, ChatMessage, SummaryReply, SummaryRequest};
use plimsoll::json::{Map, Value};
use plimsoll::systems::baseagent::{Failure, Limits};

/// The task and the initial state.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The user's instruction.
    pub(crate) instruction: String,
    /// The first message.
    pub(crate) system_prompt: String,
    /// Output of `pwd && ls -la`.
    pub(crate) initial_state: String,
}

/// Configuration of the agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Limits of the context management.
    pub(crate) limits: Limits,
    /// Token limit of a tool's output. The agent reads no other limit from its configuration.
    pub(crate) max_output_tokens: i64,
    /// Maximum number of calls.
    pub(crate) max_iterations: i64,
    /// Whether messages are marked for the provider's cache.
    pub(crate) is_caching: bool,
}

/// The model and the tools.
pub(crate) trait Environment {
    /// Answers a request of the agent.
    ///
    /// # Errors
    /// The client's exception.
    fn chat(&mut self, messages: &[ChatMessage]) -> Result<Reply, Failure>;
    /// Answers a summary request.
    fn summarize(&mut self, request: &SummaryRequest) -> SummaryReply;
    /// Runs a tool.
    fn execute(&mut self, tool: &str, arguments: &Map<String, Value>) -> ToolOutput;
}

/// An answer of the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    /// Text of the answer.
    pub(crate) text: String,
    /// Tool calls.
    pub(crate) calls: Vec<ToolCall>,
    /// Token counts that the provider charges.
    pub(crate) usage: Usage,
}

/// A call in an answer.
#[derive(Clone, Debug)]
pub(crate) struct ToolCall {
    /// Its id.
    pub(crate) id: String,
    /// Name of the tool.
    pub(crate) tool: String,
    /// Its arguments, as parsed by the client.
    pub(crate) arguments: Value,
}

/// Output of a tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolOutput {
    /// Its text.
    pub(crate) text: String,
    /// An image for the model.
    pub(crate) image: Option<Block>,
}

/// Tokens as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Input tokens.
    pub(crate) input: u64,
    /// Input tokens read from the cache.
    pub(crate) cached: u64,
    /// Output tokens.
    pub(crate) output: u64,
}

/// A request as it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Whether it is a summary request.
    pub(crate) is_compaction: bool,
    /// Its messages.
    pub(crate) messages: Vec<ChatMessage>,
}

/// The recorded run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Every request, including failed tries.
    pub(crate) requests: Vec<Request>,
    /// Names of the printed events.
    pub(crate) events: Vec<&'static str>,
    /// Log lines; a wait is logged as `sleep SECONDS`.
    pub(crate) log: Vec<String>,
    /// Usage of the agent's own requests, without summary requests.
    pub(crate) usage: Usage,
    /// Whether the agent reported completion, even after a failure.
    pub(crate) is_done: bool,
}

#[cfg(test)]
mod tests;
