//! Facts that questions are written from.

use std::ops::Range;

/// The kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactKind {
    /// A standing instruction of the user.
    Constraint,
    /// An item of a plan, with its state.
    Plan,
    /// A file that was read, edited or created.
    File,
    /// A command with its outcome.
    Command,
    /// An error: its type and message.
    Error,
    /// A number with its label.
    Value,
}

/// A fact of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its kind.
    pub kind: FactKind,
    /// Index of the message that states it.
    pub message: u32,
    /// Index of the part.
    pub part: u32,
    /// Bytes in the text of that part.
    pub span: Range<usize>,
    /// A path, command, error line, sentence, …
    pub text: Box<str>,
    /// Its state or outcome: `edited`, `failed`, `open`; the number of a value.
    pub detail: Box<str>,
    /// Index of a later message that replaced it.
    pub until: Option<u32>,
}
