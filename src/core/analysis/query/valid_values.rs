//! Valid values for terms that no message of a session can match.

use super::{NumberKey, Query, QuerySubject, Test};
use crate::session::Session;
use std::collections::BTreeSet;

impl Query {
    /// Returns a line of valid values for each term with a number beyond the last one of the session, or with a tool
    /// that the session does not use.
    pub fn valid_values(&self, session: &Session) -> Vec<String> {
        let terms = self.terms.iter().filter(|term| !term.is_negated);
        let lines = terms.filter_map(|term| match &term.test {
            Test::Number(NumberKey::Tokens, _) => None,
            Test::Number(key, range) => {
                let messages = 0..session.messages.len();
                let numbers =
                    messages.filter_map(|m| QuerySubject::new(session, None, m).number(*key));
                let last = numbers.max()?;
                (*range.start() > last).then(|| format!("{}s: 1 to {last}", key.name()))
            }
            Test::Tool(pattern) => {
                let parts = session.messages.iter().flat_map(|m| session.parts_of(m));
                let tools: BTreeSet<&str> = parts.filter_map(|part| part.body.tool()).collect();
                let is_used = tools.is_empty() || tools.iter().any(|tool| pattern.matches(tool));
                (!is_used).then(|| format!("tools: {}", Vec::from_iter(tools).join(", ")))
            }
            _ => None,
        });
        lines.collect()
    }
}
