//! Texts of a session in a report: verbatim, or replaced by values that cannot contain them.

mod redactor;
mod words;

pub(super) use redactor::Redactor;

use crate::safe_text::clean;
use std::fmt;
use words::ShownNumber;

/// A foreign text in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportText {
    /// Verbatim text.
    Text(Plain),
    /// Replacement of the text.
    Redacted(Redacted),
}

/// A verbatim text. Only `redactor.rs` creates one, and only in reports without redaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain(Box<str>);

/// Replacement of a text: words of the program, numbers and punctuation. No field can hold a text that was read at run
/// time, so a report of these values cannot contain one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted(Vec<RedactedPiece>);

/// A piece of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RedactedPiece {
    /// A word of the program; the flag capitalizes it.
    Known(&'static str, bool),
    /// A number.
    Number(ShownNumber),
    /// One of the marks that [`words::pieces`] gives, or a space.
    Mark(char),
    /// The number of a thing among those of its kind: `path-1`.
    Nth(NameKind, usize),
    /// An omission.
    Hidden,
}

/// Kinds of things that are replaced by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NameKind {
    File,
    Lane,
    Model,
    Path,
    Policy,
    Setting,
    Stage,
    Tool,
    Unit,
}

impl NameKind {
    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Lane => "lane",
            Self::Model => "model",
            Self::Path => "path",
            Self::Policy => "policy",
            Self::Setting => "setting",
            Self::Stage => "stage",
            Self::Tool => "tool",
            Self::Unit => "unit",
        }
    }
}

impl ReportText {
    /// Creates a text of the program.
    pub(super) fn own(text: &'static str) -> Self {
        Self::Redacted(Redacted(vec![RedactedPiece::Known(text, false)]))
    }

    /// Creates a text from words.
    fn of_words(words: Vec<RedactedPiece>) -> Self {
        Self::Redacted(Redacted(words))
    }

    /// Returns true if the text is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.0.is_empty(),
            Self::Redacted(redacted) => redacted.0.is_empty(),
        }
    }
}

/// Returns the text on one line, with control characters made visible.
impl fmt::Display for ReportText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&clean(&text.0)),
            Self::Redacted(redacted) => redacted.0.iter().try_for_each(|word| word.fmt(f)),
        }
    }
}

impl fmt::Display for RedactedPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(word, false) => f.write_str(word),
            Self::Known(word, true) => {
                let mut chars = word.chars();
                let first = chars.next().unwrap_or_default().to_ascii_uppercase();
                write!(f, "{first}{}", chars.as_str())
            }
            Self::Number(number) => number.fmt(f),
            Self::Mark(mark) => write!(f, "{mark}"),
            Self::Nth(what, n) => write!(f, "{}-{n}", what.name()),
            Self::Hidden => f.write_str("…"),
        }
    }
}
