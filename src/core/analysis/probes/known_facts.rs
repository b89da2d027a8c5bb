//! The facts that are known at a call, with what each was the last time.

use crate::analysis::facts::{Fact, FactKind};
use crate::session::{Body, Session};

/// The facts of a session that are known at one call.
#[derive(Debug)]
pub struct KnownFacts<'a> {
    pub(super) session: &'a Session,
    /// Index of the call.
    pub(super) call: usize,
    /// Facts stated before the call, in the order of the session.
    known: Vec<&'a Fact>,
    /// The context of the call consists of messages before this index.
    end: u32,
}

impl<'a> KnownFacts<'a> {
    /// Selects the facts before a call.
    pub fn new(session: &'a Session, facts: &'a [Fact], call: usize) -> Self {
        let end = session.calls.get(call).map_or(0, |call| call.context_end) as u32;
        Self { session, call, known: facts.iter().filter(|fact| fact.message < end).collect(), end }
    }

    /// Returns all facts of a kind, including those replaced by later ones.
    pub(super) fn ever(&self, kind: FactKind) -> impl Iterator<Item = &'a Fact> {
        self.known.iter().copied().filter(move |fact| fact.kind == kind)
    }

    /// Returns the facts of a kind that are still true at the call.
    pub(super) fn now(&self, kind: FactKind) -> impl Iterator<Item = &'a Fact> {
        let end = self.end;
        self.ever(kind).filter(move |fact| fact.until.is_none_or(|until| until >= end))
    }

    /// Returns the part of the tool call that a result answers, or the part itself.
    pub(super) fn call_part(&self, part: u32) -> u32 {
        let parts = &self.session.parts;
        let Some(Body::ToolResult { call, .. }) = parts.get(part as usize).map(|p| &p.body) else {
            return part;
        };
        let before = parts[..part as usize].iter().rposition(
            |other| matches!(&other.body, Body::ToolCall { call: id, .. } if id == call),
        );
        before.map_or(part, |idx| idx as u32)
    }
}
