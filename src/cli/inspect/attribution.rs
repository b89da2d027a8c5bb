//! Content of the context: sources of the session, and the groups of its largest context.

use super::InspectFindings;
use crate::analysis::attribution::{
    Attribution, ContextItem, SourceKind, SourceRow, context_items,
};
use crate::cli::output::{clean, counted, grouped, percent, tokens};
use crate::engine::{Case, Peak, recorded};
use crate::figure::usd;
use crate::units::{Share, Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum number of sources in the text.
// Chosen: as many as fit on a screen with the rest of the text. `--json` lists all.
const MAX_LISTED: usize = 15;
/// Characters of a name.
const NAME: usize = 44;

/// Content of the context.
#[derive(Serialize, JsonSchema)]
pub(super) struct AttributionEntry<'a> {
    /// Call whose context `groups` divides: the largest one, from 1; null without calls.
    call: Option<usize>,
    /// Tokens of that context by group: `system`, `tools`, `mcp:SERVER`, `memory` and so on, and kinds of content of the
    /// conversation. The largest first.
    groups: Vec<GroupEntry>,
    /// Sources over the recorded run, the most cumulative tokens first. A tool of an MCP server is listed on its own and as
    /// part of the server.
    sources: Vec<SourceEntry<'a>>,
}

/// Tokens of a group in a context.
#[derive(Serialize, JsonSchema)]
struct GroupEntry {
    /// Name of the group.
    group: String,
    /// Tokens in the context.
    tokens: Tokens,
    /// Share of the context, 0 to 1.
    share: Share,
}

/// Contribution of a source to the recorded run.
#[derive(Serialize, JsonSchema)]
struct SourceEntry<'a> {
    /// The source as `--without` names it, such as `mcp:github` or `memory:/home/me/CLAUDE.md`; `not recorded` for content
    /// that the file lacks.
    source: String,
    /// Kind: `mcp`, `tool`, `section`, `memory`, `skills`, `hook`, `file`, `environment`, `reminder` or `not recorded`.
    kind: &'static str,
    /// MCP server of a tool; null for others.
    server: Option<&'a str>,
    /// Tokens in one context, the largest if they change.
    tokens: Tokens,
    /// Number of calls that sent it.
    calls: usize,
    /// Cumulative tokens: tokens times calls.
    cumulative_tokens: Tokens,
    /// Price of these tokens, in USD, by the recorded or modelled cache; null if unknown.
    usd: Option<Usd>,
    /// Number of calls of the tool or of the server's tools; null for other sources.
    uses: Option<usize>,
    /// Number of tools of a server; null for other sources.
    tools: Option<usize>,
    /// First message that contains it, from 1; null for content that is not recorded.
    message: Option<usize>,
}

/// Returns the pieces of the largest recorded context.
pub(super) fn largest_context(
    case: &Case,
    attribution: &Attribution,
    reserve: Tokens,
    peak: Option<Peak>,
) -> Vec<ContextItem> {
    let Some(peak) = peak else {
        return Vec::new();
    };
    let context = recorded(case, reserve, peak.call).context;
    context_items(case, &attribution.sources, &context)
}

/// Returns the tokens of each group, the largest first.
fn groups(items: &[ContextItem]) -> Vec<(&str, Tokens)> {
    let mut sums: BTreeMap<&str, Tokens> = BTreeMap::new();
    for item in items {
        *sums.entry(&item.group).or_default() += item.tokens;
    }
    let mut sums: Vec<(&str, Tokens)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    sums
}

impl InspectFindings<'_> {
    /// Appends the sources, if the file records any.
    pub(super) fn sources_text(&self, text: &mut String) {
        let is_listed = |row: &&SourceRow| row.source.server().is_none();
        let rows: Vec<_> = self.attribution.rows.iter().filter(is_listed).collect();
        if rows.iter().all(|row| row.source.kind == SourceKind::NotRecorded) {
            return;
        }
        let _ = writeln!(
            text,
            "  {:<NAME$} {:>9} {:>7} {:>11} {:>9}  used",
            "sources", "tokens", "calls", "cumulative", "price"
        );
        for row in rows.iter().take(MAX_LISTED) {
            let name: String = clean(&row.source.to_string()).chars().take(NAME).collect();
            let price = row.usd.map_or_else(|| "–".to_owned(), usd);
            let used = match row.uses {
                None => String::new(),
                Some(0) => "never".to_owned(),
                Some(n) => counted(n, "call"),
            };
            let _ = writeln!(
                text,
                "  {name:<NAME$} {:>9} {:>7} {:>11} {price:>9}  {used}",
                tokens(row.tokens),
                grouped(row.calls as u64),
                row.cumulative.short(),
            );
        }
        if let Some(others @ [_, ..]) = rows.get(MAX_LISTED..) {
            let sum = others.iter().map(|row| row.tokens).sum();
            let name = counted(others.len(), "other source");
            let _ = writeln!(text, "  {name:<NAME$} {:>9}", tokens(sum));
        }
        let total: Tokens = self.largest_context.iter().map(|item| item.tokens).sum();
        let shares = groups(&self.largest_context).into_iter();
        let shares = shares.map(|(name, sum)| format!("{} {}", name, percent(sum.share_of(total))));
        let _ = writeln!(
            text,
            "  largest context: {}",
            clean(&shares.take(MAX_LISTED).collect::<Vec<_>>().join(", "))
        );
    }

    /// Returns the JSON output.
    pub(super) fn attribution_entry(&self) -> AttributionEntry<'_> {
        let total: Tokens = self.largest_context.iter().map(|item| item.tokens).sum();
        let group = |(group, tokens): (&str, Tokens)| GroupEntry {
            group: group.to_owned(),
            tokens,
            share: tokens.share_of(total),
        };
        AttributionEntry {
            call: self.peak.and_then(|peak| peak.call).map(|call| call + 1),
            groups: groups(&self.largest_context).into_iter().map(group).collect(),
            sources: self.attribution.rows.iter().map(entry).collect(),
        }
    }
}

fn entry(row: &SourceRow) -> SourceEntry<'_> {
    SourceEntry {
        source: row.source.to_string(),
        kind: row.source.kind.name(),
        server: row.source.server(),
        tokens: row.tokens,
        calls: row.calls,
        cumulative_tokens: row.cumulative,
        usd: row.usd,
        uses: row.uses,
        tools: (row.source.kind == SourceKind::Server).then_some(row.tools),
        message: row.message.map(|message| message + 1),
    }
}
