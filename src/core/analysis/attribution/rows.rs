//! Tokens, calls and price of each source over the recorded run.

use super::pieces::Sources;
use super::source::{Source, SourceKind};
use crate::analysis::cost::{Bills, Cost, PromptPrice, prompt_prices};
use crate::analysis::resent::sendings;
use crate::analysis::tools::tool_uses;
use crate::engine::{Case, Outcome};
use crate::units::{Tokens, Usd};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Contribution of a source to the recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRow {
    /// The source.
    pub source: Source,
    /// Largest size in one context.
    pub tokens: Tokens,
    /// Number of calls that sent it.
    pub calls: usize,
    /// Cumulative tokens: tokens times calls.
    pub cumulative: Tokens,
    /// Price of these tokens in the prompts, by the recorded or modelled cache; `None` if a price is unknown.
    pub usd: Option<Usd>,
    /// Number of calls of the tool, or of the tools of the server; `None` for other sources.
    pub uses: Option<usize>,
    /// Number of tools of a server, else 0.
    pub tools: usize,
    /// Index of the first message that contains it; `None` for what is not recorded.
    pub message: Option<usize>,
}

/// Contributions of all sources to the recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// One row per source and per MCP server, the most cumulative tokens first.
    pub rows: Vec<SourceRow>,
    /// The pieces that they are made of.
    pub sources: Sources,
}

/// The tokens of a source, by the message that contains them.
struct Tally {
    per_message: BTreeMap<usize, Tokens>,
    usd: Option<Usd>,
    /// Indices of its sources: several for a server.
    sources: BTreeSet<usize>,
}

impl Tally {
    /// Returns the tokens of each call that sent it. `calls` are the calls of each message.
    fn per_call(&self, calls: &BTreeMap<usize, Vec<usize>>) -> BTreeMap<usize, Tokens> {
        let mut found: BTreeMap<usize, Tokens> = BTreeMap::new();
        for (message, tokens) in &self.per_message {
            for call in calls.get(message).into_iter().flatten() {
                *found.entry(*call).or_default() += *tokens;
            }
        }
        found
    }
}

impl Attribution {
    /// Computes the rows of a session. `cost` is the recorded cost, and `bills` what it was computed from.
    pub fn new(case: &Case, recorded: &Outcome, bills: &Bills<'_>, cost: &Cost) -> Self {
        let sources = Sources::new(case);
        let prices = prompt_prices(bills, cost);
        let is_answered =
            |call: usize| recorded.samples.get(call).is_none_or(|sample| !sample.is_rejected);
        // Only of messages with a source: a list of the calls of every message grows with the square of the session.
        let with_source: HashSet<usize> =
            sources.pieces.iter().map(|piece| piece.message).collect();
        let is_needed = |message: &usize| with_source.contains(message);
        let mut calls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (message, range) in sendings(&case.session).into_iter().filter(|(m, _)| is_needed(m)) {
            let answered = range.filter(|call| is_answered(*call));
            calls.entry(message).or_default().extend(answered);
        }
        let mut tallies: BTreeMap<Source, Tally> = BTreeMap::new();
        // The cache holds the beginning of a prompt, where instructions and definitions are: each piece is priced at the
        // position that the pieces before it leave.
        let mut position = case.ledger.overhead;
        for piece in &sources.pieces {
            let end = position + piece.tokens;
            let sent = calls.get(&piece.message).into_iter().flatten();
            let price = |call: &usize| Some(prices.get(call)?.of(position, end));
            let usd: Option<Usd> = sent.map(price).sum();
            let source = &sources.all[piece.source];
            let server = source.server().map(|name| Source::new(SourceKind::Server, name));
            for source in [Some(source.clone()), server].into_iter().flatten() {
                let tally = tallies.entry(source).or_insert_with(|| Tally {
                    per_message: BTreeMap::new(),
                    usd: Some(Usd::ZERO),
                    sources: BTreeSet::new(),
                });
                tally.sources.insert(piece.source);
                *tally.per_message.entry(piece.message).or_default() += piece.tokens;
                tally.usd = tally.usd.zip(usd).map(|(sum, usd)| sum + usd);
            }
            position = end;
        }
        let uses = tool_uses(case);
        let calls_of = |tool: &Source| uses.get(&*tool.name).map_or(0, |tool_use| tool_use.calls);
        let row = |(source, tally): (Source, Tally)| {
            let of_source = tally.sources.iter().map(|tool| &sources.all[*tool]);
            let is_tool = matches!(source.kind, SourceKind::Tool | SourceKind::Server);
            let per_call = tally.per_call(&calls);
            SourceRow {
                tokens: per_call.values().copied().max().unwrap_or_default(),
                calls: per_call.len(),
                cumulative: per_call.values().copied().sum(),
                usd: tally.usd.filter(|_| !per_call.is_empty()),
                uses: is_tool.then(|| of_source.map(calls_of).sum()),
                tools: if source.kind == SourceKind::Server { tally.sources.len() } else { 0 },
                message: tally.per_message.keys().next().copied(),
                source,
            }
        };
        let mut rows: Vec<SourceRow> = tallies.into_iter().map(row).collect();
        rows.extend(not_recorded(case, recorded, &prices));
        rows.sort_by(|a, b| {
            (Reverse(a.cumulative), &a.source).cmp(&(Reverse(b.cumulative), &b.source))
        });
        Self { rows, sources }
    }

    /// Returns the servers, and the tools that belong to none, that no call used.
    pub fn unused(&self) -> impl Iterator<Item = &SourceRow> {
        let is_whole = |row: &&SourceRow| row.source.server().is_none();
        self.rows.iter().filter(is_whole).filter(|row| row.uses == Some(0))
    }
}

/// Returns the row of what every call sends and the file does not record.
fn not_recorded(
    case: &Case,
    recorded: &Outcome,
    prices: &BTreeMap<usize, PromptPrice>,
) -> Option<SourceRow> {
    let answered = recorded.samples.iter().filter(|sample| !sample.is_rejected);
    let calls: Vec<(usize, Tokens)> = answered
        .map(|sample| (sample.call, case.ledger.overhead_at(sample.call)))
        .filter(|(_, tokens)| *tokens > Tokens::ZERO)
        .collect();
    let usd = |(call, tokens): &(usize, Tokens)| Some(prices.get(call)?.of(Tokens::ZERO, *tokens));
    Some(SourceRow {
        source: Source::new(SourceKind::NotRecorded, ""),
        tokens: calls.iter().map(|(_, tokens)| *tokens).max()?,
        calls: calls.len(),
        cumulative: calls.iter().map(|(_, tokens)| *tokens).sum(),
        usd: calls.iter().map(usd).sum(),
        uses: None,
        tools: 0,
        message: None,
    })
}
