//! Tool results with their calls.

use crate::analysis::breakdown::history_parts;
use crate::engine::Case;
use crate::session::Body;
use crate::units::Tokens;

/// A tool result with its call.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredCall<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Its arguments as the model wrote them.
    pub arguments: &'a str,
    /// Index of the message that holds the result.
    pub message: usize,
    /// Index of the part with the result.
    pub part: usize,
    /// The result.
    pub text: &'a str,
    /// Actual tokens of the result.
    pub tokens: Tokens,
}

/// Returns all results of the history with a known call, in order.
pub fn answered_calls(case: &Case) -> Vec<AnsweredCall<'_>> {
    let session = &case.session;
    let answered = history_parts(session).filter_map(|(message, part)| {
        let Body::ToolResult { text, .. } = &session.parts[part].body else {
            return None;
        };
        let (tool, arguments) = case.index.calls.tool_and_arguments(session, part)?;
        let tokens = case.ledger.part(part);
        Some(AnsweredCall { tool, arguments, message, part, text, tokens })
    });
    answered.collect()
}
