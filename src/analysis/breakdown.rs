//! What the full history is made of: its heaviest parts, and which tools they belong to.

use crate::engine::Case;
use crate::session::{Body, Kind, Session, kind_of};
use crate::units::Tokens;
use std::collections::{BTreeMap, HashMap};

/// One of the heaviest parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargestPart {
    /// Index of its message.
    pub message: usize,
    /// Index of the part.
    pub part: usize,
    /// What it counts as.
    pub kind: Kind,
    /// Its tool, if any.
    pub tool: Option<String>,
    /// True tokens.
    pub tokens: Tokens,
}

/// The heaviest parts of the full history, heaviest first, the earlier of equals first.
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

/// True tokens of calls and results by tool, heaviest first; a picture in a result counts with its tool.
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

/// Every part of the full history with its message, in order.
fn history_parts(session: &Session) -> impl Iterator<Item = (usize, usize)> {
    let messages = session
        .messages
        .iter()
        .enumerate()
        .filter(|(_, m)| m.in_history);
    messages.flat_map(|(idx, m)| m.parts.clone().map(move |part| (idx, part)))
}

/// The tool that each call asked for, where some part names its call alone. Ids may repeat; the tool hardly ever differs
/// then.
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

/// The tool of a part; some formats name it in the call only.
fn tool_of<'a>(tools: &HashMap<&str, &'a str>, body: &'a Body) -> Option<&'a str> {
    match names_call_alone(body) {
        Some(call) => tools.get(call).copied(),
        None => body.tool(),
    }
}

/// The call of a part that does not name its tool.
fn names_call_alone(body: &Body) -> Option<&str> {
    match body {
        Body::ToolResult { call, tool, .. } if tool.is_empty() => Some(call),
        Body::Media { within, .. } => within.as_deref(),
        _ => None,
    }
}
