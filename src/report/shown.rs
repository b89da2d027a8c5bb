//! Text of a session as a report holds it: as it is, or as something that cannot hold it.

mod teller;

pub(super) use teller::Teller;

use super::words::Number;
use crate::safe_text::clean;
use std::fmt;

/// A text that is not ours, as a report holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// As it is.
    Text(Plain),
    /// What stands for it.
    Redacted(Redacted),
}

/// A text as it is. Only `shown/teller.rs` makes one, and only where nothing is redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain(Box<str>);

/// What stands for a text: words of the program's own, numbers and punctuation. No field of it can hold a text that was
/// read at run time, so a report made of these never held one either.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted(Vec<Word>);

/// One piece of what stands for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A word of the program's own; the flag begins it with a capital.
    Known(&'static str, bool),
    /// A number.
    Number(Number),
    /// One of the marks that [`super::words::pieces`] gives, or a space.
    Mark(char),
    /// The so-manieth thing of its kind: `path-1`.
    Nth(What, usize),
    /// Something is left out here.
    Hidden,
}

/// Kinds of things that are numbered instead of named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
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

impl What {
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

impl Shown {
    /// A text of the program's own.
    pub(super) fn own(text: &'static str) -> Self {
        Self::Redacted(Redacted(vec![Word::Known(text, false)]))
    }

    /// What these words say.
    pub(super) fn of_words(words: Vec<Word>) -> Self {
        Self::Redacted(Redacted(words))
    }

    /// There is nothing to show.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.0.is_empty(),
            Self::Redacted(redacted) => redacted.0.is_empty(),
        }
    }
}

/// On one line, with what a terminal would obey made visible.
impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&clean(&text.0)),
            Self::Redacted(redacted) => redacted.0.iter().try_for_each(|word| word.fmt(f)),
        }
    }
}

impl fmt::Display for Word {
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
