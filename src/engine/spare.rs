//! Which single entries a stage spares wherever they stand: instructions, the first messages, a person's own words.

use super::Case;
use super::context::{Entry, EntryBody};
use super::expr::Moment;
use super::stages::{Boundary, Keep, Take};
use crate::session::Role;

/// What the rules of one stage spare at one moment.
#[derive(Debug)]
pub(super) struct Spared {
    system: bool,
    first_user: Option<u32>,
    /// Entries before this index.
    head: usize,
    /// Messages of a person from this one on.
    person_from: u32,
}

impl Spared {
    /// Works out what is spared.
    pub(super) fn new(case: &Case, entries: &[Entry], take: &Take, moment: &Moment) -> Self {
        let mut spared = Self {
            system: false,
            first_user: None,
            head: 0,
            person_from: u32::MAX,
        };
        for keep in &take.keep {
            match keep {
                Keep::System => spared.system = true,
                Keep::FirstUser => spared.first_user = case.index.first_user,
                Keep::FirstMessages(n) => {
                    let head = head(case, entries, n.value(moment), take.boundary);
                    spared.head = spared.head.max(head);
                }
                Keep::LastUser => spared.persons_newest(case, entries, |nth, _| nth == 0),
                Keep::UserTokens(n) => {
                    let most = n.value(moment);
                    spared.persons_newest(case, entries, |_, sum| sum <= most);
                }
                _ => {}
            }
        }
        spared
    }

    /// Spares the newest messages of a person as long as `is_spared` says so of how many are newer and what they weigh
    /// together with it.
    fn persons_newest(
        &mut self,
        case: &Case,
        entries: &[Entry],
        is_spared: impl Fn(usize, f64) -> bool,
    ) {
        let mut sum = 0.0;
        let theirs = entries.iter().rev().filter(|e| is_persons(case, e));
        for (nth, entry) in theirs.enumerate() {
            sum += f64::from(entry.metered);
            if !is_spared(nth, sum) {
                break;
            }
            self.person_from = self.person_from.min(entry.position());
        }
    }

    /// Whether the entry at this index is spared.
    pub(super) fn holds(&self, case: &Case, idx: usize, entry: &Entry) -> bool {
        idx < self.head
            || (self.system && is_system(case, entry))
            || (self.first_user.is_some() && entry.message() == self.first_user)
            || (entry.position() >= self.person_from && is_persons(case, entry))
    }
}

/// Where the first so many entries behind the instructions end; further where a call would lose its result.
fn head(case: &Case, entries: &[Entry], n: f64, boundary: Boundary) -> usize {
    let start = entries.iter().take_while(|e| is_system(case, e)).count();
    let mut head = (start + n.max(0.0) as usize).min(entries.len());
    let Some(last) = head.checked_sub(1).filter(|_| boundary != Boundary::None) else {
        return head;
    };
    let last = entries[last].position();
    let belongs = |entry: &Entry| {
        let call = entry.message().map(|m| case.index.first_call[m as usize]);
        call.is_some_and(|call| call <= last)
    };
    while entries.get(head).is_some_and(belongs) {
        head += 1;
    }
    head
}

/// The system prompt and the tools: instructions that stand before everything else. Instructions in the middle of
/// the conversation are part of it.
pub(super) fn is_system(case: &Case, entry: &Entry) -> bool {
    match &entry.body {
        EntryBody::Written(written) => written.role == Role::System,
        _ => entry.message().is_some_and(|m| m < case.index.preamble_end),
    }
}

/// A message that a person wrote, and that no result of a tool stands in.
fn is_persons(case: &Case, entry: &Entry) -> bool {
    entry.message().is_some_and(|m| {
        let (index, at) = (&case.index, m as usize);
        let is_theirs = case.session.messages[at].role == Role::User;
        is_theirs && index.opens_turn[at] && index.first_call[at] == m
    })
}
