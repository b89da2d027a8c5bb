//! MCP servers whose tools every call sends and none uses.

use super::source::{Source, SourceKind};
use crate::analysis::tools::tool_uses;
use crate::engine::Case;
use crate::session::Body;
use crate::units::Tokens;
use std::collections::BTreeMap;

/// An MCP server that no call used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnusedServer {
    /// Its name.
    pub name: String,
    /// Number of its tools.
    pub tools: usize,
    /// Tokens of their definitions.
    pub tokens: Tokens,
    /// Index of the first message that defines one.
    pub message: usize,
}

/// Returns the servers of which a tool is defined and none was called, the largest first. Each tool counts once, with its last
/// definition.
pub fn unused_servers(case: &Case) -> Vec<UnusedServer> {
    let mut definitions: BTreeMap<&str, (usize, Tokens)> = BTreeMap::new();
    for (idx, message) in case.session.messages.iter().enumerate() {
        for part in message.parts.clone() {
            if let Body::ToolDefinition { tool, json } = &case.session.parts[part].body
                && !json.is_empty()
            {
                definitions.insert(tool, (idx, case.ledger.part(part)));
            }
        }
    }
    if definitions.is_empty() {
        return Vec::new();
    }
    let uses = tool_uses(case);
    let mut servers: BTreeMap<String, (UnusedServer, usize)> = BTreeMap::new();
    for (tool, (message, tokens)) in definitions {
        let source = Source::new(SourceKind::Tool, tool);
        let Some(server) = source.server() else {
            continue;
        };
        let new = || (UnusedServer { name: server.to_owned(), message, ..Default::default() }, 0);
        let (found, n_uses) = servers.entry(server.to_owned()).or_insert_with(new);
        found.tools += 1;
        found.tokens += tokens;
        found.message = found.message.min(message);
        *n_uses += uses.get(tool).map_or(0, |tool_use| tool_use.calls);
    }
    let unused = servers.into_values().filter(|(_, n_uses)| *n_uses == 0);
    let mut unused: Vec<UnusedServer> = unused.map(|(server, _)| server).collect();
    unused.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.name.cmp(&b.name)));
    unused
}
