//! Our own prompt for a summary request that no real system words: instructions, and the conversation as text.
//!
//! The model that answers has a context window, too. A conversation that overflows it is sent in parts, each with the
//! summary so far.

use super::prompts::prompt;
use crate::chat::{ChatMessage, SummaryRequest};
use crate::engine::{Case, Request, transcript, transcript_parts};
use crate::json::Value;
use crate::session::{Body, Session};
use crate::units::Tokens;
use std::fmt::Write as _;

/// Maximum number of times that parts are halved when a server rejects them. A 32nd of the assumed window is smaller
/// than any error of our count; a server that rejects that too rejects for another reason, and each halving doubles the
/// requests.
pub const MAX_HALVINGS: usize = 5;

/// Assumed relative error of our count of a prompt, since the model's tokenizer differs. Chosen: a larger margin splits
/// prompts that would fit, a smaller one costs a rejected request before they are split.
const MARGIN: f64 = 0.1;

/// Our own prompt, if the policy names none.
const DEFAULT_PROMPT: &str = "summarize";

/// Returns the prompt of a real system. `None` if it has no instructions: such a conversation is compacted by its
/// provider, and another model needs our own prompt.
pub fn verbatim_prompt(request: &Request) -> Option<&SummaryRequest> {
    let verbatim = request.verbatim.as_deref()?;
    let messages = &verbatim.messages;
    let is_instructed = messages.iter().any(|message| message.is("system"))
        || messages.last().is_some_and(|last| last.is("user"));
    is_instructed.then_some(verbatim)
}

/// Returns the tool definitions that a session records.
pub fn tool_definitions(session: &Session) -> Vec<Value> {
    let definitions = session.parts.iter().filter_map(|part| match &part.body {
        Body::ToolDefinition { json, .. } => crate::json::from_str(json).ok(),
        _ => None,
    });
    definitions.collect()
}

/// Our own prompt for a summary request.
#[derive(Clone, Debug)]
pub struct OwnPrompt {
    instructions: String,
    transcript: String,
    /// Actual tokens of the transcript.
    pub transcript_tokens: u64,
    /// Maximum tokens of the answer.
    pub max_tokens: u64,
}

impl OwnPrompt {
    /// Creates the prompt with the user's own instructions or those of the policy; `None` if there are none.
    pub fn new(case: &Case, request: &Request, own: Option<&str>) -> Option<Self> {
        let name = match &*request.prompt {
            "" => DEFAULT_PROMPT,
            name => name,
        };
        let instructions = own.or(prompt(name))?.to_owned();
        let transcript = transcript(case, request);
        // The summary's message contains the prefix, too.
        let prefix = case.ledger.weigh(&request.prefix).0;
        Some(Self {
            instructions,
            max_tokens: with_margin(request.max_tokens.0.saturating_sub(prefix)),
            transcript_tokens: case.ledger.weigh(&transcript).0,
            transcript,
        })
    }

    /// Returns the maximum tokens of a part: the window minus the instructions, the answer and the summary so far.
    pub fn max_part_tokens(&self, case: &Case, window: Option<u64>) -> u64 {
        let fixed = case.ledger.weigh(&self.instructions).0 + 2 * self.max_tokens;
        window.map_or(u64::MAX, |window| with_margin(window.saturating_sub(fixed)))
    }

    /// Returns the next smaller maximum of a part, after a server rejected parts of `max_tokens`.
    pub fn halved(&self, max_tokens: u64) -> u64 {
        (max_tokens.min(self.transcript_tokens) / 2).max(1)
    }

    /// Splits the transcript into parts of at most `max_tokens`; one part if all of it fits.
    pub fn parts(&self, case: &Case, request: &Request, max_tokens: u64) -> Vec<String> {
        if self.transcript_tokens <= max_tokens {
            vec![self.transcript.clone()]
        } else {
            transcript_parts(case, request, max_tokens)
        }
    }

    /// Returns the messages for a part, with the summary of the parts before it.
    pub fn messages(&self, so_far: Option<&str>, part: &str) -> Vec<ChatMessage> {
        vec![
            ChatMessage::new("system", self.instructions.as_str()),
            ChatMessage::new("user", user_text(so_far, part)),
        ]
    }

    /// Returns the tokens of the instructions and the user message.
    pub fn sent_tokens(&self, case: &Case, so_far: Option<&str>, part: &str) -> Tokens {
        case.ledger.weigh(&user_text(so_far, part)) + case.ledger.weigh(&self.instructions)
    }
}

/// Returns the text of the user message.
fn user_text(so_far: Option<&str>, part: &str) -> String {
    let mut text = String::new();
    if let Some(so_far) = so_far {
        let _ = write!(text, "<summary so far>\n{so_far}\n</summary so far>\n\n");
    }
    let _ = write!(text, "<conversation>\n{part}</conversation>");
    text
}

/// Reduces a number of tokens by the error of our count, to at least 1.
fn with_margin(tokens: u64) -> u64 {
    (tokens as f64 * (1.0 - MARGIN)).floor().max(1.0) as u64
}
