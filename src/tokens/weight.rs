//! What one part weighs before any fit.
//!
//! Each part is counted alone, as providers wrap each in tokens of its own; so weights do not change when an export
//! joins or splits messages.

use super::Counter;
use super::media::{self, Provider};
use crate::session::{Body, Part};

/// What wraps each part: three tokens and a role in `OpenAI`'s chat markup.
/// <https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb>
const FRAMING: u32 = 4;

/// What wraps a call and its result further with Anthropic's models (ids, the call's markup), charged to the call so
/// that a cleared result weighs what its marker weighs. Fitted to sessions that report usage.
const ANTHROPIC_CALL: u32 = 60;

/// Bytes of a signature that seal nothing: signatures of known thoughts are a third longer than the thought, as
/// base64 is, and this much.
const SEAL_BYTES: u32 = 170;

/// A longer run of base64 in something unknown to us is sealed content, not text.
const LONGEST_WORD: usize = 4096;

/// What a part weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// Counted tokens, to be scaled by a fit.
    pub(super) counted: u32,
    /// Tokens known by the provider's own rule or report; no fit changes them.
    pub(super) known: u32,
}

/// How parts are weighed: a counter, and the provider whose rules hold for the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) counter: &'static Counter,
    pub(super) provider: Provider,
}

impl Scale {
    /// Weighs a part.
    pub(super) fn weigh(&self, part: &Part) -> Weight {
        let counted = |counted: u32| Weight {
            counted: counted.saturating_add(FRAMING),
            known: 0,
        };
        match &part.body {
            Body::Text(text) | Body::ToolResult { text, .. } => Weight {
                counted: self.text(text),
                known: 0,
            },
            Body::Thinking {
                reported: Some(tokens),
                ..
            } => Weight {
                counted: 0,
                known: *tokens,
            },
            Body::Thinking {
                text,
                sealed_bytes,
                reported: None,
            } => counted(self.thought(text, *sealed_bytes)),
            Body::ToolDefinition { json, .. } => counted(self.count(json)),
            Body::ToolCall {
                tool, arguments, ..
            } => counted(
                self.count(tool)
                    .saturating_add(self.count(arguments))
                    .saturating_add(self.call_framing()),
            ),
            Body::Media {
                media,
                mime,
                bytes,
                pixels,
                ..
            } => Weight {
                counted: 0,
                known: media::tokens(self.provider, *media, mime, *bytes, *pixels),
            },
            Body::Opaque { json, .. } => counted(self.opaque(json)),
        }
    }

    /// Counts a text as the part that holds nothing else.
    pub(super) fn text(&self, text: &str) -> u32 {
        self.count(text).saturating_add(FRAMING)
    }

    /// Bytes of a part that have to be counted.
    pub(super) fn work(part: &Part) -> u64 {
        part.body.text().len() as u64
    }

    /// What of a part alone decides its weight, where that is text: parts in which it is the same weigh the same.
    pub(super) fn words(part: &Part) -> Option<(Option<&str>, &str)> {
        match &part.body {
            Body::Text(text) | Body::ToolResult { text, .. } => Some((None, text)),
            Body::ToolCall {
                tool, arguments, ..
            } => Some((Some(tool), arguments)),
            _ => None,
        }
    }

    fn count(&self, text: &str) -> u32 {
        (self.counter.count)(text)
    }

    fn call_framing(&self) -> u32 {
        match self.provider {
            Provider::Anthropic { .. } => ANTHROPIC_CALL,
            Provider::OpenAi | Provider::Other => 0,
        }
    }

    /// A thought weighs its text; or what is sealed, where that is clearly more (the text is a summary, or missing).
    fn thought(&self, text: &str, sealed_bytes: u32) -> u32 {
        let counted = self.count(text);
        let sealed = sealed_tokens(u64::from(sealed_bytes));
        if sealed > counted.saturating_add(counted / 2) {
            sealed
        } else {
            counted
        }
    }

    /// JSON of something unknown; long base64 in it (an encrypted summary) is weighed by its length.
    fn opaque(&self, json: &str) -> u32 {
        let (mut tokens, mut rest) = (0_u32, 0);
        let mut start = 0;
        for (end, c) in json.char_indices().chain([(json.len(), '"')]) {
            if is_base64(c) {
                continue;
            }
            if end - start > LONGEST_WORD {
                tokens = tokens.saturating_add(self.count(&json[rest..start]));
                tokens = tokens.saturating_add(sealed_tokens((end - start) as u64));
                rest = end;
            }
            start = end + c.len_utf8();
        }
        tokens.saturating_add(self.count(&json[rest..]))
    }
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=')
}

/// Tokens behind encrypted content of this many base64 characters: what is left of it, at four bytes a token.
///
/// Whether these count was judged by sessions that report usage: with signatures of empty thoughts left out, the fit
/// misses by 4.5 %; weighed so, by 0.7 %, with the same factor as text.
fn sealed_tokens(base64_bytes: u64) -> u32 {
    let bytes = (base64_bytes * 3 / 4).saturating_sub(u64::from(SEAL_BYTES));
    u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{SessionBuilder, Source};
    use crate::tokens::heuristics;

    const SCALE: Scale = Scale {
        counter: &heuristics::CHARS_4,
        provider: Provider::OpenAi,
    };

    #[test]
    fn only_anthropics_models_wrap_a_call_further() {
        let weight_by = |model: Option<&str>| {
            let source = Source {
                name: String::new(),
                format: "anthropic_messages",
                bytes: Vec::new().into(),
            };
            let mut session = SessionBuilder::new(source).finish();
            session.models.extend(model.map(Into::into));
            let scale = Scale {
                counter: &heuristics::CHARS_4,
                provider: Provider::of(&session),
            };
            scale.weigh(&call()).counted
        };
        let least = weight_by(Some("gpt-5"));
        for (model, framing) in [
            (None, ANTHROPIC_CALL),
            (Some("anthropic/claude-sonnet-4.6"), ANTHROPIC_CALL),
            (Some("deepseek/deepseek-v3.2"), 0),
            (Some("gemini-2.5-pro"), 0),
        ] {
            assert_eq!(weight_by(model) - least, framing, "{model:?}");
        }
    }

    fn call() -> Part {
        Part {
            body: Body::ToolCall {
                call: "c".into(),
                tool: "read".into(),
                arguments: "{}".into(),
            },
            record: 0,
            block: 0,
        }
    }

    #[test]
    fn sealed_content_in_something_unknown_is_weighed_by_length() {
        let json = format!(
            r#"{{"type":"compaction","encrypted_content":"{}"}}"#,
            "Q".repeat(8000)
        );
        let around =
            SCALE.count(r#"{"type":"compaction","encrypted_content":""#) + SCALE.count("\"}");
        assert_eq!(SCALE.opaque(&json), around + sealed_tokens(8000));
        assert_eq!(SCALE.opaque(r#"{"a":1}"#), SCALE.count(r#"{"a":1}"#));
    }

    #[test]
    fn a_thought_whose_text_is_there_is_not_weighed_twice() {
        let text = "hm. ".repeat(100);
        // A signature as long as such a thought's is: a third more, and the seal.
        assert_eq!(
            SCALE.thought(&text, 400 * 4 / 3 + SEAL_BYTES * 4 / 3),
            SCALE.count(&text)
        );
        assert!(SCALE.thought("", 4000) > 700);
        assert_eq!(SCALE.thought("", 100), 0);
    }
}
