//! The loop around the management of context, so that a scripted run shows what is stored and what is only sent.
//!
//! Who answers and who runs tools is a [`World`]; the loop itself decides, words and records.

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

/// What it is asked to do, and what it finds.
#[derive(Clone, Debug)]
pub struct Task {
    /// The person's words.
    pub instruction: String,
    /// The first message.
    pub system_prompt: String,
    /// What `pwd && ls -la` printed.
    pub initial_state: String,
}

/// What its configuration sets.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Of the management of context.
    pub limits: Limits,
    /// Tokens of a tool's output; the only limit that is read from the configuration.
    pub max_output_tokens: i64,
    /// Rounds after which it stops.
    pub max_iterations: i64,
    /// Whether messages are marked for the provider's cache.
    pub is_caching: bool,
}

/// The model and the tools.
pub trait World {
    /// Answers a request of the agent.
    ///
    /// # Errors
    /// What the client raises.
    fn chat(&mut self, messages: &[ChatMessage]) -> Result<Reply, Failure>;
    /// Answers the request for a summary.
    fn summarize(&mut self, ask: &Ask) -> Heard;
    /// Runs a tool.
    fn execute(&mut self, tool: &str, arguments: &Map<String, Value>) -> ToolOutput;
}

/// An answer of the model.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// What it says.
    pub text: String,
    /// What it calls.
    pub calls: Vec<ToolCall>,
    /// What the provider charges for.
    pub usage: Usage,
}

/// A call in an answer.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, as the client read them.
    pub arguments: Value,
}

/// What a tool gives back.
#[derive(Clone, Debug, Default)]
pub struct ToolOutput {
    /// Its text.
    pub text: String,
    /// A picture to show to the model.
    pub image: Option<Block>,
}

/// Tokens as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read.
    pub input: u64,
    /// Read from its cache.
    pub cached: u64,
    /// Written.
    pub output: u64,
}

/// A request as it was sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// Whether it asks for a summary.
    pub is_compaction: bool,
    /// What it holds.
    pub messages: Vec<ChatMessage>,
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Every request, tries that failed included.
    pub requests: Vec<Request>,
    /// Names of the events that it prints.
    pub events: Vec<&'static str>,
    /// What it logs; a wait stands there as `sleep SECONDS`.
    pub log: Vec<String>,
    /// Of the agent's own requests; those for summaries are left out.
    pub usage: Usage,
    /// It has told that it is done, be it in failure.
    pub is_done: bool,
}

#[cfg(test)]
mod tests;
