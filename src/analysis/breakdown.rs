//! Breakdown of the full history: the largest parts, and tokens by tool.

use crate::engine::Case;
use crate::session::{Body, Kind, Session, kind_of};
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
        let (said, piece) = (&case.session.messages[message], &case.session.parts[part]);
        let tool = tool_of(&tools, &piece.body).map(str::to_owned);
        LargestPart {
            message,
            part,
            kind: kind_of(said, piece),
            tool,
            tokens,
        }
    };
    parts.into_iter().map(describe).collect()
}

/// Returns the tokens of calls and results by tool, largest first. An image in a result counts for its tool.
pub fn tokens_by_tool(case: &Case) -> Vec<(String, Tokens)> {
    let tools = tools_of_calls(&case.session);
    let mut sums: BTreeMap<&str, Tokens> = BTreeMap::new();
    for (_, part) in history_parts(&case.session) {
        let body = &case.session.parts[part].body;
        if matches!(body, Body::ToolDefinition { .. }) {
            continue;
        }
        if let Some(tool) = tool_of(&tools, body) {
            *sums.entry(tool).or_default() += case.ledger.part(part);
        }
    }
    let mut all: Vec<_> = sums
        .into_iter()
        .map(|(tool, tokens)| (tool.to_owned(), tokens))
        .collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}

/// Returns every part of the full history with its message, in order.
fn history_parts(session: &Session) -> impl Iterator<Item = (usize, usize)> {
    let messages = session
        .messages
        .iter()
        .enumerate()
        .filter(|(_, m)| m.in_history);
    messages.flat_map(|(idx, m)| m.parts.clone().map(move |part| (idx, part)))
}

/// Returns the tool of each call by its id, if some part names only its call. Repeated ids nearly always have the same
/// tool.
fn tools_of_calls(session: &Session) -> HashMap<&str, &str> {
    if !session
        .parts
        .iter()
        .any(|part| names_call_alone(&part.body).is_some())
    {
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
