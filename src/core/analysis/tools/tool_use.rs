//! The use of each tool.

use crate::analysis::breakdown::history_parts;
use crate::engine::Case;
use crate::session::Body;
use crate::units::Tokens;
use std::collections::BTreeMap;

/// The use of a tool in the full history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// Number of calls.
    pub calls: usize,
    /// Number of failed results.
    pub errors: usize,
    /// Actual tokens of calls and results. An image in a result counts for its tool.
    pub tokens: Tokens,
}

/// Returns the use of each tool, by name.
pub fn tool_uses(case: &Case) -> BTreeMap<&str, ToolUse> {
    let mut uses: BTreeMap<&str, ToolUse> = BTreeMap::new();
    for (_, part) in history_parts(&case.session) {
        let body = &case.session.parts[part].body;
        if matches!(body, Body::ToolDefinition { .. }) {
            continue;
        }
        if let Some(tool) = case.index.calls.tool_of(&case.session, part) {
            let is_error = matches!(body, Body::ToolResult { is_error: true, .. });
            let tool_use = uses.entry(tool).or_default();
            tool_use.calls += usize::from(matches!(body, Body::ToolCall { .. }));
            tool_use.errors += usize::from(is_error);
            tool_use.tokens += case.ledger.part(part);
        }
    }
    uses
}

/// Returns the tokens of calls and results by tool, largest first.
pub fn tokens_by_tool(case: &Case) -> Vec<(String, Tokens)> {
    let mut all: Vec<_> = tool_uses(case)
        .into_iter()
        .map(|(tool, tool_use)| (tool.to_owned(), tool_use.tokens))
        .collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}
