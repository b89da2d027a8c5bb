//! Warnings collected by byte position while a file is read.

use super::{Warning, counts, json};
use crate::session::{FileBytes, Session, Usage};
use crate::units::Tokens;
use std::collections::HashSet;

/// Maximum number of warnings for one file.
// Chosen (docs/decisions/0017): nobody reads more, and a damaged file of a gigabyte could have millions.
const MAX_WARNINGS: usize = 1_000;

/// Returns a warning that `n` more warnings are left out.
fn left_out(n: usize) -> Warning {
    let (end, verb) = if n == 1 { ("", "is") } else { ("s", "are") };
    Warning { line: None, text: format!("{n} more warning{end} {verb} left out") }
}

/// Returns a warning with its line for each implausible usage report.
pub(super) fn left_out_usage(sessions: &[Session]) -> Vec<Warning> {
    let of_session = |session: &Session| {
        let mut notes = Notes::default();
        let left_out = |at: usize| session.calls[at].left_out;
        let places = 0..session.calls.len();
        let is_placeholder = |at: &usize| left_out(*at).is_some_and(|found| found.times.is_none());
        let n_placeholders = places.clone().filter(is_placeholder).count();
        if let Some(found) = places.clone().find(is_placeholder).and_then(left_out) {
            notes.add(
                0,
                format!(
                    "{n_placeholders} calls report {} tokens each, although the conversation grows; this is a placeholder and was left out",
                    found.reported.0
                ),
            );
        }
        for at in places {
            let Some((found, times)) = left_out(at).and_then(|found| Some((found, found.times?)))
            else {
                continue;
            };
            let answer = session.messages.iter().find(|m| m.call == Some(at));
            let place = answer.and_then(|answer| Some(answer.raw.last()?.start));
            notes.add(
                place.unwrap_or(0),
                format!(
                    "call {} reports {} tokens, {times:.0} times as many as the calls around it; this cannot be right and was left out",
                    at + 1,
                    found.reported.0
                ),
            );
        }
        notes.warnings(&session.source.bytes)
    };
    sessions.iter().flat_map(of_session).collect()
}

/// Returns the warning about a message whose role the format does not define.
pub(super) fn unknown_role(role: &str) -> String {
    let role = json::shortened(role);
    format!("a message with the unknown role `{role}` is kept, but not sent to the model")
}

/// Truncates the warnings to the maximum.
pub(super) fn sum_up(warnings: &mut Vec<Warning>) {
    if warnings.len() > 2 * MAX_WARNINGS {
        let n = warnings.len() - MAX_WARNINGS;
        warnings.truncate(MAX_WARNINGS);
        warnings.push(left_out(n));
    }
}

/// Warnings about a file, by byte position.
#[derive(Debug, Default)]
pub(super) struct Notes {
    found: Vec<(usize, String)>,
    once_texts: HashSet<String>,
    /// Number of warnings beyond the maximum.
    n_more: usize,
}

impl Notes {
    /// Adds a warning about this byte of the file.
    pub(super) fn add(&mut self, at: usize, text: impl Into<String>) {
        if self.found.len() < MAX_WARNINGS {
            self.found.push((at, text.into()));
        } else {
            self.n_more += 1;
        }
    }

    /// Adds a warning unless one with this text was added before.
    pub(super) fn once(&mut self, at: usize, text: impl Into<String>) {
        let text = text.into();
        if self.once_texts.len() < MAX_WARNINGS && self.once_texts.insert(text.clone()) {
            self.add(at, text);
        }
    }

    /// Returns a plausible usage, else adds a warning.
    pub(super) fn usage(&mut self, at: usize, usage: Option<Usage>) -> Option<Usage> {
        counts::checked_usage(usage).unwrap_or_else(|why| {
            self.add(at, why);
            None
        })
    }

    /// Returns a plausible count, else adds a warning that names it as `what`.
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

    /// Returns the warnings with line numbers, in file order.
    pub(super) fn warnings(mut self, bytes: &FileBytes) -> Vec<Warning> {
        self.found.sort();
        self.found.dedup();
        let (mut line, mut from) = (1, 0);
        let place = |(at, text): (usize, String)| {
            let at = at.min(bytes.len());
            line += bytes.line_ends(&(from..at));
            from = at;
            Warning { line: Some(line), text }
        };
        let mut warnings: Vec<Warning> = self.found.into_iter().map(place).collect();
        if self.n_more > 0 {
            warnings.push(left_out(self.n_more));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_warnings_and_counts_the_rest() {
        let mut notes = Notes::default();
        for at in 0..=MAX_WARNINGS {
            notes.add(at, "odd");
        }
        let warnings = notes.warnings(&vec![b' '; MAX_WARNINGS].into());
        assert_eq!(warnings.len(), MAX_WARNINGS + 1);
        assert_eq!(warnings[MAX_WARNINGS].to_string(), "1 more warning is left out");
        let mut many = [&warnings[..]; 3].concat();
        sum_up(&mut many);
        assert_eq!(many.len(), MAX_WARNINGS + 1);
        assert_eq!(many[MAX_WARNINGS].to_string(), "2003 more warnings are left out");
        sum_up(&mut many);
        assert_eq!(many.len(), MAX_WARNINGS + 1);
    }
}
