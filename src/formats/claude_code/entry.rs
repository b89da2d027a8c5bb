//! What one record of the file holds, once taken apart.

use crate::session::{Calibration, Part, Span, Usage};
use crate::units::{Millis, Tokens};
use std::borrow::Cow;

/// One record of the file. What identifies it is borrowed from the text, of which there is much.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// Its bytes.
    pub span: Span,
    /// Its line, from 1.
    pub line: usize,
    /// What the import report calls it.
    pub label: Cow<'static, str>,
    /// Its place in the tree of records, if it has one.
    pub node: Option<Node<'a>>,
    /// When it was written.
    pub time: Option<Millis>,
    /// What it says.
    pub what: What<'a>,
    /// The sub-agent whose result it is, and the call that the result answers.
    pub reports: Option<Box<Reports>>,
    /// What a sub-agent said, which it tells of.
    pub embedded: Option<Box<Embedded<'a>>>,
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
pub(super) struct Embedded<'a> {
    /// Id of the sub-agent.
    pub agent: Box<str>,
    /// The tool call that started it.
    pub call: Option<Box<str>>,
    pub entry: Entry<'a>,
}

/// A record's place in the tree.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub uuid: Option<Cow<'a, str>>,
    pub parent: Option<Cow<'a, str>>,
    /// Part of a sub-agent's conversation.
    pub is_sidechain: bool,
    /// Id of the sub-agent, in newer versions.
    pub agent: Option<Cow<'a, str>>,
}

/// What a record says.
#[derive(Debug)]
pub(super) enum What<'a> {
    /// A person, a tool or the harness speaks to the model.
    Said(Said),
    /// The model speaks.
    Answered(Answer<'a>),
    /// A compaction.
    Boundary(Boundary),
    /// The record where the conversation stood.
    Leaf(Cow<'a, str>),
    /// A title, and whether a person gave it.
    Title(Cow<'a, str>, bool),
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
pub(super) struct Answer<'a> {
    /// Lines of one answer share it.
    pub group: Option<Cow<'a, str>>,
    pub model: Option<Cow<'a, str>>,
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
    pub preserved: Vec<Box<str>>,
    /// First and last record of a stretch that it carried over.
    pub preserved_range: Option<(Box<str>, Box<str>)>,
    /// What it carried over stands before the summary.
    pub preserved_first: bool,
}
