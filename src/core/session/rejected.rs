//! Calls that the provider rejected because their context was too long, as files record them.

use super::{Body, Call, Session};
use crate::units::Tokens;

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

/// Rejections that state the size of the prompt (`S`) and mostly the limit (`L`), in lower case. `N` is another number.
/// Anthropic, OpenAI, vLLM, xAI, Gemini, llama.cpp, Mistral, GitHub Copilot, Together.
const STATED: [&str; 16] = [
    "prompt is too long: S tokens > L",
    "exceed context limit: S + N > L",
    "maximum context length is L tokens. however, your messages resulted in S tokens",
    "maximum context length is L tokens. however, you requested N tokens (S in the messages",
    "maximum context length is L tokens. however, you requested about N tokens (S of text input",
    "maximum context length is L tokens. however, your request has S input tokens",
    "maximum context length of L tokens. you requested a total of N tokens: S tokens from the input",
    "maximum prompt length is L but the request contains S tokens",
    "input token count (S) exceeds the maximum number of tokens allowed (L",
    "input token count of S exceeds the maximum number of tokens allowed of L",
    "request (S tokens) exceeds the available context size (L tokens",
    "prompt (length S) is longer than the maximum model length of L",
    "prompt contains S tokens and N draft tokens, too large for model with L",
    "prompt contains S tokens, too large for model with L",
    "prompt token count of S exceeds the limit of L",
    "must be <= L. given: S `inputs` tokens",
];

/// Sizes that a rejection states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StatedSizes {
    /// Size of the rejected context.
    pub(super) size: Option<Tokens>,
    /// The limit that it exceeds.
    pub(super) limit: Option<Tokens>,
}

/// Returns the sizes that an error message, in lower case, states.
pub(super) fn stated_sizes(message: &str) -> StatedSizes {
    let of = |pattern: &&str| sizes_by(pattern, message);
    STATED.iter().find_map(of).unwrap_or_default()
}

/// Returns the size of the context that an error message, in lower case, states.
pub fn stated_size(message: &str) -> Option<Tokens> {
    stated_sizes(message).size
}

/// Returns the sizes by one pattern of [`STATED`] at its first place in a message. The text of the pattern before its
/// first number finds the place. From there on, texts and numbers must alternate exactly as in the pattern.
fn sizes_by(pattern: &str, message: &str) -> Option<StatedSizes> {
    let is_number = |c: char| matches!(c, 'S' | 'L' | 'N');
    let first = &pattern[..pattern.find(is_number)?];
    let mut rest = &message[message.find(first)? + first.len()..];
    let mut sizes = StatedSizes::default();
    for piece in pattern[first.len()..].split_inclusive(is_number) {
        // The text since the number before, then the number.
        let name = piece.chars().last().filter(|c| is_number(*c));
        let text = name.map_or(piece, |name| &piece[..piece.len() - name.len_utf8()]);
        rest = rest.strip_prefix(text)?;
        let Some(name) = name else { break };
        let n_bytes = rest.find(|c: char| !c.is_ascii_digit() && c != ',');
        let (number, after) = rest.split_at(n_bytes.unwrap_or(rest.len()));
        let number = number.replace(',', "").parse().ok().map(Tokens)?;
        match name {
            'S' => sizes.size = Some(number),
            'L' => sizes.limit = Some(number),
            _ => {}
        }
        rest = after;
    }
    Some(sizes)
}

/// Maximum bytes of an answer that counts as an error message.
// Chosen: errors with the provider's JSON are shorter. At double, an answer that quotes such an error from a log could
// count as one.
const MAX_ERROR_BYTES: usize = 2_000;

/// Returns whether an error message, in lower case, rejects a prompt because it is too long.
pub fn says_too_long(message: &str) -> bool {
    TOO_LONG.iter().any(|words| message.contains(words))
}

/// Marks the calls whose answer in the file is only such an error message. A call with reported usage was answered.
pub(super) fn mark_rejected(session: &mut Session) {
    let n_calls = session.calls.len();
    let mut answers: Vec<Option<bool>> = vec![None; n_calls];
    let mut stated = vec![StatedSizes::default(); n_calls];
    for message in &session.messages {
        let Some(call) = message.call.filter(|call| *call < n_calls) else {
            continue;
        };
        if session.calls[call].usage.is_some() {
            continue;
        }
        let is_error = session.parts_of(message).iter().all(|part| match &part.body {
            Body::Text(text) if text.len() <= MAX_ERROR_BYTES => {
                let text = text.to_lowercase();
                stated[call] = stated_sizes(&text);
                says_too_long(&text)
            }
            _ => false,
        });
        let is_error = is_error && !message.parts.is_empty();
        answers[call] = Some(answers[call].unwrap_or(true) && is_error);
    }
    for ((call, answer), stated) in session.calls.iter_mut().zip(answers).zip(stated) {
        if answer == Some(true) {
            call.reject(stated);
        }
    }
    spread_limits(session);
}

/// Sets the limit that a rejection states as the window of the calls of its model, unless they sent more.
fn spread_limits(session: &mut Session) {
    let stated = |call: &Call| Some((call.model?, call.window.filter(|_| call.is_rejected)?));
    let limits: Vec<_> = session.calls.iter().filter_map(stated).collect();
    for (model, limit) in limits {
        let fits = |call: &&mut Call| {
            let size = call.usage.map_or(Tokens::ZERO, |usage| usage.input);
            call.model == Some(model) && call.window.is_none() && size <= limit
        };
        for call in session.calls.iter_mut().filter(fits) {
            call.window = Some(limit);
        }
    }
}

impl Call {
    /// Notes that the provider rejected the call with these sizes.
    pub(super) fn reject(&mut self, stated: StatedSizes) {
        self.is_rejected = true;
        self.rejected_size = stated.size;
        self.window = self.window.or(stated.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::{StatedSizes, stated_sizes};
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
        let text_part =
            |text: &str| vec![Part { body: Body::Text(text.into()), record: 0, block: 0 }];
        builder.message(Draft::new(Role::User, text_part("Read it.")));
        builder.call(CallDraft { usage, ..CallDraft::default() });
        builder.message(Draft::new(Role::Assistant, text_part(text)));
        builder.finish()
    }

    #[test]
    fn only_an_error_message_without_usage_is_a_rejected_call() {
        let error = "(400 context_length_exceeded)";
        assert!(answered(error, None).calls[0].is_rejected);
        let usage = Usage { input: Tokens(700), ..Usage::default() };
        assert!(!answered(error, Some(usage)).calls[0].is_rejected);
        assert!(!answered("It has 700 lines.", None).calls[0].is_rejected);
        let long = format!("{error} {}", "is what the log says. ".repeat(200));
        assert!(!answered(&long, None).calls[0].is_rejected);
    }

    #[test]
    fn sizes_are_read_from_the_words_of_each_provider() {
        let both =
            |size, limit| StatedSizes { size: Some(Tokens(size)), limit: Some(Tokens(limit)) };
        for (message, size, limit) in [
            ("400 prompt is too long: 214315 tokens > 200000 maximum", 214_315, 200_000),
            (
                "input length and `max_tokens` exceed context limit: 198309 + 8192 > 204698, decrease input length",
                198_309,
                204_698,
            ),
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
                131_072,
                128_000,
            ),
            (
                "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).",
                4_500,
                4_096,
            ),
            (
                "The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).",
                1_048_580,
                1_048_576,
            ),
            (
                "request (9,001 tokens) exceeds the available context size (8,192 tokens), try increasing it",
                9_001,
                8_192,
            ),
            (
                "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
                140_000,
                131_072,
            ),
        ] {
            assert_eq!(stated_sizes(&message.to_lowercase()), both(size, limit), "{message}");
        }
        // The number is the code of the error.
        let code = "invalid params, context window exceeds limit (2013)";
        assert_eq!(stated_sizes(code), StatedSizes::default());
        assert_eq!(stated_sizes("prompt is too long: many tokens"), StatedSizes::default());
    }
}
