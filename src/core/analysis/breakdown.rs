//! Breakdown of the full history: the largest parts, and tokens by tool.

use crate::engine::Case;
use crate::session::{Body, Kind, Message, Part, Session, kind_of};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::collections::{BTreeMap, HashMap};

/// One of the largest parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargestPart {
    /// Index of its message.
    pub message: usize,
    /// Index of the part.
    pub part: usize,
    /// Kind of the part.
    pub kind: Kind,
    /// Name of the tool, if any.
    pub tool: Option<String>,
    /// Actual tokens.
    pub tokens: Tokens,
}

/// Returns the largest parts of the full history, largest first. Equal parts keep their order.
pub fn largest_parts(case: &Case, n: usize) -> Vec<LargestPart> {
    let mut parts: Vec<(Tokens, usize, usize)> = history_parts(&case.session)
        .map(|(message, part)| (case.ledger.part(part), message, part))
        .filter(|(tokens, ..)| tokens.0 > 0)
        .collect();
    parts.sort_by_key(|(tokens, _, part)| (std::cmp::Reverse(*tokens), *part));
    parts.truncate(n);
    let tools = tools_of_calls(&case.session);
    let describe = |(tokens, message, part): (Tokens, usize, usize)| {
        let (owner, piece) = (&case.session.messages[message], &case.session.parts[part]);
        let tool = tool_of(&tools, &piece.body).map(str::to_owned);
        LargestPart { message, part, kind: kind_of(owner, piece), tool, tokens }
    };
    parts.into_iter().map(describe).collect()
}

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
    let tools = tools_of_calls(&case.session);
    let mut uses: BTreeMap<&str, ToolUse> = BTreeMap::new();
    for (_, part) in history_parts(&case.session) {
        let body = &case.session.parts[part].body;
        if matches!(body, Body::ToolDefinition { .. }) {
            continue;
        }
        if let Some(tool) = tool_of(&tools, body) {
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

/// Returns the part with the most tokens of a message, the first of equal ones; `None` if it has no part.
pub fn heaviest_part(ledger: &TokenLedger, message: &Message) -> Option<usize> {
    let parts = message.parts.clone();
    parts.reduce(|a, b| if ledger.part(b) > ledger.part(a) { b } else { a })
}

/// Returns the kind of a message: that of its part with the most tokens.
pub fn message_kind(case: &Case, message: &Message) -> Kind {
    let empty = Part { body: Body::Text("".into()), record: 0, block: 0 };
    let heaviest = heaviest_part(&case.ledger, message);
    let part = heaviest.map_or(&empty, |part| &case.session.parts[part]);
    kind_of(message, part)
}

/// Returns every part of the full history with its message, in order.
fn history_parts(session: &Session) -> impl Iterator<Item = (usize, usize)> {
    let messages = session.messages.iter().enumerate().filter(|(_, m)| m.in_history);
    messages.flat_map(|(idx, m)| m.parts.clone().map(move |part| (idx, part)))
}

/// Returns the tool of each call by its id, if some part names only its call. Repeated ids nearly always have the same
/// tool.
fn tools_of_calls(session: &Session) -> HashMap<&str, &str> {
    if !session.parts.iter().any(|part| names_call_alone(&part.body).is_some()) {
        return HashMap::new();
    }
    let calls = session.parts.iter().filter_map(|p| match &p.body {
        Body::ToolCall { call, tool, .. } => Some((&**call, &**tool)),
        _ => None,
    });
    calls.collect()
}

/// Returns the tool of a part. Some formats name it in the call only.
fn tool_of<'a>(tools: &HashMap<&str, &'a str>, body: &'a Body) -> Option<&'a str> {
    match names_call_alone(body) {
        Some(call) => tools.get(call).copied(),
        None => body.tool(),
    }
}

/// Returns the id of the call of a part that does not name its tool.
fn names_call_alone(body: &Body) -> Option<&str> {
    match body {
        Body::ToolResult { call, tool, .. } if tool.is_empty() => Some(call),
        Body::Media { within, .. } => within.as_deref(),
        _ => None,
    }
}
