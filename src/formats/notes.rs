//! What is odd about a file, gathered by place while it is read.

use super::{Warning, counts};
use crate::session::Usage;
use crate::units::Tokens;
use std::collections::HashSet;

/// Things to tell about a file.
#[derive(Debug, Default)]
pub(super) struct Notes {
    found: Vec<(usize, String)>,
    said: HashSet<String>,
}

impl Notes {
    /// Something at this byte of the file.
    pub(super) fn add(&mut self, at: usize, text: impl Into<String>) {
        self.found.push((at, text.into()));
    }

    /// The same, told once however often it is found.
    pub(super) fn once(&mut self, at: usize, text: impl Into<String>) {
        let text = text.into();
        if self.said.insert(text.clone()) {
            self.found.push((at, text));
        }
    }

    /// What a provider reported, unless it cannot be right.
    pub(super) fn usage(&mut self, at: usize, usage: Option<Usage>) -> Option<Usage> {
        counts::checked_usage(usage).unwrap_or_else(|why| {
            self.add(at, why);
            None
        })
    }

    /// A count, unless it cannot be right; `what` names it.
    pub(super) fn tokens(
        &mut self,
        at: usize,
        tokens: Option<Tokens>,
        what: &str,
    ) -> Option<Tokens> {
        counts::checked(tokens, what).unwrap_or_else(|why| {
            self.once(at, why);
            None
        })
    }

    /// All of it as warnings with lines, in file order.
    pub(super) fn warnings(mut self, bytes: &[u8]) -> Vec<Warning> {
        self.found.sort();
        self.found.dedup();
        let (mut line, mut from) = (1, 0);
        let place = |(at, text): (usize, String)| {
            let at = at.min(bytes.len());
            line += bytes[from..at].split(|b| *b == b'\n').count() - 1;
            from = at;
            Warning {
                line: Some(line),
                text,
            }
        };
        self.found.into_iter().map(place).collect()
    }
}
