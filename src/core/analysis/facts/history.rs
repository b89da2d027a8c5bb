//! The state of every fact at every call of a run.
//!
//! A run records at which calls the visibility of messages changes. Instead of searching each context, a follower
//! counts for each fact how many visible texts state it, and updates the counts at these calls only.

use super::Facts;
use super::encrypted::is_encrypted;
use super::text::StatedFact;
use crate::engine::{Case, Outcome, PartVisibility, Received, TextKind, Visibility};
use std::collections::HashMap;
use std::sync::Arc;

/// State of a fact in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactState {
    /// The whole text.
    Verbatim,
    /// A shorter form: a file without its folder, a command without its outcome, most words of a sentence.
    Partial,
    /// Neither form.
    Gone,
    /// Unknown: the context has a predicted or encrypted summary, whose text is not known.
    Unknown,
}

impl FactState {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verbatim => "verbatim",
            Self::Partial => "partial",
            Self::Gone => "gone",
            Self::Unknown => "unknown",
        }
    }
}

/// A call at which the state of a fact changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// Index of the call.
    pub call: u32,
    /// The new state.
    pub state: FactState,
}

/// The states of all facts of a session in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactHistory {
    /// By fact: the changes of its state; empty if no call received the conversation after it was stated.
    changes: Vec<Vec<StateChange>>,
    /// By fact: whether the run ever removed or shortened the message that states it.
    removed: Vec<bool>,
    /// Index of the last call of the run.
    pub last_call: Option<usize>,
}

impl FactHistory {
    /// Follows the facts of a case's session through a run. Samples of calls that the session does not have are
    /// ignored.
    pub fn new(facts: &Facts, case: &Case, outcome: &Outcome) -> Self {
        let mut follower = Follower::new(facts, case, &outcome.received);
        let calls = outcome.samples.iter().map(|sample| sample.call);
        let mut last_call = None;
        for call in calls.filter(|call| *call < case.session.calls.len()) {
            follower.advance(call);
            last_call = Some(call);
        }
        Self { changes: follower.changes, removed: follower.removed, last_call }
    }

    /// Returns the state of a fact at a call; none if the fact was not stated yet.
    pub fn at(&self, fact: usize, call: usize) -> Option<FactState> {
        let changes = &self.changes[fact];
        let n = changes.partition_point(|change| change.call as usize <= call);
        n.checked_sub(1).map(|last| changes[last].state)
    }

    /// Returns the changes of a fact's state, in order.
    pub fn changes(&self, fact: usize) -> &[StateChange] {
        &self.changes[fact]
    }

    /// Returns whether the run ever removed or shortened the message that states a fact.
    pub fn is_removed(&self, fact: usize) -> bool {
        self.removed[fact]
    }
}

/// Follows the facts from call to call.
struct Follower<'a> {
    facts: &'a Facts,
    case: &'a Case,
    received: &'a Received,
    next_change: usize,
    next_text: usize,
    /// Messages that have joined the conversation.
    entered: usize,
    visible: Vec<Visibility>,
    /// By fact: the number of places in the context that state it verbatim, and partly.
    places: Vec<[u32; 2]>,
    /// Number of predicted texts and encrypted summaries in the context.
    unknown: u32,
    /// Facts whose places changed since the last call, each once.
    changed: Vec<u32>,
    /// By fact: whether it is in `changed`.
    is_changed: Vec<bool>,
    /// States in texts, by address: many texts are shared.
    known: HashMap<(*const u8, bool), Arc<[StatedFact]>>,
    changes: Vec<Vec<StateChange>>,
    removed: Vec<bool>,
    /// Facts in the order of the messages that state them; those before this index are stated.
    stated: usize,
}

impl<'a> Follower<'a> {
    fn new(facts: &'a Facts, case: &'a Case, received: &'a Received) -> Self {
        Self {
            facts,
            case,
            received,
            next_change: 0,
            next_text: 0,
            entered: 0,
            visible: Visibility::at_start(&case.session),
            places: vec![[0; 2]; facts.all.len()],
            unknown: 0,
            changed: Vec::new(),
            is_changed: vec![false; facts.all.len()],
            known: HashMap::new(),
            changes: vec![Vec::new(); facts.all.len()],
            removed: vec![false; facts.all.len()],
            stated: 0,
        }
    }

    /// Advances to a call and records the states that changed.
    fn advance(&mut self, call: usize) {
        let end = self.case.session.calls[call].context_end;
        let received = self.received;
        let unknown_before = self.unknown;
        while let Some(change) = received.changes.get(self.next_change)
            && change.call as usize <= call
        {
            self.next_change += 1;
            for message in change.messages.start as usize..change.messages.end as usize {
                let was = std::mem::replace(&mut self.visible[message], change.now);
                if message < self.entered && was != change.now {
                    self.count(message, was, false);
                    self.count(message, change.now, true);
                }
                if change.now != Visibility::Whole {
                    self.note_removed(message as u32);
                }
            }
        }
        while let Some(change) = received.text_changes.get(self.next_text)
            && change.call as usize <= call
        {
            self.next_text += 1;
            let text = &received.texts[change.text as usize];
            if text.is_predicted {
                self.count_unknown(change.is_there);
            } else {
                self.count_text(change.text, change.is_there);
            }
        }
        for message in self.entered..end {
            self.count(message, self.visible[message], true);
        }
        self.entered = self.entered.max(end);
        let stated = self.facts.all.partition_point(|fact| (fact.message as usize) < end);
        let first = if (self.unknown > 0) == (unknown_before > 0) { self.stated } else { 0 };
        self.stated = self.stated.max(stated);
        (first..self.stated).for_each(|fact| self.mark(fact as u32));
        for fact in std::mem::take(&mut self.changed) {
            let fact = fact as usize;
            self.is_changed[fact] = false;
            if fact >= self.stated {
                continue;
            }
            let state = self.state(fact);
            let changes = &mut self.changes[fact];
            if changes.last().map(|last| last.state) != Some(state) {
                let call = call as u32;
                changes.push(StateChange { call, state });
            }
        }
    }

    fn mark(&mut self, fact: u32) {
        if !std::mem::replace(&mut self.is_changed[fact as usize], true) {
            self.changed.push(fact);
        }
    }

    fn state(&self, fact: usize) -> FactState {
        match self.places[fact] {
            [n, _] if n > 0 => FactState::Verbatim,
            [_, n] if n > 0 => FactState::Partial,
            _ if self.unknown > 0 => FactState::Unknown,
            _ => FactState::Gone,
        }
    }

    fn note_removed(&mut self, message: u32) {
        let all = &self.facts.all;
        let first = all.partition_point(|fact| fact.message < message);
        for (idx, fact) in all.iter().enumerate().skip(first) {
            if fact.message != message {
                break;
            }
            self.removed[idx] = true;
        }
    }

    /// Counts what a message states in the context, or no longer states.
    fn count(&mut self, message: usize, visible: Visibility, is_there: bool) {
        let parts = self.case.session.messages[message].parts.clone();
        let facts = self.facts;
        match visible {
            Visibility::Gone => {}
            Visibility::Whole => {
                for part in parts {
                    self.add(facts.places.in_part(part), is_there);
                }
                if is_encrypted(&self.case.session, &[message]) {
                    self.count_unknown(is_there);
                } else if self.case.session.messages[message].is_summary {
                    self.count_words(message, is_there);
                }
            }
            Visibility::Partly(first) => {
                let states = self.received.parts_from(first, parts.len());
                for (part, state) in parts.zip(states) {
                    match state {
                        PartVisibility::Kept => self.add(facts.places.in_part(part), is_there),
                        PartVisibility::Text(text)
                            if self.received.texts[*text as usize].kind == TextKind::Remainder =>
                        {
                            self.count_text(*text, is_there);
                        }
                        // Other texts are counted by their changes.
                        PartVisibility::Gone | PartVisibility::Text(_) => {}
                    }
                }
            }
        }
    }

    /// Counts a text that is not known.
    fn count_unknown(&mut self, is_there: bool) {
        self.unknown = if is_there { self.unknown + 1 } else { self.unknown - 1 };
    }

    /// Counts what the words of a recorded summary state.
    fn count_words(&mut self, message: usize, is_there: bool) {
        let session = &self.case.session;
        for part in session.parts_of(&session.messages[message]) {
            let found = self.facts.finder.states(&self.facts.searches, part.body.text(), true);
            self.add(&found, is_there);
        }
    }

    fn count_text(&mut self, text: u32, is_there: bool) {
        let text = &self.received.texts[text as usize];
        if text.is_predicted {
            return;
        }
        let is_summary = text.kind == TextKind::Summary;
        let facts = self.facts;
        let known = self.known.entry((text.text.as_ptr(), is_summary));
        let found = known
            .or_insert_with(|| facts.finder.states(&facts.searches, &text.text, is_summary).into());
        let found = Arc::clone(found);
        self.add(&found, is_there);
    }

    fn add(&mut self, stated: &[StatedFact], is_there: bool) {
        for StatedFact { fact, is_verbatim } in stated {
            let n = &mut self.places[*fact as usize][usize::from(!is_verbatim)];
            *n = if is_there { *n + 1 } else { *n - 1 };
            self.mark(*fact);
        }
    }
}
