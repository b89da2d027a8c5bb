//! An API of model servers, described by a table row.

use super::answer::AnswerDraft;
use super::prompt::Prompt;
use crate::json::Value;

/// An API of model servers.
#[derive(Debug)]
pub struct Api {
    /// Name in settings and on the command line.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// The provider's own address, without the version.
    pub base_url: &'static str,
    /// First segment of every path. An address that names another version keeps it.
    pub version: &'static str,
    /// Path for requests, after the version.
    pub path: &'static str,
    /// Usual environment variable of the key.
    pub key_variable: &'static str,
    /// Header of the key.
    pub key_header: KeyHeader,
    /// Further headers of every request.
    pub headers: &'static [(&'static str, &'static str)],
    /// Requests mark the prefix that the server is to cache, because it caches nothing else.
    pub marks_prefix: bool,
    /// The server describes a single model, with its window, at `/models/NAME`.
    pub(super) describes_models: bool,
    /// Writes a request's body for the model with this name.
    pub(super) write: fn(&str, LimitField, &Prompt) -> Value,
    /// Reads an event of a stream.
    pub(super) read_event: fn(&mut AnswerDraft, &Value),
    /// Reads a whole answer that was not streamed. Returns false if it is not an answer.
    pub(super) read: fn(&mut AnswerDraft, &Value) -> bool,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug)]
pub struct KeyHeader {
    /// Name of the header, in lower case.
    pub name: &'static str,
    /// Text before the key.
    pub prefix: &'static str,
}

/// Field for the output limit in chat completions. Newer OpenAI models reject the older field; other servers may not
/// know the newer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl LimitField {
    /// Returns the name of the field.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}
