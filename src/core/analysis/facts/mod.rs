//! Facts of a session that an agent may need later, each with its place, and those that a run kept.
//!
//! Facts are found by rules, without a model ([`Facts::new`]). A context holds a fact *verbatim*, *partly* or not at
//! all ([`FactState`]). [`FactHistory`] follows every fact through the calls of a run, and [`LaneSurvival`] counts them
//! by kind. Facts are names and sentences, so that a rewording counts as lost: the counts compare runs, they do not
//! judge a summary.

mod call;
mod constraints;
mod encrypted;
mod extract;
mod history;
mod places;
mod scored;
mod survival;
mod text;

pub(super) use call::{command as call_command, path as call_path, target as call_target};
pub use constraints::{
    ReceivedText, constraints_lost_by_compaction, missing_constraints, user_constraints,
};
pub use encrypted::is_encrypted;
pub use history::{FactHistory, FactState, StateChange};
pub use scored::ScoredText;
pub use survival::{KindSurvival, LaneSurvival, LostFact, total};

use crate::figure::grouped;
use crate::session::Session;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// The kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactKind {
    /// A standing instruction of the user: always, never, only, must not, use X not Y.
    Constraint,
    /// Decisions of the user: answers to a question.
    Decision,
    /// An item of a plan or list of tasks, with its state.
    Plan,
    /// A file that was read, edited or created.
    File,
    /// A command with its outcome.
    Command,
    /// An error: its type and message.
    Error,
    /// A number with its label.
    Value,
    /// A name that an edit defined.
    Identifier,
    /// A URL, id or hash.
    Link,
}

impl FactKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 9] = [
        Self::Constraint,
        Self::Decision,
        Self::Plan,
        Self::File,
        Self::Command,
        Self::Error,
        Self::Value,
        Self::Identifier,
        Self::Link,
    ];

    /// Returns the name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::Decision => "decision",
            Self::Plan => "plan",
            Self::File => "file",
            Self::Command => "command",
            Self::Error => "error",
            Self::Value => "value",
            Self::Identifier => "identifier",
            Self::Link => "link",
        }
    }

    /// The label of several facts of this kind.
    pub fn label(self) -> &'static str {
        match self {
            Self::Constraint => "user constraints",
            Self::Decision => "user decisions",
            Self::Plan => "plan items",
            Self::File => "files",
            Self::Command => "commands",
            Self::Error => "errors",
            Self::Value => "values",
            Self::Identifier => "identifiers",
            Self::Link => "links and ids",
        }
    }

    /// Returns the kind with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Returns a number of facts of a kind, or of all kinds: `1 user constraint`, `2 links and ids`, `3 facts`.
pub fn counted_facts(kind: Option<FactKind>, n: usize) -> String {
    let plural = kind.map_or("facts", FactKind::label);
    let noun = match (n, kind) {
        (1, Some(FactKind::Link)) => "link or id",
        (1, _) => plural.trim_end_matches('s'),
        _ => plural,
    };
    format!("{} {noun}", grouped(n as u64))
}

/// A fact of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its kind.
    pub kind: FactKind,
    /// Index of the message that states it.
    pub message: u32,
    /// Index of the part in the session.
    pub part: u32,
    /// Index of the part in its message.
    pub nth_part: u32,
    /// Bytes in the text of that part. For a tool call: in its arguments; all of them if they escape the text.
    pub span: Range<usize>,
    /// The searched text: a path, command, error line, sentence, …
    pub text: Box<str>,
    /// Its state or outcome: `edited`, `failed`, `open`; the number of a value. Empty if the kind has none.
    pub detail: Box<str>,
    /// Index of a later message that replaced it: the file was edited again, the command was run again. None if it is
    /// still true at the end.
    pub until: Option<u32>,
    /// Indices of the later calls whose answers contain it, ascending.
    pub uses: Box<[u32]>,
}

impl Fact {
    /// Returns whether no message before this index replaced it.
    pub fn is_current(&self, context_end: usize) -> bool {
        self.until.is_none_or(|until| until as usize >= context_end)
    }

    /// Returns the indices of the later calls whose answers contain it, ascending.
    pub fn calls_with_uses(&self) -> impl Iterator<Item = usize> {
        self.uses.iter().map(|call| *call as usize)
    }
}

/// Maximum number of facts of a kind. Each fact is followed through every call of every lane, so this bounds time and
/// memory of an evaluation. Facts beyond it are counted as left out, and the output says so.
const MAX_PER_KIND: usize = 3_000;

/// Returns the facts that are true at the end of a session ([`Facts::at_end`]), without the calls that use them. Faster
/// than [`Facts::new`].
pub fn at_end(session: &Session) -> Vec<Fact> {
    let mut facts = Facts::stated(session, &FactKind::ALL).all;
    facts.retain(|fact| fact.until.is_none());
    facts
}

/// The facts of a session.
#[derive(Debug, Default)]
pub struct Facts {
    all: Vec<Fact>,
    /// Number of facts that are left out, by kind: too short to be searched, or above the maximum.
    left_out: [usize; FactKind::ALL.len()],
    searches: Vec<text::FactSearch>,
    /// By fact: the part that states its outcome.
    evidence: Vec<Option<u32>>,
    finder: text::FactFinder,
    places: places::Places,
}

impl Facts {
    /// Finds the facts of a session's history. Cost: linear in its text.
    pub fn new(session: &Session) -> Self {
        Self::of_kinds(session, &FactKind::ALL)
    }

    /// Finds the facts of some kinds only.
    pub fn of_kinds(session: &Session, kinds: &[FactKind]) -> Self {
        let mut facts = Self::stated(session, kinds);
        if facts.all.is_empty() {
            return facts;
        }
        let texts: Vec<Cow<'_, str>> =
            session.parts.par_iter().map(|part| super::loss::part_text(&part.body)).collect();
        facts.finder = text::FactFinder::new(&facts.searches);
        facts.places = places::Places::new(session, &texts, &facts);
        let uses = places::uses(session, &facts);
        for (fact, uses) in facts.all.iter_mut().zip(uses) {
            fact.uses = uses;
        }
        facts
    }

    /// Finds the facts without the places that repeat or use them.
    fn stated(session: &Session, kinds: &[FactKind]) -> Self {
        let mut facts = Self::default();
        let mut n_of = [0_usize; FactKind::ALL.len()];
        for draft in extract::of_kinds(session, kinds) {
            let kind = draft.kind as usize;
            if n_of[kind] >= MAX_PER_KIND || draft.search.is_too_short() {
                facts.left_out[kind] += 1;
                continue;
            }
            n_of[kind] += 1;
            facts.all.push(Fact {
                kind: draft.kind,
                message: draft.message,
                part: draft.part,
                nth_part: draft.part - session.messages[draft.message as usize].parts.start as u32,
                span: draft.span,
                text: draft.search.text().into(),
                detail: draft.detail,
                until: draft.until,
                uses: Box::default(),
            });
            facts.searches.push(draft.search);
            facts.evidence.push(draft.evidence);
        }
        facts
    }

    /// Returns all facts in the order of the session.
    pub fn all(&self) -> &[Fact] {
        &self.all
    }

    /// Returns the facts that no later message replaced.
    pub fn at_end(&self) -> impl Iterator<Item = &Fact> {
        self.all.iter().filter(|fact| fact.until.is_none())
    }

    /// Returns the number of facts of a kind that are not followed: too short to be searched, or above the maximum of
    /// 3,000.
    pub fn left_out(&self, kind: FactKind) -> usize {
        self.left_out[kind as usize]
    }
}
