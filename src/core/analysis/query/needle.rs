//! A text that is searched in any case.

use regex::{Regex, RegexBuilder};
use std::ops::Range;

/// A text to search for, in any case.
#[derive(Clone, Debug)]
pub struct Needle {
    text: String,
    pattern: Regex,
}

impl Needle {
    /// Creates a search for `text`; `None` if it is too long.
    pub(super) fn new(text: &str) -> Option<Self> {
        let pattern =
            RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build().ok()?;
        Some(Self { text: text.to_owned(), pattern })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether `text` contains it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// Returns where it occurs in `text`.
    pub(super) fn find_in(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        self.pattern.find_iter(text).map(|found| found.range())
    }
}

impl PartialEq for Needle {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Needle {}
