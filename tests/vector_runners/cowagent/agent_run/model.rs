//! A model call and its error handling: a retry, an emergency trim, or an empty conversation.

use super::json_error::json_error;
use super::{Environment, Reply, RequestedCall, Run, block, with_blocks};
use plimsoll::chat::BlockBody;
use plimsoll::json::{Map, Value, json};
use plimsoll::languages::python::python_str;
use plimsoll::systems::cowagent::{
    FORMAT_ERROR, MAX_RETRIES, OVERFLOW_ERROR, Recovery, STORED_REASONING_CHARS, cut_reasoning,
    is_format_error, is_overflow, is_retryable, sanitize, trim_for_overflow, wait_seconds,
};

/// Prefix of stream errors that describe an overflow.
const OVERFLOW_MARK: &str = "[CONTEXT_OVERFLOW]";
/// Characters shown of faulty arguments.
const PREVIEW_CHARS: usize = 200;

/// An answer that was added to the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<ParsedCall>,
}

/// A call with parsed arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParsedCall {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    /// Reason why the arguments could not be parsed.
    pub(crate) flaw: Option<String>,
}

/// Number and kind of the tries of a call.
#[derive(Clone, Copy, Default)]
struct Tries {
    n_retries: u64,
    /// This try follows an emergency trim. Any other try in between resets it.
    after_overflow: bool,
}

impl<W: Environment> Run<'_, W> {
    /// Calls the model and adds its answer to the conversation; retries an empty answer once, if requested.
    pub(crate) fn ask(&mut self, mut retries_empty: bool) -> Result<Answer, String> {
        let mut tries = Tries::default();
        loop {
            sanitize(&mut self.messages, &mut self.log);
            let error = match self.environment.call(&self.messages) {
                Reply::Answer { text, reasoning, calls, stop_reason } => {
                    let calls: Vec<ParsedCall> = calls.into_iter().map(|c| self.parse(c)).collect();
                    if !retries_empty || !text.is_empty() || !calls.is_empty() {
                        return Ok(self.take(&text, &reasoning, calls));
                    }
                    let reason = stop_reason.as_deref().unwrap_or("None");
                    self.warn(&format!(
                        "⚠️  LLM returned empty response (stop_reason: {reason}), retrying once..."
                    ));
                    retries_empty = false;
                    tries.after_overflow = false;
                    continue;
                }
                Reply::Refused { message, status, code, kind } => {
                    self.refused(&message, &status, &code, &kind)
                }
                Reply::Raised(error) => error,
            };
            tries = self.recover(error, tries)?;
        }
    }

    /// Logs an error of the stream and returns it as one line.
    fn refused(&mut self, message: &str, status: &Value, code: &str, kind: &str) -> String {
        let error = json!({"message": message, "code": code, "type": kind});
        let chunk = python_str(&json!({"error": error, "status_code": status}));
        let status = python_str(status);
        self.error("🔴 Stream API Error:");
        self.error(&format!("   Message: {message}"));
        self.error(&format!("   Status Code: {status}"));
        self.error(&format!("   Error Code: {code}"));
        self.error(&format!("   Error Type: {kind}"));
        self.error(&format!("   Full chunk: {chunk}"));
        if is_overflow(message, true) {
            format!("{OVERFLOW_MARK} {message} (Status: {status})")
        } else {
            format!("{message} (Status: {status}, Code: {code}, Type: {kind})")
        }
    }

    /// Prepares another try, or fails.
    fn recover(&mut self, error: String, tries: Tries) -> Result<Tries, String> {
        let is_overflow = error.to_lowercase().contains(&OVERFLOW_MARK.to_lowercase())
            || is_overflow(&error, false);
        if is_overflow {
            self.error(&format!("💥 context overflow detected: {error}"));
            self.flush_all();
            if !tries.after_overflow
                && trim_for_overflow(&mut self.messages, Recovery::SHIPPED, &mut self.log)
            {
                self.warn("🔄 Aggressively trimmed context, retrying...");
                return Ok(Tries { after_overflow: true, ..tries });
            }
            return Err(self.wipe(OVERFLOW_ERROR));
        }
        if is_format_error(&error) {
            self.error(&format!("💥 message format error detected: {error}"));
            return Err(self.wipe(FORMAT_ERROR));
        }
        if is_retryable(&error) && tries.n_retries < MAX_RETRIES {
            let n_tries = tries.n_retries + 1;
            self.warn(&format!("⚠️ LLM API error (attempt {n_tries}/{MAX_RETRIES}): {error}"));
            let seconds = wait_seconds(&error, tries.n_retries);
            self.log.push(format!("sleep: {seconds}"));
            return Ok(Tries { n_retries: n_tries, after_overflow: false });
        }
        if tries.n_retries >= MAX_RETRIES {
            self.error(&format!("❌ LLM API error after {MAX_RETRIES} retries: {error}"));
        } else {
            self.error(&format!("❌ LLM call error (non-retryable): {error}"));
        }
        Err(error)
    }

    /// Empties the conversation, in memory and in the store.
    fn wipe(&mut self, error: &str) -> String {
        self.warn("🔄 Clearing conversation history to recover");
        self.messages.clear();
        error.to_owned()
    }

    fn parse(&mut self, call: RequestedCall) -> ParsedCall {
        let text = &call.arguments;
        let flaw = (!text.is_empty()).then(|| json_error(text)).flatten();
        let flaw = flaw.map(|error| {
            let preview: String = text.chars().take(PREVIEW_CHARS).collect();
            self.error(&format!("Failed to parse tool arguments for {}", call.tool));
            self.error(&format!("Arguments length: {} chars", text.chars().count()));
            self.error(&format!("Arguments preview: {preview}..."));
            self.error(&format!("JSON decode error: {error}"));
            format!(
                "Invalid JSON in tool arguments: {preview}... Error: {error}. Tip: For large content, \
                 consider splitting into smaller chunks or using a different approach."
            )
        });
        let arguments = serde_json::from_str(text).unwrap_or(Value::Object(Map::new()));
        ParsedCall { id: call.id, tool: call.tool, arguments, flaw }
    }

    fn take(&mut self, text: &str, reasoning: &str, calls: Vec<ParsedCall>) -> Answer {
        let text = text.replace("<think>", "").replace("</think>", "");
        let mut blocks = Vec::new();
        if !reasoning.is_empty() {
            let stored = cut_reasoning(reasoning, STORED_REASONING_CHARS);
            blocks
                .push(block(BlockBody::Thinking(json!({"type": "thinking", "thinking": stored}))));
        }
        if !text.is_empty() {
            blocks.push(block(BlockBody::Text(text.as_str().into())));
        }
        blocks.extend(calls.iter().map(|call| {
            block(BlockBody::ToolUse {
                id: call.id.as_str().into(),
                name: call.tool.as_str().into(),
                input: call.arguments.clone(),
            })
        }));
        if !blocks.is_empty() {
            self.messages.push(with_blocks("assistant", blocks));
        }
        Answer { text, calls }
    }
}
