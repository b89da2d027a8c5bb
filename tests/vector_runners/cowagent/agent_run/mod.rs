//! One run of the agent: a user message, the trim, then model calls and tools until it answers.
//!
//! An [`Environment`] supplies the answers of model and tools, so the same loop runs with a script.

mod json_error;
mod model;
mod steps;
mod tools;

use plimsoll::chat::{Block, BlockBody, ChatMessage, Content, Fields};
use plimsoll::json::Value;
use plimsoll::systems::cowagent::loop_guard::CallHistory;
use plimsoll::systems::cowagent::{
    Ends, Flush, Flushed, HISTORY_RESULT_CHARS, Limits, Reason, cut_history, flush, sanitize,
    system_tokens, trim_messages,
};

/// The model and the tools of a run.
pub(crate) trait Environment {
    /// One call of the model.
    fn call(&mut self, request: &[ChatMessage]) -> Reply;
    /// One call of a tool.
    fn run_tool(&mut self, tool: &str, arguments: &Value) -> ToolOutcome;
}

/// Result of a model call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// An answer.
    Answer {
        /// Its text.
        text: String,
        /// Its reasoning.
        reasoning: String,
        /// The calls in it.
        calls: Vec<RequestedCall>,
        /// Why it ended, if the provider says so.
        stop_reason: Option<String>,
    },
    /// An error in the stream.
    Refused {
        /// Its text.
        message: String,
        /// The HTTP status.
        status: Value,
        /// Its code.
        code: String,
        /// Its type.
        kind: String,
    },
    /// An error of the connection.
    Raised(String),
}

/// A call as the model wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RequestedCall {
    /// Its id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments, which should be JSON.
    pub(crate) arguments: String,
}

/// Result of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolOutcome {
    /// `success` or `error`.
    pub(crate) status: String,
    /// The result.
    pub(crate) result: Value,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    /// The answer, or the error that the user sees.
    pub(crate) response: Result<String, String>,
    /// The conversation in memory afterwards.
    pub(crate) messages: Vec<ChatMessage>,
    /// Messages appended to the store; `None` after an error. A run that dropped messages stores too few: it finds the
    /// new ones by the earlier number of messages.
    pub(crate) stored: Option<Vec<ChatMessage>>,
    /// Writes to memory.
    pub(crate) flushes: Vec<Flush>,
    /// Log lines about the context, warnings and errors.
    pub(crate) log: Vec<String>,
}

/// A run.
#[derive(Debug)]
pub(crate) struct Run<'a, W> {
    environment: &'a mut W,
    system: &'a str,
    limits: Limits,
    max_steps: usize,
    messages: Vec<ChatMessage>,
    flushed: Flushed,
    flushes: Vec<Flush>,
    calls: CallHistory,
    log: Vec<String>,
}

impl<'a, W: Environment> Run<'a, W> {
    /// Makes a run that continues a conversation.
    pub(crate) fn new(
        environment: &'a mut W,
        messages: Vec<ChatMessage>,
        system: &'a str,
        limits: Limits,
        max_steps: usize,
    ) -> Self {
        Self {
            environment,
            system,
            limits,
            max_steps,
            messages,
            flushed: Flushed::default(),
            flushes: Vec::new(),
            calls: CallHistory::default(),
            log: Vec::new(),
        }
    }

    /// Runs to the end.
    pub(crate) fn run(mut self, user_message: &str) -> Ended {
        let n_before = self.messages.len();
        self.messages.push(user_text(user_message));
        cut_history(&mut self.messages, HISTORY_RESULT_CHARS, Ends::Head, &mut self.log);
        // Results are cut in the agent's own messages too; all other changes are local to the run until it succeeds.
        let before = self.messages[..n_before].to_vec();
        self.trim();
        let response = self.steps();
        if let Err(error) = &response {
            self.log.push(format!("error: ❌ Agent执行错误: {error}"));
        }
        self.log.retain(|line| !line.starts_with("info: [MemoryFlush]"));
        let start = n_before.min(self.messages.len());
        let stored = response.is_ok().then(|| self.messages[start..].to_vec());
        let keeps = response.is_ok() || self.messages.is_empty();
        Ended {
            response,
            messages: if keeps { self.messages } else { before },
            stored,
            flushes: self.flushes,
            log: self.log,
        }
    }

    fn trim(&mut self) {
        let trimmed = trim_messages(
            &self.messages,
            system_tokens(self.system),
            &self.limits,
            &mut self.flushed,
            &mut self.log,
        );
        self.messages = trimmed.messages;
        self.flushes.extend(trimmed.flushes);
        sanitize(&mut self.messages, &mut self.log);
    }

    /// Passes everything to memory before handling an overflow.
    fn flush_all(&mut self) {
        if self.limits.has_memory {
            let messages = &self.messages;
            let flush = flush(messages, Reason::Overflow, None, &mut self.flushed, &mut self.log);
            self.flushes.push(flush);
        }
    }

    fn warn(&mut self, line: &str) {
        self.log.push(format!("warning: {line}"));
    }

    fn error(&mut self, line: &str) {
        self.log.push(format!("error: {line}"));
    }
}

/// Makes a user message, by the user or by the agent in the role of the user.
fn user_text(text: &str) -> ChatMessage {
    with_blocks("user", vec![Block::text(text)])
}

fn with_blocks(role: &str, blocks: Vec<Block>) -> ChatMessage {
    ChatMessage::from(Fields {
        content: Content::Blocks(blocks),
        ..ChatMessage::new(role, "").into_fields()
    })
}

fn block(body: BlockBody) -> Block {
    Block { part: None, body }
}
