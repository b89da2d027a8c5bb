//! Observations of one session: the facts that each recorded compaction lost, and those fetched again after it.

use crate::analysis::facts::{Fact, FactHistory, FactKind, FactState, Facts};
use crate::analysis::loss::{Kept, Names, part_text, survival};
use crate::engine::{Case, Outcome};
use crate::session::{Body, Message, Role, identifiers};
use std::collections::HashSet;
use std::ops::Range;

/// Subjects of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A name that the agent used after the compaction: lost ones are references at risk.
    Reference,
    /// A fact, of those that were not replaced before the compaction.
    Fact(FactKind),
}

/// A name or fact at a recorded compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The subject.
    pub subject: Subject,
    /// Whether the first context after the compaction lacks it.
    pub is_lost: bool,
    /// Whether the agent used it after the compaction.
    pub is_used: bool,
    /// Whether it came back before the next compaction by something that the model did not write: a result or a message of
    /// the user. For a file and a command: whether the model called a tool with it again.
    pub is_fetched: bool,
}

/// Returns the observations of all recorded compactions of a session; `recorded` is the recorded run. Compactions without a
/// later call are left out.
pub fn observations(
    facts: &Facts,
    names: &Names,
    case: &Case,
    recorded: &Outcome,
) -> Vec<Observation> {
    let session = &case.session;
    let history = FactHistory::new(facts, case, recorded);
    let mut found = Vec::new();
    for (idx, compaction) in session.compactions.iter().enumerate() {
        let Some(first) = session.calls.get(compaction.call) else {
            continue;
        };
        let next = session.compactions.get(idx + 1);
        let end = next.map_or(session.messages.len(), |next| next.before_message);
        let after = first.context_end..end.max(first.context_end);
        let fetched = Fetched::new(facts, case, after);
        for (fact_idx, fact) in facts.all().iter().enumerate() {
            let is_before = (fact.message as usize) < compaction.before_message;
            let is_current = fact.is_current(first.context_end);
            let state = history.at(fact_idx, compaction.call);
            let Some(state) = state.filter(|_| is_before && is_current) else {
                continue;
            };
            found.push(Observation {
                subject: Subject::Fact(fact.kind),
                is_lost: state == FactState::Gone,
                is_used: fact
                    .uses
                    .last()
                    .is_some_and(|last| *last as usize >= compaction.call),
                is_fetched: fetched.has_fact(fact, fact_idx),
            });
        }
        let kept = survival(names, case, recorded, idx);
        for (name, kept) in kept.into_iter().flat_map(|kept| kept.names) {
            found.push(Observation {
                subject: Subject::Reference,
                is_lost: kept == Kept::Gone,
                is_used: true,
                is_fetched: fetched.names.contains(names.word(name)),
            });
        }
    }
    found
}

/// Content that came back after a compaction.
struct Fetched {
    /// Facts in texts that the model did not write.
    received: HashSet<usize>,
    /// Facts in the model's tool calls.
    called: HashSet<usize>,
    /// Names in results.
    names: HashSet<String>,
}

impl Fetched {
    fn new(facts: &Facts, case: &Case, after: Range<usize>) -> Self {
        let mut fetched = Self {
            received: HashSet::new(),
            called: HashSet::new(),
            names: HashSet::new(),
        };
        let session = &case.session;
        let messages = session.messages[after].iter();
        for message in messages.filter(|message| message.in_history) {
            for part in message.parts.clone() {
                let body = &session.parts[part].body;
                let stated = facts.stated_in(part).iter();
                match body {
                    Body::ToolCall { .. } => {
                        let called = stated.map(|stated| stated.fact as usize);
                        fetched.called.extend(called);
                    }
                    Body::ToolResult { .. } | Body::Text(_) if is_received(message, body) => {
                        let verbatim = stated.filter(|stated| stated.is_verbatim);
                        let received = verbatim.map(|stated| stated.fact as usize);
                        fetched.received.extend(received);
                        let text = part_text(body);
                        fetched.names.extend(identifiers(&text).map(str::to_owned));
                    }
                    _ => {}
                }
            }
        }
        fetched
    }

    fn has_fact(&self, fact: &Fact, idx: usize) -> bool {
        match fact.kind {
            FactKind::File | FactKind::Command => self.called.contains(&idx),
            _ => self.received.contains(&idx),
        }
    }
}

/// Returns whether the model did not write a text.
fn is_received(message: &Message, body: &Body) -> bool {
    matches!(body, Body::ToolResult { .. }) || message.role != Role::Assistant
}
