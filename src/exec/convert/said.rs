//! What became of an aspect in words: the same for the window and the command line, each with its own way to write numbers.

use super::Aspect;
use std::fmt::Write as _;

impl Aspect {
    /// How many: all of them, or of what is not whole how many are there (`3 of 40`; of what was not said, how many are
    /// missing).
    pub fn figure(&self, grouped: fn(u64) -> String) -> String {
        let (held, kept) = (self.held as u64, self.kept as u64);
        match self {
            aspect if aspect.is_whole() => grouped(held),
            aspect if aspect.is_said => format!("{} of {}", grouped(kept), grouped(held)),
            _ if kept == 0 => grouped(held),
            _ => format!("{} of {}", grouped(held - kept), grouped(held)),
        }
    }

    /// What it is, to follow its figure, of which messages it is missing, and what else there is to know.
    pub fn said(&self, grouped: fn(u64) -> String) -> String {
        let what = if self.held == 1 { self.one } else { self.what };
        let mut text = what.to_owned();
        if !self.messages.is_empty() {
            let numbers = self.messages.iter().map(|idx| grouped(*idx as u64 + 1));
            let numbers: Vec<String> = numbers.collect();
            let s = if numbers.len() == 1 { "" } else { "s" };
            let more = if numbers.len() < self.held - self.kept {
                ", …"
            } else {
                ""
            };
            let _ = write!(text, " (message{s} {}{more})", numbers.join(", "));
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_single_one_it_is_said_so() {
        let said = |held, kept| {
            let aspect = Aspect {
                what: "compactions",
                one: "compaction",
                held,
                kept,
                is_said: true,
                messages: Vec::new(),
                detail: String::new(),
            };
            format!(
                "{} {}",
                aspect.figure(|n| n.to_string()),
                aspect.said(|n| n.to_string())
            )
        };
        assert_eq!(said(1, 1), "1 compaction");
        assert_eq!(said(1, 0), "0 of 1 compaction");
        assert_eq!(said(3, 1), "1 of 3 compactions");
    }
}
