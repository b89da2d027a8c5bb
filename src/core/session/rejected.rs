//! Calls that the provider rejected because their context was too long, as files record them.

use super::{Body, Session};

/// Phrases of provider errors that reject a prompt because it is too long: OpenAI, Anthropic, vLLM, llama.cpp, Ollama, LM Studio, xAI, Mistral,
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

/// Maximum bytes of an answer that counts as an error message.
const MAX_ERROR_BYTES: usize = 2_000;

/// Returns whether an error message, in lower case, rejects a prompt because it is too long.
pub fn says_too_long(message: &str) -> bool {
    TOO_LONG.iter().any(|words| message.contains(words))
}

/// Marks the calls whose answer in the file is only such an error message. A call with reported usage was answered.
pub(super) fn mark_rejected(session: &mut Session) {
    let n_calls = session.calls.len();
    let mut answers: Vec<Option<bool>> = vec![None; n_calls];
    for message in &session.messages {
        let Some(call) = message.call.filter(|call| *call < n_calls) else {
            continue;
        };
        if session.calls[call].usage.is_some() {
            continue;
        }
        let is_error = session
            .parts_of(message)
            .iter()
            .all(|part| match &part.body {
                Body::Text(text) => {
                    text.len() <= MAX_ERROR_BYTES && says_too_long(&text.to_lowercase())
                }
                _ => false,
            });
        let is_error = is_error && !message.parts.is_empty();
        answers[call] = Some(answers[call].unwrap_or(true) && is_error);
    }
    for (call, answer) in session.calls.iter_mut().zip(answers) {
        call.is_rejected |= answer == Some(true);
    }
}

#[cfg(test)]
mod tests {
    use crate::session::{
        Body, CallDraft, Draft, Part, Role, Session, SessionBuilder, Source, Usage,
    };
    use crate::units::Tokens;

    fn answered(text: &str, usage: Option<Usage>) -> Session {
        let mut builder = SessionBuilder::new(Source {
            name: "test".to_owned(),
            format: "openai_chat",
            bytes: Vec::new().into(),
        });
        let text_part = |text: &str| {
            vec![Part {
                body: Body::Text(text.into()),
                record: 0,
                block: 0,
            }]
        };
        builder.message(Draft::new(Role::User, text_part("Read it.")));
        builder.call(CallDraft {
            usage,
            ..CallDraft::default()
        });
        builder.message(Draft::new(Role::Assistant, text_part(text)));
        builder.finish()
    }

    #[test]
    fn only_an_error_message_without_usage_is_a_rejected_call() {
        let error = "(400 context_length_exceeded)";
        assert!(answered(error, None).calls[0].is_rejected);
        let usage = Usage {
            input: Tokens(700),
            ..Usage::default()
        };
        assert!(!answered(error, Some(usage)).calls[0].is_rejected);
        assert!(!answered("It has 700 lines.", None).calls[0].is_rejected);
        let long = format!("{error} {}", "is what the log says. ".repeat(200));
        assert!(!answered(&long, None).calls[0].is_rejected);
    }
}
