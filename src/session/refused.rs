//! Calls that the provider refused because their context was too long, as files record them.

use super::{Body, Session};

/// How servers say that a prompt does not fit: OpenAI, Anthropic, vLLM, llama.cpp, Ollama, LM Studio, xAI, Mistral,
/// Gemini, Groq, Bedrock, Together.
const TOO_LONG: [&str; 22] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "maximum context length",
    "max context length",
    "maximum prompt length",
    "maximum model length",
    "exceeds the context window",
    "exceeds the context length",
    "exceeds the model's context",
    "exceed context limit",
    "exceeds the available context size",
    "context size has been exceeded",
    "context window exceeds",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "exceeds the maximum number of tokens allowed",
    "reduce the length of the messages",
    "than the context length",
    "with context length of only",
    "`inputs` tokens + `max_new_tokens`",
];

/// Characters of the longest answer that is taken for an error message.
const LONGEST_ERROR: usize = 2_000;

/// Whether an error message, in lower case, says that a prompt does not fit.
pub fn says_too_long(message: &str) -> bool {
    TOO_LONG.iter().any(|words| message.contains(words))
}

/// Marks the calls whose answer in the file is only such an error message. A call with reported usage was answered.
pub(super) fn mark_refused(session: &mut Session) {
    let n_steps = session.steps.len();
    let mut answers: Vec<Option<bool>> = vec![None; n_steps];
    for message in &session.messages {
        let Some(step) = message.step.filter(|step| *step < n_steps) else {
            continue;
        };
        if session.steps[step].usage.is_some() {
            continue;
        }
        let is_error = session
            .parts_of(message)
            .iter()
            .all(|part| match &part.body {
                Body::Text(text) => {
                    text.len() <= LONGEST_ERROR && says_too_long(&text.to_lowercase())
                }
                _ => false,
            });
        let is_error = is_error && !message.parts.is_empty();
        answers[step] = Some(answers[step].unwrap_or(true) && is_error);
    }
    for (step, answer) in session.steps.iter_mut().zip(answers) {
        step.is_refused |= answer == Some(true);
    }
}
