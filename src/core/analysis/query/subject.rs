//! A message as queries read it: in an open session, or restored from a search index.

use super::{Flag, NumberKey, Test};
use crate::session::{Body, Message, Part, Session, kind_of};
use crate::tokens::TokenLedger;
use crate::units::Tokens;

/// A message with what queries read.
#[derive(Clone, Copy, Debug)]
pub struct QuerySubject<'a> {
    /// Index of the message.
    pub index: usize,
    /// The message.
    pub message: &'a Message,
    /// Its parts.
    pub parts: &'a [Part],
    /// Index of the call that wrote it or included it first; `None` if no call included it.
    pub call: Option<usize>,
    /// Its tokens; `None` if they are not counted.
    pub tokens: Option<Tokens>,
}

impl<'a> QuerySubject<'a> {
    /// Returns a message of a session. Without a ledger, its tokens are unknown.
    pub fn new(session: &'a Session, ledger: Option<&TokenLedger>, index: usize) -> Self {
        let message = &session.messages[index];
        Self {
            index,
            message,
            parts: session.parts_of(message),
            call: session.call_of(index),
            tokens: ledger.map(|ledger| ledger.message(index)),
        }
    }

    fn is(&self, flag: Flag) -> bool {
        let failed = |part: &Part| matches!(part.body, Body::ToolResult { is_error: true, .. });
        match flag {
            Flag::Error => self.parts.iter().any(failed),
            Flag::Injected => self.message.is_injected,
            Flag::Summary => self.message.is_summary,
        }
    }

    /// Returns the number as the window shows it; `None` if the message has none.
    pub(super) fn number(&self, key: NumberKey) -> Option<u64> {
        match key {
            NumberKey::Tokens => Some(self.tokens?.0),
            NumberKey::Call => Some(self.call? as u64 + 1),
            NumberKey::Turn => Some(self.message.turn.into()).filter(|turn| *turn > 0),
            NumberKey::Message => Some(self.index as u64 + 1),
        }
    }

    pub(super) fn passes(&self, test: &Test) -> bool {
        match test {
            Test::Text(needle) => self.parts.iter().any(|part| {
                let tool = part.body.tool().unwrap_or_default();
                needle.is_in(tool) || needle.is_in(part.body.text())
            }),
            Test::Kind(kind) => {
                let is_it = |part: &Part| kind_of(self.message, part) == *kind;
                self.parts.iter().any(is_it)
            }
            Test::Role(role) => self.message.author(self.parts) == *role,
            Test::Tool(pattern) => {
                let mut tools = self.parts.iter().filter_map(|part| part.body.tool());
                tools.any(|tool| pattern.matches(tool))
            }
            Test::Is(flag) => self.is(*flag),
            Test::Number(key, range) => self.number(*key).is_some_and(|n| range.contains(&n)),
        }
    }
}
