//! The table `tool_definitions`.

use super::conversation::Conversation;
use crate::analysis::attribution::{Attribution, SourceKind};
use crate::exec::files::sha256_bytes;
use crate::exec::tables::column::{ContentHash, Name};
use crate::exec::tables::schema::row;
use crate::session::Body;
use crate::units::{Tokens, Usd};
use std::collections::HashMap;

row! {
    /// A tool that a conversation defined, if the file records definitions.
    ToolDefinitionRow in "tool_definitions" {
        /// SHA-256 of the file's content.
        content_sha256: ContentHash,
        /// Number of the conversation in the file, from 1.
        conversation: usize,
        /// Name of the tool (`gen_ai.tool.name`).
        tool_name: Name,
        /// MCP server of a tool named `mcp__SERVER__TOOL`; null for other tools.
        mcp_server: Option<Name>,
        /// Size of the definition.
        definition_tokens: Tokens,
        /// Number of model calls that sent the definition in the recorded run.
        calls_with_definition: usize,
        /// Number of calls of the tool.
        calls_made: usize,
        /// Definition × the model calls that sent it.
        resent_tokens: Tokens,
        /// Cost of these tokens; null if a price is unknown or no call sent them.
        resent_usd: Option<Usd>,
        /// SHA-256 of the definition as JSON, the first if it changed.
        definition_sha256: Option<ContentHash>,
    }
}

/// Returns a row for each definition, by the name of the tool.
pub(super) fn rows(of: &Conversation<'_>) -> Vec<ToolDefinitionRow> {
    let attribution = Attribution::new(of.case, &of.recorded, &of.bills, &of.cost);
    let mut hashes: HashMap<&str, [u8; 32]> = HashMap::new();
    for part in &of.case.session.parts {
        if let Body::ToolDefinition { tool, json } = &part.body {
            hashes.entry(&**tool).or_insert_with(|| sha256_bytes(json.as_bytes()));
        }
    }
    let mut rows: Vec<ToolDefinitionRow> = attribution
        .rows
        .iter()
        .filter(|row| row.source.kind == SourceKind::Tool)
        .map(|row| {
            let (content_sha256, conversation) = of.key();
            ToolDefinitionRow {
                content_sha256,
                conversation,
                tool_name: Name::Owned(row.source.name.clone()),
                mcp_server: row.source.server().map(|server| Name::Owned(server.to_owned())),
                definition_tokens: row.tokens,
                calls_with_definition: row.calls,
                calls_made: row.uses.unwrap_or_default(),
                resent_tokens: row.cumulative,
                resent_usd: row.usd,
                definition_sha256: hashes.get(&*row.source.name).copied().map(Into::into),
            }
        })
        .collect();
    rows.sort_by(|a, b| a.tool_name.cmp(&b.tool_name));
    rows
}
