//! The query language of find, filters and search: words and terms such as `kind:result` or `tokens>2000`.
//!
//! A message matches a query if it matches every term. `-` before a term negates it. Text is searched in any case.

mod complete;
mod hits;
mod needle;
mod parse;

pub use complete::complete;
pub use hits::{Hit, Hits};
pub use needle::Needle;
pub use parse::QueryError;

use crate::session::{Body, Kind, Message, Part, Role, Session, kind_of};
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

/// A message with what tests read.
struct Subject<'a> {
    idx: usize,
    session: &'a Session,
    message: &'a Message,
    ledger: &'a TokenLedger,
}

impl Subject<'_> {
    fn parts(&self) -> &[Part] {
        self.session.parts_of(self.message)
    }

    fn is(&self, flag: Flag) -> bool {
        let failed = |part: &Part| matches!(part.body, Body::ToolResult { is_error: true, .. });
        match flag {
            Flag::Error => self.parts().iter().any(failed),
            Flag::Injected => self.message.is_injected,
            Flag::Summary => self.message.is_summary,
        }
    }

    /// Returns the number as the window shows it; `None` if the message has none.
    fn number(&self, key: NumberKey) -> Option<u64> {
        match key {
            NumberKey::Tokens => Some(self.ledger.message(self.idx).0),
            NumberKey::Call => Some(self.session.call_of(self.idx)? as u64 + 1),
            NumberKey::Turn => Some(self.message.turn.into()).filter(|turn| *turn > 0),
            NumberKey::Message => Some(self.idx as u64 + 1),
        }
    }

    fn passes(&self, test: &Test) -> bool {
        match test {
            Test::Text(needle) => self.parts().iter().any(|part| {
                let tool = part.body.tool().unwrap_or_default();
                needle.is_in(tool) || needle.is_in(part.body.text())
            }),
            Test::Kind(kind) => {
                let is_it = |part: &Part| kind_of(self.message, part) == *kind;
                self.parts().iter().any(is_it)
            }
            Test::Role(role) => self.message.role == *role,
            Test::Tool(pattern) => {
                let tools = self.parts().iter().filter_map(|part| part.body.tool());
                tools.into_iter().any(|tool| pattern.matches(tool))
            }
            Test::Is(flag) => self.is(*flag),
            Test::Number(key, range) => self.number(*key).is_some_and(|n| range.contains(&n)),
        }
    }
}

impl Query {
    /// Returns whether every message matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns whether a message matches, by its index.
    pub fn matches(&self, session: &Session, ledger: &TokenLedger, message: usize) -> bool {
        let subject = Subject {
            idx: message,
            session,
            message: &session.messages[message],
            ledger,
        };
        let holds = |term: &Term| subject.passes(&term.test) != term.is_negated;
        self.terms.iter().all(holds)
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
        let mut found: Vec<_> = self
            .needles()
            .flat_map(|needle| needle.find_in(text))
            .collect();
        found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        found.retain(|range| {
            let is_free = range.start >= end;
            end = if is_free { range.end } else { end };
            is_free
        });
        found
    }

    /// Returns the texts and whether each is negated, for an index that contains text only.
    ///
    /// # Errors
    /// Returns the name of the first key that such an index cannot answer.
    pub fn only_text(&self) -> Result<Vec<(&str, bool)>, &'static str> {
        let terms = self.terms.iter().map(|term| match &term.test {
            Test::Text(needle) => Ok((needle.as_str(), term.is_negated)),
            other => Err(other.key()),
        });
        terms.collect()
    }
}

impl Test {
    fn key(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Kind(_) => "kind",
            Self::Role(_) => "role",
            Self::Tool(_) => "tool",
            Self::Is(_) => "is",
            Self::Number(key, _) => key.name(),
        }
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

const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];

/// Returns the name of a kind in queries, as the window shows it.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::ToolCall => "call",
        Kind::ToolResult => "result",
        kind => kind.name(),
    }
}

/// Summary of the language for help texts.
pub const HELP: &str = "words, \"a phrase\", text:WORD, kind:result, role:user, tool:Bash, tokens>2000, \
    call:20-34, turn:3, message:12, is:error; - negates a term";

#[cfg(test)]
mod tests;
