//! Pieces of the recorded contexts, call by call.

use super::context::add_part;
use super::pieces::Sources;
use super::source::SourceKind;
use crate::engine::Case;
use crate::session::Kind;
use crate::units::Tokens;
use std::collections::{HashMap, HashSet};

/// The tokens of a group of sources at each call.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupOverTime {
    /// Name of the group, as [`super::ContextItem::group`].
    pub group: String,
    /// Kind of its content.
    pub kind: Kind,
    /// Tokens at each call of the session.
    pub tokens: Vec<Tokens>,
}

/// Groups by name, and the tokens of the current context by group.
#[derive(Default)]
struct Sums {
    by_name: HashMap<String, usize>,
    groups: Vec<GroupOverTime>,
    now: Vec<Tokens>,
}

/// Returns the groups of the recorded contexts, in the order in which they first appear. For each call, their tokens add up to
/// the counted size of its context.
pub fn groups_over_time(case: &Case, sources: &Sources) -> Vec<GroupOverTime> {
    let session = &case.session;
    let mut sums = Sums::default();
    let unrecorded = sums.group(SourceKind::NotRecorded.name(), Kind::System);
    let mut changes = session.context_changes().peekable();
    let (mut next, mut kept) = (0, HashSet::new());
    for (call, of_call) in session.calls.iter().enumerate() {
        while let Some(change) = changes.next_if(|change| change.call() <= call) {
            sums.now.fill(Tokens::ZERO);
            change.kept().iter().for_each(|message| sums.add(case, sources, *message));
            kept = change.kept().iter().copied().collect();
            next = change.before_message();
        }
        for message in next..of_call.context_end {
            if session.messages[message].in_history && !kept.contains(&message) {
                sums.add(case, sources, message);
            }
        }
        next = next.max(of_call.context_end);
        sums.now[unrecorded] = case.ledger.overhead_at(call);
        for (group, now) in sums.groups.iter_mut().zip(&sums.now) {
            group.tokens.resize(call, Tokens::ZERO);
            group.tokens.push(*now);
        }
    }
    sums.groups.retain(|group| group.tokens.iter().any(|tokens| *tokens > Tokens::ZERO));
    sums.groups
}

impl Sums {
    /// Returns the index of a group.
    fn group(&mut self, name: &str, kind: Kind) -> usize {
        if let Some(at) = self.by_name.get(name) {
            return *at;
        }
        let at = self.groups.len();
        self.by_name.insert(name.to_owned(), at);
        self.groups.push(GroupOverTime { group: name.to_owned(), kind, tokens: Vec::new() });
        self.now.push(Tokens::ZERO);
        at
    }

    /// Adds the pieces of a message.
    fn add(&mut self, case: &Case, sources: &Sources, message: usize) {
        let mut items = Vec::new();
        let parts = case.session.messages[message].parts.clone();
        parts.for_each(|part| add_part(case, sources, message, part, &mut items));
        for item in items {
            let at = self.group(&item.group, item.kind);
            self.now[at] += item.tokens;
        }
    }
}
