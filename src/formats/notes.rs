//! What is odd about a file, gathered by place while it is read.

use super::{Warning, counts};
use crate::session::{FileBytes, Session, Usage};
use crate::units::Tokens;
use std::collections::HashSet;

/// No more is told of one file: nobody reads on, and each line of a large one could have its own.
const MOST: usize = 1_000;

/// So many warnings are not told.
fn left_out(n: usize) -> Warning {
    let (end, verb) = if n == 1 { ("", "is") } else { ("s", "are") };
    Warning {
        line: None,
        text: format!("{n} more warning{end} {verb} left out"),
    }
}

/// A word on each report of usage that cannot be right, with its line.
pub(super) fn left_out_usage(sessions: &[Session]) -> Vec<Warning> {
    let of_session = |session: &Session| {
        let mut notes = Notes::default();
        for (at, step) in session.steps.iter().enumerate() {
            let Some(found) = step.left_out else {
                continue;
            };
            let answer = session.messages.iter().find(|m| m.step == Some(at));
            let place = answer.and_then(|answer| Some(answer.raw.last()?.start));
            let times = found.times;
            notes.add(
                place.unwrap_or(0),
                format!(
                    "call {} reports {} tokens, {times:.0} times what the calls around it report: that cannot be right and was left out",
                    at + 1,
                    found.reported.0
                ),
            );
        }
        notes.warnings(&session.source.bytes)
    };
    sessions.iter().flat_map(of_session).collect()
}

/// Leaves out what goes beyond what is told.
pub(super) fn sum_up(warnings: &mut Vec<Warning>) {
    if warnings.len() > 2 * MOST {
        let n = warnings.len() - MOST;
        warnings.truncate(MOST);
        warnings.push(left_out(n));
    }
}

/// Things to tell about a file.
#[derive(Debug, Default)]
pub(super) struct Notes {
    found: Vec<(usize, String)>,
    said: HashSet<String>,
    /// What is not told.
    n_more: usize,
}

impl Notes {
    /// Something at this byte of the file.
    pub(super) fn add(&mut self, at: usize, text: impl Into<String>) {
        if self.found.len() < MOST {
            self.found.push((at, text.into()));
        } else {
            self.n_more += 1;
        }
    }

    /// The same, told once however often it is found.
    pub(super) fn once(&mut self, at: usize, text: impl Into<String>) {
        let text = text.into();
        if self.said.len() < MOST && self.said.insert(text.clone()) {
            self.add(at, text);
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
    pub(super) fn warnings(mut self, bytes: &FileBytes) -> Vec<Warning> {
        self.found.sort();
        self.found.dedup();
        let (mut line, mut from) = (1, 0);
        let place = |(at, text): (usize, String)| {
            let at = at.min(bytes.len());
            line += bytes.line_ends(&(from..at));
            from = at;
            Warning {
                line: Some(line),
                text,
            }
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
    fn of_very_many_things_the_first_are_told_and_the_rest_is_counted() {
        let mut notes = Notes::default();
        for at in 0..=MOST {
            notes.add(at, "odd");
        }
        let warnings = notes.warnings(&vec![b' '; MOST].into());
        assert_eq!(warnings.len(), MOST + 1);
        assert_eq!(warnings[MOST].to_string(), "1 more warning is left out");
        let mut many = [&warnings[..]; 3].concat();
        sum_up(&mut many);
        assert_eq!(many.len(), MOST + 1);
        assert_eq!(many[MOST].to_string(), "2003 more warnings are left out");
        sum_up(&mut many);
        assert_eq!(many.len(), MOST + 1);
    }
}
