//! The tools of one step: all their results are added as one user message.

use super::model::ParsedCall;
use super::{Environment, Run, ToolOutcome, block, user_text, with_blocks};
use plimsoll::chat::{Block, BlockBody, Content};
use plimsoll::json::{Value, json};
use plimsoll::languages::python::{Layout, python_dumps, python_str};
use plimsoll::systems::cowagent::cut_result;
use plimsoll::systems::cowagent::loop_guard::{FIRST_CHECKED_STEP, HINT, TOO_MANY_REPEATS};

/// `MAX_CURRENT_TURN_RESULT_CHARS`.
const CURRENT_RESULT_CHARS: usize = 50_000;

/// Follows the reason of a refusal.
const TRY_OTHERWISE: &str = "\n\n当前方法行不通，请尝试完全不同的方法或向用户询问更多信息。";

impl<W: Environment> Run<'_, W> {
    /// Runs calls and adds their results to the conversation. Returns the final text if the run is aborted.
    pub(crate) fn run_calls(&mut self, step: usize, calls: &[ParsedCall]) -> Option<String> {
        let mut blocks = Vec::new();
        let mut last_text = None;
        for call in calls {
            let (status, result) = self.run_call(call);
            let (n_same, _) = self.calls.repeats(&call.tool, &call.arguments);
            if step >= FIRST_CHECKED_STEP && n_same >= TOO_MANY_REPEATS {
                self.warn(&format!(
                    "⚠️  Tool '{}' has been called {n_same} times with same arguments. This may indicate a loop.",
                    call.tool
                ));
            }
            if status == "critical_error" {
                self.error("💥 检测到严重错误，终止对话");
                last_text = Some(python_str(&result));
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
                result(call, "Error: Tool execution was interrupted".to_owned(), true)
            };
            let blocks = calls.iter().map(interrupted).collect();
            self.messages.push(with_blocks("user", blocks));
        }
        last_text
    }

    /// Returns status and result of a call, which may be refused because of earlier calls.
    fn run_call(&mut self, call: &ParsedCall) -> (String, Value) {
        let (status, text) = if let Some(flaw) = &call.flaw {
            self.error(&format!("Skipping tool execution due to parse error: {flaw}"));
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
            let ToolOutcome { status, result } =
                self.environment.run_tool(&call.tool, &call.arguments);
            let succeeded = status == "success";
            self.calls.record(&call.id, &call.tool, &call.arguments, succeeded);
            return (status, result);
        };
        self.calls.record(&call.id, &call.tool, &call.arguments, false);
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
        let Some(first) = calls.first().filter(|_| step >= FIRST_CHECKED_STEP) else {
            return;
        };
        let (_, n_succeeded) = self.calls.repeats(&first.tool, &first.arguments);
        if n_succeeded >= TOO_MANY_REPEATS {
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

/// Returns the text of a result: an error with its prefix, objects and lists as JSON (a list wrapped with status and
/// time).
fn result_content(status: &str, result: &Value, seconds: f64) -> String {
    match result {
        _ if status == "error" => format!("Error: {}", python_str(result)),
        Value::Object(_) => python_dumps(result, Layout::UNICODE),
        Value::String(text) => text.clone(),
        other => {
            let whole = json!({"status": status, "result": other, "execution_time": seconds});
            python_dumps(&whole, Layout::UNICODE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_become_text_by_their_type() {
        assert_eq!(result_content("error", &json!("bad"), 0.0), "Error: bad");
        assert_eq!(result_content("error", &json!({"a": null}), 0.0), "Error: {'a': None}");
        assert_eq!(result_content("success", &json!({"a": "é"}), 0.0), r#"{"a": "é"}"#);
        assert_eq!(
            result_content("success", &json!([1]), 0.5),
            r#"{"status": "success", "result": [1], "execution_time": 0.5}"#
        );
    }
}
