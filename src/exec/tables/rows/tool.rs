//! The table `tools`.

use super::conversation::Conversation;
use crate::analysis::LastUses;
use crate::analysis::attribution::{Source, SourceKind};
use crate::analysis::resent::resent;
use crate::analysis::tools::ToolTable;
use crate::exec::tables::column::{ContentHash, Name};
use crate::exec::tables::schema::row;
use crate::units::Tokens;

row! {
    /// A tool that a conversation used.
    ToolRow in "tools" {
        /// SHA-256 of the file's content.
        content_sha256: ContentHash,
        /// Number of the conversation in the file, from 1.
        conversation: usize,
        /// Name of the tool (`gen_ai.tool.name`).
        tool_name: Name,
        /// MCP server of a tool named `mcp__SERVER__TOOL`; null for other tools.
        mcp_server: Option<Name>,
        /// Number of calls.
        calls: usize,
        /// Number of failed results, as the file marks them.
        failed_results: usize,
        /// Number of results.
        results: usize,
        /// Calls and results.
        tokens: Tokens,
        /// Results.
        result_tokens: Tokens,
        /// The largest result; null without a result.
        largest_result_tokens: Option<Tokens>,
        /// Calls and results × the model calls that sent them in the recorded run.
        cumulative_tokens: Tokens,
        /// Number of results with names (paths, symbols, hashes, numbers) of which the model writes none later.
        never_named_results: usize,
        /// Tokens of these results.
        never_named_tokens: Tokens,
        /// Number of results with the same tool, arguments and text as an earlier one.
        repeated_results: usize,
        /// Tokens of these results.
        repeated_tokens: Tokens,
    }
}

/// Returns a row for each tool, by name.
pub(super) fn rows(of: &Conversation<'_>) -> Vec<ToolRow> {
    let resent = resent(of.case, &of.recorded);
    let mut tools = ToolTable::new(of.case, &resent, &LastUses::new(&of.case.session)).tools;
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let row = |tool: crate::analysis::tools::ToolRow| {
        let (content_sha256, conversation) = of.key();
        let source = Source::new(SourceKind::Tool, tool.name);
        ToolRow {
            content_sha256,
            conversation,
            mcp_server: source.server().map(|server| Name::Owned(server.to_owned())),
            tool_name: Name::Owned(source.name),
            calls: tool.tool_use.calls,
            failed_results: tool.tool_use.errors,
            results: tool.results.results,
            tokens: tool.tool_use.tokens,
            result_tokens: tool.results.tokens,
            largest_result_tokens: tool.largest.map(|largest| largest.tokens),
            cumulative_tokens: tool.cumulative,
            never_named_results: tool.never_named.results,
            never_named_tokens: tool.never_named.tokens,
            repeated_results: tool.repeated.results,
            repeated_tokens: tool.repeated.tokens,
        }
    };
    tools.into_iter().map(row).collect()
}
