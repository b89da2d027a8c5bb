//! The session as if some sources had never been sent.
//!
//! Definitions and texts leave the messages, so that every lane, threshold and price is computed without them. The reported
//! usage is reduced by their tokens, first where the prompt was read from the cache, since they are at its beginning. What
//! the agent did with a tool stays: nobody knows what it would have done without it.

use super::pieces::{Piece, Sources};
use super::source::{Selector, Source};
use crate::analysis::resent::sendings;
use crate::engine::Case;
use crate::session::{Body, Session, Usage};
use crate::units::Tokens;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The session without some sources.
#[derive(Clone, Debug)]
pub struct Without {
    /// The session, with its counts.
    pub case: Case,
    /// The sources that were removed.
    pub removed: Vec<Source>,
    /// Their tokens, each counted once.
    pub tokens: Tokens,
    /// Number of recorded calls of removed tools, which stay in the conversation.
    pub uses: usize,
}

/// Removes the selected sources from a session.
///
/// # Errors
/// The index of the first selector that selects nothing.
pub fn without(case: &Case, selectors: &[Selector]) -> Result<Without, usize> {
    let sources = Sources::new(case);
    for (at, selector) in selectors.iter().enumerate() {
        if !sources.all.iter().any(|source| selector.matches(source)) {
            return Err(at);
        }
    }
    let is_removed: Vec<bool> = sources
        .all
        .iter()
        .map(|source| selectors.iter().any(|selector| selector.matches(source)))
        .collect();
    let pieces: Vec<&Piece> =
        sources.pieces.iter().filter(|piece| is_removed[piece.source]).collect();
    let mut session = (*case.session).clone();
    reduce_usage(&mut session, &pieces);
    let per_part = remove(&mut session, &pieces);
    let removed: Vec<Source> = sources
        .all
        .iter()
        .zip(&is_removed)
        .filter(|(_, is)| **is)
        .map(|(s, _)| s.clone())
        .collect();
    let is_removed_tool = |tool: &str| {
        removed.iter().any(|source| source.kind == super::SourceKind::Tool && source.name == tool)
    };
    let calls = session
        .parts
        .iter()
        .filter(|part| matches!(&part.body, Body::ToolCall { tool, .. } if is_removed_tool(tool)));
    let uses = calls.count();
    let ledger = case.ledger.with_tokens(&session, &per_part);
    Ok(Without {
        case: case.with_session(Arc::new(session), ledger),
        removed,
        tokens: pieces.iter().map(|piece| piece.tokens).sum(),
        uses,
    })
}

/// Removes the pieces from the parts, which keep their numbers. Returns for each part its index and the tokens that it lost.
fn remove(session: &mut Session, pieces: &[&Piece]) -> Vec<(usize, Tokens)> {
    let mut lost: Vec<(usize, Tokens)> =
        (0..session.parts.len()).map(|part| (part, Tokens::ZERO)).collect();
    for pieces in pieces.chunk_by(|a, b| a.part == b.part) {
        let at = pieces[0].part;
        lost[at].1 = pieces.iter().map(|piece| piece.tokens).sum();
        let part = &mut session.parts[at];
        part.body = match &part.body {
            Body::ToolDefinition { tool, .. } => {
                Body::ToolDefinition { tool: tool.clone(), json: "".into() }
            }
            body => {
                let text = body.text();
                let mut left = String::with_capacity(text.len());
                let mut from = 0;
                for piece in pieces {
                    left.push_str(&text[from..piece.range.start]);
                    from = piece.range.end;
                }
                left.push_str(&text[from..]);
                Body::Text(left.into())
            }
        };
    }
    lost
}

/// Reduces what the provider and the program reported by the tokens that each call no longer sends.
fn reduce_usage(session: &mut Session, pieces: &[&Piece]) {
    let mut by_message: BTreeMap<usize, Tokens> = BTreeMap::new();
    for piece in pieces {
        *by_message.entry(piece.message).or_default() += piece.tokens;
    }
    let mut removed = vec![Tokens::ZERO; session.calls.len()];
    for (message, calls) in sendings(session) {
        if let Some(tokens) = by_message.get(&message) {
            removed[calls].iter_mut().for_each(|sum| *sum += *tokens);
        }
    }
    for (call, tokens) in session.calls.iter_mut().zip(&removed) {
        call.usage = call.usage.map(|usage| reduced(usage, *tokens));
        call.rejected_size = call.rejected_size.map(|size| size - *tokens);
    }
    for compaction in &mut session.compactions {
        let before = compaction.call.checked_sub(1).and_then(|call| removed.get(call));
        let after = removed.get(compaction.call).or(before).copied().unwrap_or_default();
        let before = before.copied().unwrap_or(after);
        compaction.tokens_before = compaction.tokens_before.map(|tokens| tokens - before);
        compaction.tokens_after = compaction.tokens_after.map(|tokens| tokens - after);
    }
    // The program's totals are of what was sent.
    session.totals.clear();
}

/// Takes tokens at the beginning of a prompt out of its usage: first from what was read from the cache, then from what was
/// written, then from the rest.
fn reduced(usage: Usage, tokens: Tokens) -> Usage {
    let tokens = tokens.min(usage.input);
    let read = tokens.min(usage.cache_read.unwrap_or_default());
    let written = (tokens - read).min(usage.cache_write.unwrap_or_default());
    let hour = usage
        .cache_write_hour
        .map(|hour| hour.min(usage.cache_write.unwrap_or_default() - written));
    Usage {
        input: usage.input - tokens,
        cache_read: usage.cache_read.map(|all| all - read),
        cache_write: usage.cache_write.map(|all| all - written),
        cache_write_hour: hour,
        ..usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_tokens_leave_the_cache_first() {
        let usage = Usage {
            input: Tokens(100),
            cache_read: Some(Tokens(60)),
            cache_write: Some(Tokens(30)),
            ..Usage::default()
        };
        let less = reduced(usage, Tokens(70));
        assert_eq!(
            (less.input, less.cache_read, less.cache_write),
            (Tokens(30), Some(Tokens::ZERO), Some(Tokens(20)))
        );
        assert_eq!(reduced(usage, Tokens(500)).input, Tokens::ZERO);
    }
}
