//! The query language of find, filters and search: words and terms such as `kind:result` or `tokens>2000`.
//!
//! A message matches a query if it matches every term. `-` before a term negates it. Text is searched in any case.

mod complete;
mod hits;
mod needle;
mod parse;
mod snippet;
mod subject;
mod valid_values;

pub use complete::complete;
pub use hits::{Direction, Hit, Hits};
pub use needle::Needle;
pub use parse::QueryError;
pub use snippet::{FoundMessage, SnippetPiece};
pub use subject::QuerySubject;

use crate::session::{Kind, Role, Session};
use crate::tokens::TokenLedger;
use rayon::prelude::*;
use std::ops::{Range, RangeInclusive};

/// A parsed query. The default matches every message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Those that read text are last, since they take longest.
    terms: Vec<Term>,
}

/// A condition and whether it is negated.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    is_negated: bool,
    test: Test,
}

/// A condition on a message.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Text(Needle),
    Kind(Kind),
    Role(Role),
    Tool(ToolPattern),
    Is(Flag),
    Number(NumberKey, RangeInclusive<u64>),
}

/// A number that a message has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberKey {
    Tokens,
    Call,
    Turn,
    Message,
}

/// A property that a message has or lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    Error,
    Injected,
    Summary,
}

/// A tool name in lower case; `*` at an end matches any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ToolPattern(String);

impl ToolPattern {
    fn matches(&self, tool: &str) -> bool {
        let tool = tool.to_lowercase();
        let pattern = self.0.as_str();
        match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(rest), Some(_)) => tool.contains(rest.trim_end_matches('*')),
            (Some(end), None) => tool.ends_with(end),
            (None, Some(start)) => tool.starts_with(start),
            (None, None) => tool == pattern,
        }
    }
}

impl Query {
    /// Returns whether every message matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns whether a message matches.
    pub fn accepts(&self, subject: &QuerySubject<'_>) -> bool {
        let holds = |term: &Term| subject.passes(&term.test) != term.is_negated;
        self.terms.iter().all(holds)
    }

    /// Returns whether a message of a session matches, by its index.
    pub fn matches(&self, session: &Session, ledger: &TokenLedger, message: usize) -> bool {
        self.is_empty() || self.accepts(&QuerySubject::new(session, Some(ledger), message))
    }

    /// Returns whether a term compares tokens, so that they must be counted.
    pub fn needs_tokens(&self) -> bool {
        let is_tokens = |term: &Term| matches!(term.test, Test::Number(NumberKey::Tokens, _));
        self.terms.iter().any(is_tokens)
    }

    /// Returns the indices of the messages that match, in conversation order.
    pub fn matching(&self, session: &Session, ledger: &TokenLedger) -> Vec<u32> {
        let all = 0..session.messages.len() as u32;
        if self.is_empty() {
            return all.collect();
        }
        let is_match = |message: &u32| self.matches(session, ledger, *message as usize);
        all.into_par_iter().filter(is_match).collect()
    }

    /// Returns the texts that a message contains if it matches.
    pub fn needles(&self) -> impl Iterator<Item = &Needle> {
        self.terms.iter().filter_map(|term| match &term.test {
            Test::Text(needle) if !term.is_negated => Some(needle),
            _ => None,
        })
    }

    /// Returns where the texts occur, in order and without overlaps.
    pub fn occurrences(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<_> = self.needles().flat_map(|needle| needle.find_in(text)).collect();
        found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        found.retain(|range| {
            let is_free = range.start >= end;
            end = if is_free { range.end } else { end };
            is_free
        });
        found
    }
}

impl NumberKey {
    const ALL: [Self; 4] = [Self::Tokens, Self::Call, Self::Turn, Self::Message];

    fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Call => "call",
            Self::Turn => "turn",
            Self::Message => "message",
        }
    }
}

impl Flag {
    const ALL: [Self; 3] = [Self::Error, Self::Injected, Self::Summary];

    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Injected => "injected",
            Self::Summary => "summary",
        }
    }
}

/// Returns the name of a kind in queries and in the window.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::ToolCall => "call",
        Kind::ToolResult => "result",
        kind => kind.name(),
    }
}

#[cfg(test)]
mod tests;
