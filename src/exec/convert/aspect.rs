//! Aspects of a conversion: whether the session has them and the written file kept them, with their descriptions for
//! users.

use crate::exec::contents::Located;
use crate::figure::plural;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;

/// Maximum number of messages that are listed per aspect.
const MAX_LISTED: usize = 5;

/// Something that a session has, counted in the session and in the written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aspect {
    /// Noun in the plural.
    pub plural: &'static str,
    /// Noun in the singular.
    pub singular: &'static str,
    /// Count in the session.
    pub held: usize,
    /// Count of these in the written file.
    pub kept: usize,
    /// It belongs to the content that every conversion must keep: texts, calls, results and media.
    pub is_content: bool,
    /// Indices of the first messages of which it is missing.
    pub messages: Vec<usize>,
    /// Further detail; may be empty.
    pub detail: String,
}

impl Aspect {
    /// Returns true if nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.kept == self.held
    }

    /// Returns the count: all of a complete aspect; else the kept part of content (`3 of 40`), or the missing part of
    /// anything else.
    pub fn figure(&self, grouped: fn(u64) -> String) -> String {
        let (held, kept) = (self.held as u64, self.kept as u64);
        match self {
            aspect if aspect.is_whole() => grouped(held),
            aspect if aspect.is_content => format!("{} of {}", grouped(kept), grouped(held)),
            _ if kept == 0 => grouped(held),
            _ => format!("{} of {}", grouped(held - kept), grouped(held)),
        }
    }

    /// Returns the text after the figure: the noun, the messages of which it is missing, and the detail.
    pub fn description(&self, grouped: fn(u64) -> String) -> String {
        let noun = if self.held == 1 { self.singular } else { self.plural };
        let mut text = noun.to_owned();
        if !self.messages.is_empty() {
            let numbers = self.messages.iter().map(|idx| grouped(*idx as u64 + 1));
            let numbers: Vec<String> = numbers.collect();
            let s = plural(numbers.len(), "message");
            let more = if numbers.len() < self.held - self.kept { ", …" } else { "" };
            let _ = write!(text, " (message{s} {}{more})", numbers.join(", "));
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

/// Creates an aspect from two counts. The noun is given in plural and singular.
pub(super) fn counted([plural, singular]: [&'static str; 2], held: usize, kept: usize) -> Aspect {
    Aspect {
        plural,
        singular,
        held,
        kept: kept.min(held),
        is_content: false,
        messages: Vec::new(),
        detail: String::new(),
    }
}

/// Creates an aspect from the items of the source that were found, each as often as it was found.
pub(super) fn same<T: Hash + Eq>(
    noun: [&'static str; 2],
    is_content: bool,
    source: &[Located<T>],
    found: &[Located<T>],
) -> Aspect {
    let mut there: HashMap<&T, usize> = HashMap::new();
    for found in found {
        *there.entry(&found.item).or_default() += 1;
    }
    let mut missing = Vec::new();
    for source in source {
        match there.get_mut(&source.item) {
            Some(n) if *n > 0 => *n -= 1,
            _ => missing.push(source.message),
        }
    }
    with_missing(noun, is_content, source.len(), missing)
}

/// Creates an aspect that is missing in these messages.
pub(super) fn with_missing(
    noun: [&'static str; 2],
    is_content: bool,
    held: usize,
    missing: Vec<usize>,
) -> Aspect {
    let mut aspect = counted(noun, held, held - missing.len());
    aspect.is_content = is_content;
    aspect.messages = missing;
    aspect.messages.dedup();
    aspect.messages.truncate(MAX_LISTED);
    aspect
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_one_has_the_noun_in_the_singular() {
        let text = |held, kept| {
            let aspect = Aspect {
                plural: "compactions",
                singular: "compaction",
                held,
                kept,
                is_content: true,
                messages: Vec::new(),
                detail: String::new(),
            };
            format!(
                "{} {}",
                aspect.figure(|n| n.to_string()),
                aspect.description(|n| n.to_string())
            )
        };
        assert_eq!(text(1, 1), "1 compaction");
        assert_eq!(text(1, 0), "0 of 1 compaction");
        assert_eq!(text(3, 1), "1 of 3 compactions");
    }
}
