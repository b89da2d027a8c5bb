//! Sends a summary request to a model: verbatim as a real system sends it, or with our own prompt and the conversation
//! as text.
//!
//! The model has a context window, too. A real system's prompt that overflows it fails, and the rules of that system
//! decide what follows. Our own prompt is sent in parts, each with the summary so far.

use super::model::Model;
use super::reply::{ModelReply, SummaryFailure};
use super::responder::Responder;
use crate::chat::{ChatMessage, SummaryRequest};
use crate::engine::{Case, Request, RequestSize};
use crate::exec::files::read_text;
use crate::figure::grouped;
use crate::presets::{MAX_HALVINGS, OwnPrompt, models, tool_definitions, verbatim_prompt};
use crate::providers::Prompt;
use crate::session::is_blank;
use crate::units::Tokens;
use std::path::Path;
use std::sync::Arc;

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
    match OwnPrompt::new(case, request, responder.prompt()) {
        Some(prompt) => {
            let temperature = responder.temperature();
            PromptSender { case, request, prompt, temperature }.answer(responder)
        }
        None => plain(Err(SummaryFailure::fatal(format!(
            "there is no prompt {:?}; give one with --prompt",
            request.prompt
        )))),
    }
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

/// Estimates the calls of a model for a summary request.
pub(crate) fn planned_calls(case: &Case, request: &Request, model: &Model) -> Vec<RequestSize> {
    if let Some(verbatim) = verbatim_prompt(request) {
        return vec![RequestSize {
            sent: Tokens(verbatim_tokens(case, request, verbatim)),
            answer: verbatim.max_tokens.map_or(request.max_tokens, Tokens),
        }];
    }
    let Some(prompt) = OwnPrompt::new(case, request, model.prompt.as_deref()) else {
        return Vec::new();
    };
    let listed = || models::lookup(&model.client.endpoint.model);
    let window = model.window.or_else(|| Some(listed()?.window.0));
    let parts = prompt.parts(case, request, prompt.max_part_tokens(case, window));
    let answer = Tokens(prompt.max_tokens);
    let calls = parts.iter().enumerate().map(|(nth, part)| RequestSize {
        // All but the first contain the summary so far.
        sent: prompt.sent_tokens(case, None, part) + Tokens(answer.0 * u64::from(nth > 0)),
        answer,
    });
    calls.collect()
}

/// Sends our own prompt.
struct PromptSender<'a> {
    case: &'a Case,
    request: &'a Request,
    prompt: OwnPrompt,
    temperature: Option<f64>,
}

impl PromptSender<'_> {
    /// Sends the whole transcript or its parts. If the server rejects them as too long, smaller parts follow.
    fn answer(&self, responder: &mut Responder<'_>) -> RequestAnswer {
        let transcript_tokens = self.prompt.transcript_tokens;
        let mut max_tokens = self.prompt.max_part_tokens(self.case, responder.window());
        for _ in 0..=MAX_HALVINGS {
            let parts = self.prompt.parts(self.case, self.request, max_tokens);
            let is_split = transcript_tokens > max_tokens;
            let reply = if is_split {
                self.send_parts(responder, &parts)
            } else {
                self.send(responder, None, &parts[0])
            };
            match reply {
                Err(failure) if failure.is_too_long => {
                    max_tokens = self.prompt.halved(max_tokens);
                }
                reply => {
                    let note = is_split.then(|| {
                        format!(
                            "the messages to summarize ({} tokens) overflow the model's window; they were sent in {} parts, each with the summary so far",
                            grouped(transcript_tokens),
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

    fn send(
        &self,
        responder: &mut Responder<'_>,
        so_far: Option<&str>,
        part: &str,
    ) -> Result<ModelReply, SummaryFailure> {
        let tokens = self.prompt.sent_tokens(self.case, so_far, part);
        let prompt = Prompt {
            messages: self.prompt.messages(so_far, part),
            max_tokens: self.prompt.max_tokens,
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
