//! Breakdown of the full history: its parts, the largest of them, and kinds of messages.

use crate::engine::Case;
use crate::session::{Body, Kind, Message, Part, Session, kind_of};
use crate::tokens::TokenLedger;
use crate::units::Tokens;

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
    let describe = |(tokens, message, part): (Tokens, usize, usize)| {
        let (owner, piece) = (&case.session.messages[message], &case.session.parts[part]);
        let tool = case.index.calls.tool_of(&case.session, part).map(str::to_owned);
        LargestPart { message, part, kind: kind_of(owner, piece), tool, tokens }
    };
    parts.into_iter().map(describe).collect()
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
pub(super) fn history_parts(session: &Session) -> impl Iterator<Item = (usize, usize)> {
    let messages = session.messages.iter().enumerate().filter(|(_, m)| m.in_history);
    messages.flat_map(|(idx, m)| m.parts.clone().map(move |part| (idx, part)))
}
