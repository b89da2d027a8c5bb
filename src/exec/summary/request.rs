//! Sends a summary request to a model: verbatim as a real system sends it, or with our own prompt and the conversation
//! as text.
//!
//! The model has a context window, too. A real system's prompt that overflows it fails, and the rules of that system
//! decide what follows. Our own prompt is sent in parts, each with the summary so far.

use super::model::Model;
use super::reply::{ModelReply, SummaryFailure};
use super::responder::Responder;
use crate::chat::{ChatMessage, SummaryRequest};
use crate::engine::{Case, Request, RequestSize, transcript, transcript_parts};
use crate::exec::files::read_text;
use crate::figure::grouped;
use crate::json::Value;
use crate::presets::{self, models};
use crate::providers::Prompt;
use crate::session::{Body, Session, is_blank};
use crate::units::Tokens;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of times that parts are halved when a server rejects them. A 32nd of the assumed window is smaller
/// than any error of our count; a server that rejects that too rejects for another reason, and each halving doubles the
/// requests.
const MAX_HALVINGS: usize = 5;

/// Assumed relative error of our count of a prompt, since the model's tokenizer differs. Chosen: a larger margin splits
/// prompts that would fit, a smaller one costs a rejected request before they are split.
const MARGIN: f64 = 0.1;

/// Our own prompt, if the policy names none.
const DEFAULT_PROMPT: &str = "summarize";

/// Maximum size of a prompt file, in bytes.
const MAX_PROMPT_BYTES: u64 = 1 << 20;

/// Reads the user's own prompt from a file.
///
/// # Errors
/// Returns one line if it cannot be read or is empty.
pub fn read_prompt(path: &Path) -> Result<String, String> {
    match read_text(path, MAX_PROMPT_BYTES) {
        Ok(text) if is_blank(&text) => Err(format!("the prompt {} is empty", path.display())),
        Ok(text) => Ok(text),
        Err(error) => Err(format!("the prompt: {error}")),
    }
}

/// The answer to a summary request.
pub(super) struct RequestAnswer {
    pub(super) reply: Result<ModelReply, SummaryFailure>,
    /// A note for the user.
    pub(super) note: Option<String>,
}

/// Answers a summary request.
pub(super) fn answer(
    case: &Case,
    request: &Request,
    responder: &mut Responder<'_>,
) -> RequestAnswer {
    let plain = |reply| RequestAnswer { reply, note: None };
    if let Some(verbatim) = verbatim_prompt(request) {
        return plain(answer_verbatim(case, request, verbatim, responder));
    }
    let prompt = OwnPrompt::new(case, request, responder.prompt(), responder.temperature());
    match prompt {
        Some(prompt) => prompt.answer(responder),
        None => plain(Err(SummaryFailure::fatal(format!(
            "there is no prompt {:?}; give one with --prompt",
            request.prompt
        )))),
    }
}

/// Returns the prompt of a real system. `None` if it has no instructions: such a conversation is compacted by its
/// provider, and another model needs our own prompt.
fn verbatim_prompt(request: &Request) -> Option<&SummaryRequest> {
    let verbatim = request.verbatim.as_deref()?;
    let messages = &verbatim.messages;
    let is_instructed = messages.iter().any(|message| message.is("system"))
        || messages.last().is_some_and(|last| last.is("user"));
    is_instructed.then_some(verbatim)
}

/// Sends the prompt of a real system unchanged.
fn answer_verbatim(
    case: &Case,
    request: &Request,
    verbatim: &SummaryRequest,
    responder: &mut Responder<'_>,
) -> Result<ModelReply, SummaryFailure> {
    let max_tokens = verbatim.max_tokens.unwrap_or(request.max_tokens.0);
    let input = verbatim_tokens(case, request, verbatim);
    if let Some(window) = responder.window().filter(|window| input > *window) {
        return Err(SummaryFailure::too_long(format!(
            "context_length_exceeded: this model's maximum context length is {window} tokens; the messages resulted in about {input} tokens"
        )));
    }
    let prompt = Prompt {
        messages: verbatim.messages.clone(),
        max_tokens: responder
            .window()
            .map_or(max_tokens, |window| max_tokens.min(window.saturating_sub(input).max(1))),
        temperature: responder.temperature(),
        tools: if verbatim.with_tools { tool_definitions(&case.session) } else { Vec::new() },
        repeats_prefix: false,
    };
    responder.reply(case, &prompt, input)
}

/// Returns the tokens of a real system's prompt.
fn verbatim_tokens(case: &Case, request: &Request, verbatim: &SummaryRequest) -> u64 {
    let texts = verbatim.messages.iter().filter_map(ChatMessage::text);
    let counted = texts.map(|text| case.ledger.weigh(text).0).sum();
    request.input.0.max(counted)
}

/// Returns the tool definitions that a session records.
pub(crate) fn tool_definitions(session: &Session) -> Vec<Value> {
    let definitions = session.parts.iter().filter_map(|part| match &part.body {
        Body::ToolDefinition { json, .. } => crate::json::from_str(json).ok(),
        _ => None,
    });
    definitions.collect()
}

/// Estimates the calls of a model for a summary request.
pub(crate) fn planned_calls(case: &Case, request: &Request, model: &Model) -> Vec<RequestSize> {
    if let Some(verbatim) = verbatim_prompt(request) {
        return vec![RequestSize {
            sent: Tokens(verbatim_tokens(case, request, verbatim)),
            answer: verbatim.max_tokens.map_or(request.max_tokens, Tokens),
        }];
    }
    let Some(prompt) = OwnPrompt::new(case, request, model.prompt.as_deref(), None) else {
        return Vec::new();
    };
    let listed = || models::lookup(&model.client.endpoint.model);
    let window = model.window.or_else(|| Some(listed()?.window.0));
    let parts = prompt.parts(prompt.max_part_tokens(window));
    let answer = Tokens(prompt.max_tokens);
    let calls = parts.iter().enumerate().map(|(nth, part)| RequestSize {
        // All but the first contain the summary so far.
        sent: prompt.sent_tokens(&OwnPrompt::user_text(None, part))
            + Tokens(answer.0 * u64::from(nth > 0)),
        answer,
    });
    calls.collect()
}

/// Our own prompt for a summary request.
struct OwnPrompt<'a> {
    case: &'a Case,
    request: &'a Request,
    instructions: String,
    max_tokens: u64,
    temperature: Option<f64>,
    transcript: String,
    transcript_tokens: u64,
}

impl<'a> OwnPrompt<'a> {
    /// Creates the prompt with the user's own instructions or those of the policy; `None` if there are none.
    fn new(
        case: &'a Case,
        request: &'a Request,
        own: Option<&str>,
        temperature: Option<f64>,
    ) -> Option<Self> {
        let name = match &*request.prompt {
            "" => DEFAULT_PROMPT,
            name => name,
        };
        let instructions = own.or(presets::prompt(name))?.to_owned();
        let transcript = transcript(case, request);
        // The summary's message contains the prefix, too.
        let prefix = case.ledger.weigh(&request.prefix).0;
        Some(Self {
            case,
            request,
            instructions,
            max_tokens: with_margin(request.max_tokens.0.saturating_sub(prefix)),
            temperature,
            transcript_tokens: case.ledger.weigh(&transcript).0,
            transcript,
        })
    }

    /// Returns the maximum tokens of a part: the window minus the instructions, the answer and the summary so far.
    fn max_part_tokens(&self, window: Option<u64>) -> u64 {
        let fixed = self.case.ledger.weigh(&self.instructions).0 + 2 * self.max_tokens;
        window.map_or(u64::MAX, |window| with_margin(window.saturating_sub(fixed)))
    }

    /// Splits the transcript into parts of at most `max_tokens`; one part if all of it fits.
    fn parts(&self, max_tokens: u64) -> Vec<String> {
        if self.transcript_tokens <= max_tokens {
            vec![self.transcript.clone()]
        } else {
            transcript_parts(self.case, self.request, max_tokens)
        }
    }

    /// Sends the whole transcript or its parts. If the server rejects them as too long, smaller parts follow.
    fn answer(&self, responder: &mut Responder<'_>) -> RequestAnswer {
        let mut max_tokens = self.max_part_tokens(responder.window());
        for _ in 0..=MAX_HALVINGS {
            let parts = self.parts(max_tokens);
            let is_split = self.transcript_tokens > max_tokens;
            let reply = if is_split {
                self.send_parts(responder, &parts)
            } else {
                self.send(responder, None, &parts[0])
            };
            match reply {
                Err(failure) if failure.is_too_long => {
                    max_tokens = (max_tokens.min(self.transcript_tokens) / 2).max(1);
                }
                reply => {
                    let note = is_split.then(|| {
                        format!(
                            "the messages to summarize ({} tokens) overflow the model's window; they were sent in {} parts, each with the summary so far",
                            grouped(self.transcript_tokens),
                            parts.len()
                        )
                    });
                    return RequestAnswer { reply, note };
                }
            }
        }
        RequestAnswer {
            reply: Err(SummaryFailure::too_long(
                "even a small part of the messages to summarize overflows the model's window",
            )),
            note: None,
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

    /// Returns the tokens of the instructions and the user message.
    fn sent_tokens(&self, text: &str) -> Tokens {
        self.case.ledger.weigh(text) + self.case.ledger.weigh(&self.instructions)
    }

    fn send(
        &self,
        responder: &mut Responder<'_>,
        so_far: Option<&str>,
        part: &str,
    ) -> Result<ModelReply, SummaryFailure> {
        let text = Self::user_text(so_far, part);
        let tokens = self.sent_tokens(&text);
        let prompt = Prompt {
            messages: vec![
                ChatMessage::new("system", self.instructions.as_str()),
                ChatMessage::new("user", text),
            ],
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            tools: Vec::new(),
            repeats_prefix: false,
        };
        responder.reply(self.case, &prompt, tokens.0)
    }

    fn send_parts(
        &self,
        responder: &mut Responder<'_>,
        parts: &[String],
    ) -> Result<ModelReply, SummaryFailure> {
        let mut so_far: Option<Arc<str>> = None;
        for part in parts {
            match self.send(responder, so_far.as_deref(), part)? {
                ModelReply::Text(text) if !is_blank(&text) => so_far = Some(text),
                ModelReply::Text(_) => {
                    return Err(SummaryFailure::unusable("the model gave an empty summary"));
                }
                ModelReply::ToolCall => return Ok(ModelReply::ToolCall),
            }
        }
        so_far
            .map(ModelReply::Text)
            .ok_or_else(|| SummaryFailure::unusable("there is nothing to summarize"))
    }
}

/// Reduces a number of tokens by the error of our count, to at least 1.
fn with_margin(tokens: u64) -> u64 {
    (tokens as f64 * (1.0 - MARGIN)).floor().max(1.0) as u64
}
