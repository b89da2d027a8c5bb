//! Answers of models and the drafts that collect them.

use super::plain_text::plain_line;
use super::surrogates::Surrogates;
use crate::session::Usage;
use crate::units::Tokens;

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Text of the answer without reasoning and refusals. May be empty.
    pub text: String,
    /// Reason for the end.
    pub stop: Stop,
    /// Reported usage, if any.
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// Text of a refusal.
    pub refusal: Option<String>,
    /// The tool calls.
    pub calls: Vec<AnswerCall>,
}

/// A tool call in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerCall {
    /// Name of the tool.
    pub tool: String,
    /// Arguments as the model wrote them, usually JSON.
    pub arguments: String,
}

/// Reasons for the end of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The answer is complete.
    Finished,
    /// The output limit was reached; the text is cut off.
    Length,
    /// The model or its provider refused to answer.
    Refused,
    /// The model called a tool instead.
    ToolCall,
    /// A reason that the API does not define, as the provider names it.
    Other(String),
}

impl Stop {
    /// Parses the reason of any API.
    pub(super) fn from_word(word: &str) -> Self {
        match &*word.to_ascii_lowercase() {
            "stop" | "end_turn" | "stop_sequence" | "eos" | "completed" => Self::Finished,
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "model_length"
            | "model_context_window_exceeded" => Self::Length,
            "content_filter"
            | "content_filtered"
            | "refusal"
            | "safety"
            | "recitation"
            | "blocklist"
            | "prohibited_content"
            | "spii"
            | "sensitive"
            | "guardrail_intervened" => Self::Refused,
            "tool_calls" | "tool_use" | "function_call" => Self::ToolCall,
            _ => Self::Other(plain_line(word, 40)),
        }
    }
}

/// An incomplete answer.
#[derive(Debug, Default)]
pub(super) struct AnswerDraft {
    pub(super) text: String,
    pub(super) refusal: String,
    pub(super) stop: Option<Stop>,
    pub(super) usage: UsageCounts,
    pub(super) model: Option<String>,
    /// The tool calls so far, each with its index in the answer.
    pub(super) calls: Vec<(u64, AnswerCall)>,
    /// The answer has ended.
    pub(super) is_over: bool,
    /// Error reported by the server.
    pub(super) error: Option<crate::json::Value>,
    /// Surrogate that the next event completes.
    pub(super) surrogates: Surrogates,
}

/// Usage as reported so far.
#[derive(Debug, Default)]
pub(super) struct UsageCounts {
    /// Tokens of the whole prompt, cached or not.
    pub(super) input: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) reasoning: Option<u64>,
}

impl AnswerDraft {
    /// Sets the model's name, if it is not set yet.
    pub(super) fn name_model(&mut self, name: Option<&str>) {
        if let (None, Some(name)) = (&self.model, name.filter(|n| !n.is_empty())) {
            self.model = Some(plain_line(name, 200));
        }
    }

    /// Adds a tool call, or further arguments of one with the same index.
    pub(super) fn add_call(&mut self, index: u64, tool: Option<&str>, arguments: &str) {
        let known = self.calls.iter().position(|(known, _)| *known == index);
        let nth = known.unwrap_or_else(|| {
            self.calls.push((index, AnswerCall::default()));
            self.calls.len() - 1
        });
        let call = &mut self.calls[nth].1;
        if call.tool.is_empty() {
            call.tool = plain_line(tool.unwrap_or_default(), 200);
        }
        call.arguments.push_str(arguments);
    }

    /// Returns the number of bytes that the model wrote so far.
    pub(super) fn n_bytes(&self) -> usize {
        let calls = self.calls.iter();
        let calls: usize = calls.map(|(_, call)| call.arguments.len()).sum();
        self.text.len() + self.refusal.len() + calls
    }

    /// Sets the reason for the end, as named by any API. A refusal is not overwritten.
    pub(super) fn stopped(&mut self, word: &str) {
        const FAILED: [&str; 5] =
            ["error", "failed", "cancelled", "network_error", "insufficient_system_resource"];
        if FAILED.iter().any(|failed| word.eq_ignore_ascii_case(failed)) {
            let message = format!("the answer ended with the reason “{word}”");
            self.error = Some(crate::json::Value::String(message));
        } else if self.stop != Some(Stop::Refused) {
            self.stop = Some(Stop::from_word(word));
        }
    }

    /// Returns the answer, even if incomplete.
    pub(super) fn into_answer(mut self) -> Answer {
        self.text.extend(self.surrogates.rest());
        let stop = match self.stop {
            None | Some(Stop::Finished) if !self.refusal.is_empty() => Stop::Refused,
            None | Some(Stop::Finished) if !self.calls.is_empty() => Stop::ToolCall,
            stop => stop.unwrap_or(Stop::Finished),
        };
        Answer {
            text: self.text,
            stop,
            usage: self.usage.into_usage(),
            model: self.model,
            refusal: (!self.refusal.is_empty()).then_some(self.refusal),
            calls: self.calls.into_iter().map(|(_, call)| call).collect(),
        }
    }
}

impl UsageCounts {
    fn into_usage(self) -> Option<Usage> {
        Some(Usage {
            input: Tokens(self.input?),
            cache_read: self.cache_read.map(Tokens),
            cache_write: self.cache_write.map(Tokens),
            cache_write_hour: None,
            output: self.output.map(Tokens),
            reasoning: self.reasoning.map(Tokens),
        })
    }
}
