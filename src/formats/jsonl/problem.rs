//! What is wrong with lines, as warnings that stay few.

use crate::formats::Warning;

/// A file with more bad lines than this is summed up rather than listed; so is one with more odd ones.
const MAX_LINES_LISTED: usize = 50;

/// What is wrong with a line.
pub(super) enum Problem {
    Torn(usize),
    Glued(usize),
    Bad(String),
    Nul,
    NotUtf8,
}

impl Problem {
    pub(super) fn is_bad(&self) -> bool {
        matches!(self, Self::Bad(_))
    }

    fn sentence(&self) -> String {
        match self {
            Self::Torn(bytes) => {
                format!("the last line is cut off, its {bytes} bytes were left out")
            }
            Self::Glued(n) => format!("{n} records are glued on one line"),
            Self::Bad(why) => format!("this line could not be read: {why}"),
            Self::Nul => "NUL bytes were passed over".to_owned(),
            Self::NotUtf8 => "some bytes are not UTF-8".to_owned(),
        }
    }
}

/// How many problems were met.
#[derive(Default)]
pub(super) struct Said {
    bad: usize,
    odd: usize,
}

impl Said {
    /// Warns of the first.
    pub(super) fn note(&mut self, line: usize, problems: &[Problem], warnings: &mut Vec<Warning>) {
        for problem in problems {
            let before = if problem.is_bad() {
                &mut self.bad
            } else {
                &mut self.odd
            };
            *before += 1;
            if *before <= MAX_LINES_LISTED || matches!(problem, Problem::Torn(_)) {
                warnings.push(Warning {
                    line: Some(line),
                    text: problem.sentence(),
                });
            }
        }
    }

    /// Warns of how many more there were.
    pub(super) fn sum_up(self, warnings: &mut Vec<Warning>) {
        for (n, what) in [(self.bad, "could not be read"), (self.odd, "like these")] {
            let more = n.saturating_sub(MAX_LINES_LISTED);
            if more > 0 {
                let text = format!(
                    "{more} more line{} {what}",
                    if more == 1 { "" } else { "s" }
                );
                warnings.push(Warning { line: None, text });
            }
        }
    }
}
