//! Problems of lines, reported as a limited number of warnings.

use crate::formats::Warning;

/// Maximum number of invalid lines listed, and of unusual ones. Further lines are only counted.
// Chosen: enough to see what is wrong, and few enough to leave the other warnings visible.
const MAX_LINES_LISTED: usize = 50;

/// A problem of a line.
pub(super) enum Problem {
    Torn(usize),
    Concatenated(usize),
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
                format!("the last line is truncated; its {bytes} bytes were left out")
            }
            Self::Concatenated(n) => format!("{n} records are on one line"),
            Self::Bad(why) => format!("this line could not be read: {why}"),
            Self::Nul => "NUL bytes were ignored".to_owned(),
            Self::NotUtf8 => "some bytes are not UTF-8".to_owned(),
        }
    }
}

/// Number of problems found.
#[derive(Default)]
pub(super) struct ProblemCount {
    bad: usize,
    odd: usize,
}

impl ProblemCount {
    /// Adds warnings about the problems of a line, up to the limit.
    pub(super) fn note(&mut self, line: usize, problems: &[Problem], warnings: &mut Vec<Warning>) {
        for problem in problems {
            let before = if problem.is_bad() { &mut self.bad } else { &mut self.odd };
            *before += 1;
            if *before <= MAX_LINES_LISTED || matches!(problem, Problem::Torn(_)) {
                warnings.push(Warning { line: Some(line), text: problem.sentence() });
            }
        }
    }

    /// Adds a warning with the number of problems beyond the limit.
    pub(super) fn sum_up(self, warnings: &mut Vec<Warning>) {
        for (n, what) in [(self.bad, "could not be read"), (self.odd, "like these")] {
            let more = n.saturating_sub(MAX_LINES_LISTED);
            if more > 0 {
                let text = format!("{more} more line{} {what}", if more == 1 { "" } else { "s" });
                warnings.push(Warning { line: None, text });
            }
        }
    }
}
