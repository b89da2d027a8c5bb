//! Uncalibrated tokens of one part.
//!
//! Each part is counted separately, because providers frame each part with tokens of its own. Counts therefore do not
//! change when an export joins or splits messages.

use super::media::Provider;
use super::{Counter, count_recent};
use crate::session::{Body, Part};

/// Framing of each part: three tokens and a role in `OpenAI`'s chat markup.
/// <https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb>
const FRAMING: u32 = 4;

/// Additional framing of a tool call and its result with Anthropic's models (ids, markup of the call). It is charged to
/// the call, so that a cleared result counts as its marker. Fitted to sessions that report usage.
// The fitted factor mostly absorbs a wrong value, which then moves tokens between calls and texts of the same session.
const ANTHROPIC_CALL: u32 = 60;

/// Bytes of a signature without content. A signature is a third longer than its thought (as base64 is), plus this many
/// bytes.
// At 0, each empty thought would count some 40 tokens too many. `encrypted_tokens` states the error of the fit.
const SIGNATURE_BYTES: u32 = 170;

/// Maximum length of a run of base64 characters that counts as text in a block of an unknown type. A longer run is
/// encrypted content.
// Chosen: longer than hashes, keys and paths, which are text, and shorter than an encrypted summary. At half, long
// generated names could count as encrypted; at double, short encrypted content counts as text, several times as much.
const MAX_TEXT_RUN: usize = 4096;

/// Tokens of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// Counted tokens, which a fit scales.
    pub(super) counted: u32,
    /// Tokens by the provider's own rule or report, which a fit does not change.
    pub(super) known: u32,
}

/// A counter, and the provider whose rules apply to content that is not counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) counter: &'static Counter,
    pub(super) provider: Provider,
}

impl Scale {
    /// Counts a part.
    pub(super) fn weigh(&self, part: &Part) -> Weight {
        let counted = |counted: u32| Weight { counted: counted.saturating_add(FRAMING), known: 0 };
        match &part.body {
            Body::Text(text) | Body::ToolResult { text, .. } => {
                Weight { counted: self.text(text), known: 0 }
            }
            Body::Thinking { reported: Some(tokens), .. } => Weight { counted: 0, known: *tokens },
            Body::Thinking { text, sealed_bytes, reported: None } => {
                counted(self.thought(text, *sealed_bytes))
            }
            Body::ToolDefinition { json, .. } => counted(self.count(json)),
            Body::ToolCall { tool, arguments, .. } => counted(
                self.count(tool)
                    .saturating_add(self.count(arguments))
                    .saturating_add(self.call_framing()),
            ),
            body @ Body::Media { .. } => Weight { counted: 0, known: self.provider.tokens(body) },
            Body::Opaque { json, .. } => counted(self.opaque(json)),
        }
    }

    /// Counts a text as a separate part.
    pub(super) fn text(&self, text: &str) -> u32 {
        self.count(text).saturating_add(FRAMING)
    }

    /// Counts a call of a tool with these arguments, as a separate part.
    pub(super) fn recent_call(&self, tool: &str, arguments: &str) -> u32 {
        count_recent(self.counter.count, tool)
            .saturating_add(count_recent(self.counter.count, arguments))
            .saturating_add(self.call_framing())
            .saturating_add(FRAMING)
    }

    /// Counts a text that was probably counted before, as a separate part.
    pub(super) fn recent_text(&self, text: &str) -> u32 {
        count_recent(self.counter.count, text).saturating_add(FRAMING)
    }

    /// Returns the bytes of a part that must be counted.
    pub(super) fn work(part: &Part) -> u64 {
        part.body.text().len() as u64
    }

    /// Returns the content that alone determines the count of a textual part. Parts with equal content have equal
    /// counts.
    pub(super) fn counted_content(part: &Part) -> Option<(Option<&str>, &str)> {
        match &part.body {
            Body::Text(text) | Body::ToolResult { text, .. } => Some((None, text)),
            Body::ToolCall { tool, arguments, .. } => Some((Some(tool), arguments)),
            _ => None,
        }
    }

    fn count(&self, text: &str) -> u32 {
        (self.counter.count)(text)
    }

    fn call_framing(&self) -> u32 {
        if self.provider.frames_calls { ANTHROPIC_CALL } else { 0 }
    }

    /// Counts a thought: its text, or its encrypted content if that is clearly larger (the text is a summary or
    /// missing).
    fn thought(&self, text: &str, sealed_bytes: u32) -> u32 {
        let counted = self.count(text);
        let encrypted = encrypted_tokens(u64::from(sealed_bytes));
        if encrypted > counted.saturating_add(counted / 2) { encrypted } else { counted }
    }

    /// Counts JSON of an unknown type. Long base64 in it (an encrypted summary) is counted by its length.
    fn opaque(&self, json: &str) -> u32 {
        let (mut tokens, mut rest) = (0_u32, 0);
        let mut start = 0;
        for (end, c) in json.char_indices().chain([(json.len(), '"')]) {
            if is_base64(c) {
                continue;
            }
            if end - start > MAX_TEXT_RUN {
                tokens = tokens.saturating_add(self.count(&json[rest..start]));
                tokens = tokens.saturating_add(encrypted_tokens((end - start) as u64));
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

/// Returns the tokens of encrypted content with this many base64 characters, at four bytes per token.
///
/// Encrypted content is counted because of sessions that report usage. Without signatures of empty thoughts, the fit is
/// off by 4.5 %. With them, it is off by 0.7 %, with the same factor as text.
fn encrypted_tokens(base64_bytes: u64) -> u32 {
    let bytes = (base64_bytes * 3 / 4).saturating_sub(u64::from(SIGNATURE_BYTES));
    u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{ModelVendor, SessionBuilder, Source};
    use crate::tokens::counters;

    const SCALE: Scale = Scale { counter: &counters::CHARS_4, provider: Provider::UNKNOWN };

    #[test]
    fn only_anthropic_models_add_framing_to_calls() {
        let weight_by = |model: Option<&str>, vendor: Option<ModelVendor>| {
            let source = Source {
                name: String::new(),
                format: "anthropic_messages",
                bytes: Vec::new().into(),
            };
            let mut session = SessionBuilder::new(source).finish();
            session.models.extend(model.map(Into::into));
            session.default_vendor = vendor;
            let scale = Scale { counter: &counters::CHARS_4, provider: Provider::of(&session) };
            scale.weigh(&call()).counted
        };
        let least = weight_by(Some("gpt-5"), None);
        let open_ai = Some(ModelVendor::OpenAi);
        for (model, vendor, framing) in [
            (None, None, ANTHROPIC_CALL),
            (None, open_ai, 0),
            (Some("anthropic/claude-sonnet-4.6"), open_ai, ANTHROPIC_CALL),
            (Some("deepseek/deepseek-v3.2"), None, 0),
            (Some("gemini-2.5-pro"), None, 0),
        ] {
            let weight = weight_by(model, vendor);
            assert_eq!(weight - least, framing, "{model:?} {vendor:?}");
        }
    }

    fn call() -> Part {
        Part {
            body: Body::ToolCall { call: "c".into(), tool: "read".into(), arguments: "{}".into() },
            record: 0,
            block: 0,
        }
    }

    #[test]
    fn counts_encrypted_content_of_unknown_blocks_by_length() {
        let json = format!(r#"{{"type":"compaction","encrypted_content":"{}"}}"#, "Q".repeat(8000));
        let around =
            SCALE.count(r#"{"type":"compaction","encrypted_content":""#) + SCALE.count("\"}");
        assert_eq!(SCALE.opaque(&json), around + encrypted_tokens(8000));
        assert_eq!(SCALE.opaque(r#"{"a":1}"#), SCALE.count(r#"{"a":1}"#));
    }

    #[test]
    fn counts_either_the_text_or_the_signature_of_a_thought() {
        let text = "hm. ".repeat(100);
        // The size of a signature of such a thought: a third more than the text, plus the fixed part.
        assert_eq!(SCALE.thought(&text, 400 * 4 / 3 + SIGNATURE_BYTES * 4 / 3), SCALE.count(&text));
        assert!(SCALE.thought("", 4000) > 700);
        assert_eq!(SCALE.thought("", 100), 0);
    }
}
