//! What one record of the file holds, once taken apart.

use super::id::Id;
use crate::session::{Calibration, Part, Span, Usage};
use crate::units::{Millis, Tokens};
use std::borrow::Cow;

/// One record of the file.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its bytes.
    pub span: Span,
    /// Its line, from 1.
    pub line: usize,
    /// What the import report calls it.
    pub label: Cow<'static, str>,
    /// Its place in the tree of records, if it has one.
    pub node: Option<Node>,
    /// When it was written.
    pub time: Option<Millis>,
    /// It says in which folder it was written.
    pub names_folder: bool,
    /// What it says.
    pub what: What,
    /// The sub-agent whose result it is, and the call that the result answers.
    pub reports: Option<Box<Reports>>,
    /// What a sub-agent said, which it tells of.
    pub embedded: Option<Box<Embedded>>,
}

/// The result of a sub-agent.
#[derive(Debug)]
pub(super) struct Reports {
    /// Id of the sub-agent.
    pub agent: Box<str>,
    pub call: Box<str>,
}

/// A record of a sub-agent inside of a record of the program.
#[derive(Debug)]
pub(super) struct Embedded {
    /// Id of the sub-agent.
    pub agent: Box<str>,
    /// The tool call that started it.
    pub call: Option<Box<str>>,
    pub entry: Entry,
}

/// A record's place in the tree.
#[derive(Debug)]
pub(super) struct Node {
    pub uuid: Option<Id>,
    pub parent: Option<Id>,
    /// Part of a sub-agent's conversation.
    pub is_sidechain: bool,
    /// Id of the sub-agent, in newer versions.
    pub agent: Option<Box<str>>,
}

/// What a record says.
#[derive(Debug)]
pub(super) enum What {
    /// A person, a tool or the harness speaks to the model.
    Said(Said),
    /// The model speaks.
    Answered(Answer),
    /// A compaction.
    Boundary(Boundary),
    /// The record where the conversation stood.
    Leaf(Id),
    /// A title, and whether a person gave it.
    Title(Box<str>, bool),
    /// The program cleared old tool results, without saying which.
    Microcompaction,
    /// We wrote what stands before it, and how that was weighed.
    Managed(Option<Calibration>),
    /// Nothing that goes to the model.
    Aside,
}

/// What is said to the model.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub parts: Vec<Part>,
    pub is_injected: bool,
    pub is_summary: bool,
    pub beside: Beside,
    /// The reasoning effort that a person set.
    pub effort: Option<Box<str>>,
}

/// Whether something is said for its own sake or belongs to what it follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Beside {
    #[default]
    Nothing,
    /// What a tool's call brought along.
    Call,
    /// An attachment.
    Attachment,
}

/// One line of what the model said.
#[derive(Debug)]
pub(super) struct Answer {
    /// Lines of one answer share it.
    pub group: Option<Box<str>>,
    pub model: Option<Box<str>>,
    pub usage: Option<Usage>,
    pub parts: Vec<Part>,
}

/// A compaction the program carried out.
#[derive(Debug)]
pub(super) struct Boundary {
    pub trigger: String,
    pub before: Option<Tokens>,
    pub after: Option<Tokens>,
    /// Messages it carried over, by their records.
    pub preserved: Vec<Id>,
    /// First and last record of a stretch that it carried over.
    pub preserved_range: Option<(Id, Id)>,
    /// What it carried over stands before the summary.
    pub preserved_first: bool,
}
