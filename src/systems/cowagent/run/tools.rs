//! The tools of one step: all their results are added as one user message.

use super::super::repeat::{HINT, NOTICED_FROM, REPEATS};
use super::super::tool_result::{CURRENT_RESULT_CHARS, cut_result, result_content};
use super::model::ParsedCall;
use super::{Run, ToolOutcome, World, block, user_text, with_blocks};
use crate::chat::{Block, BlockBody, Content, python_str};
use serde_json::{Value, json};

/// Follows the reason of a refusal.
const TRY_OTHERWISE: &str = "\n\n当前方法行不通，请尝试完全不同的方法或向用户询问更多信息。";

impl<W: World> Run<'_, W> {
    /// Runs calls and adds their results to the conversation. Returns the final text if the run is aborted.
    pub(super) fn run_calls(&mut self, step: usize, calls: &[ParsedCall]) -> Option<String> {
        let mut blocks = Vec::new();
        let mut last_word = None;
        for call in calls {
            let (status, result) = self.run_call(call);
            let (n_same, _) = self.calls.repeats(&call.tool, &call.arguments);
            if step >= NOTICED_FROM && n_same >= REPEATS {
                self.warn(&format!(
                    "⚠️  Tool '{}' has been called {n_same} times with same arguments. This may indicate a loop.",
                    call.tool
                ));
            }
            if status == "critical_error" {
                self.error("💥 检测到严重错误，终止对话");
                last_word = Some(python_str(&result));
                break;
            }
            blocks.push(self.result_block(call, &status, &result));
        }
        if !blocks.is_empty() {
            self.messages.push(with_blocks("user", blocks));
            self.hint_at_repeats(step, calls);
        } else if !calls.is_empty() {
            self.warn(
                "⚠️ Tool execution interrupted, adding error results to maintain message history",
            );
            let interrupted = |call: &ParsedCall| {
                result(
                    call,
                    "Error: Tool execution was interrupted".to_owned(),
                    true,
                )
            };
            let blocks = calls.iter().map(interrupted).collect();
            self.messages.push(with_blocks("user", blocks));
        }
        last_word
    }

    /// Returns status and result of a call, which may be refused because of earlier calls.
    fn run_call(&mut self, call: &ParsedCall) -> (String, Value) {
        let (status, text) = if let Some(flaw) = &call.flaw {
            self.error(&format!(
                "Skipping tool execution due to parse error: {flaw}"
            ));
            let text = format!(
                "Failed to parse tool arguments. {flaw}. Please ensure your tool call uses valid JSON \
                 format with all required parameters."
            );
            ("error", text)
        } else if let Some(refusal) = self.calls.refusal(&call.tool, &call.arguments) {
            self.error(&format!("🛑 {}", refusal.reason));
            if refusal.is_critical {
                ("critical_error", refusal.reason)
            } else {
                ("error", refusal.reason + TRY_OTHERWISE)
            }
        } else {
            match self.world.run_tool(&call.tool, &call.arguments) {
                ToolOutcome::Returned { status, result } => {
                    let succeeded = status == "success";
                    self.calls
                        .record(&call.id, &call.tool, &call.arguments, succeeded);
                    return (status, result);
                }
                ToolOutcome::Raised(error) => {
                    self.error(&format!("Tool execution error: {error}"));
                    ("error", error)
                }
            }
        };
        self.calls
            .record(&call.id, &call.tool, &call.arguments, false);
        (status.to_owned(), json!(text))
    }

    fn result_block(&mut self, call: &ParsedCall, status: &str, value: &Value) -> Block {
        let text = result_content(status, value, 0.0);
        let text = match cut_result(&text, CURRENT_RESULT_CHARS) {
            None => text,
            Some(shorter) => {
                self.log.push(format!(
                    "info: 📎 Truncated tool result for '{}': {} -> {CURRENT_RESULT_CHARS} chars",
                    call.tool,
                    text.chars().count()
                ));
                shorter
            }
        };
        result(call, text, status == "error")
    }

    /// After a third identical success, asks the model to answer; the hint remains in the conversation.
    fn hint_at_repeats(&mut self, step: usize, calls: &[ParsedCall]) {
        let Some(first) = calls.first().filter(|_| step >= NOTICED_FROM) else {
            return;
        };
        let (_, n_succeeded) = self.calls.repeats(&first.tool, &first.arguments);
        if n_succeeded >= REPEATS {
            self.warn(&format!(
                "⚠️  Detected potential loop: '{}' called {n_succeeded} times with same args. \
                 Adding hint to LLM to provide final response.",
                first.tool
            ));
            self.messages.push(user_text(HINT));
        }
    }
}

fn result(call: &ParsedCall, text: String, is_error: bool) -> Block {
    block(BlockBody::ToolResult {
        id: call.id.as_str().into(),
        content: Box::new(Content::text(text)),
        is_error: is_error.then_some(true),
    })
}
