//! Single entries that a stage keeps at any position: instructions, the first messages, and user messages.

use crate::engine::case::Case;
use crate::engine::context::{Entry, EntryBody};
use crate::engine::expr::Moment;
use crate::engine::policy::stages::{Boundary, Keep, Take};
use crate::session::Role;

/// Entries that the rules of one stage keep at one moment.
#[derive(Debug)]
pub(super) struct KeptEntries {
    system: bool,
    first_user: Option<u32>,
    /// Entries before this index.
    head: usize,
    /// User messages from this one on.
    user_from: u32,
}

impl KeptEntries {
    /// Computes the entries that are kept.
    pub(crate) fn new(case: &Case, entries: &[Entry], take: &Take, moment: &Moment) -> Self {
        let mut kept = Self { system: false, first_user: None, head: 0, user_from: u32::MAX };
        for keep in &take.keep {
            match keep {
                Keep::System => kept.system = true,
                Keep::FirstUser => kept.first_user = case.index.first_user,
                Keep::FirstMessages(n) => {
                    let head = head(case, entries, n.value(moment), take.boundary);
                    kept.head = kept.head.max(head);
                }
                Keep::LastUser => kept.newest_user_messages(case, entries, |nth, _| nth == 0),
                Keep::UserTokens(n) => {
                    let most = n.value(moment);
                    kept.newest_user_messages(case, entries, |_, sum| sum <= most);
                }
                // Depend on the newest content: see `super::suffix`.
                Keep::LastMessages(_)
                | Keep::LastTurns(_)
                | Keep::LastAnswers(_)
                | Keep::LastTokens(_)
                | Keep::LastToolTokens(_)
                | Keep::LastResults(_) => {}
            }
        }
        kept
    }

    /// Keeps the newest user messages while `is_kept` accepts the number of newer ones and their total weight.
    fn newest_user_messages(
        &mut self,
        case: &Case,
        entries: &[Entry],
        is_kept: impl Fn(usize, f64) -> bool,
    ) {
        let mut sum = 0.0;
        let user_messages = entries.iter().rev().filter(|e| is_user_message(case, e));
        for (nth, entry) in user_messages.enumerate() {
            sum += f64::from(entry.metered);
            if !is_kept(nth, sum) {
                break;
            }
            self.user_from = self.user_from.min(entry.position());
        }
    }

    /// Returns whether the entry at this index is kept.
    pub(crate) fn holds(&self, case: &Case, idx: usize, entry: &Entry) -> bool {
        idx < self.head
            || (self.system && is_system(case, entry))
            || (self.first_user.is_some() && entry.message() == self.first_user)
            || (entry.position() >= self.user_from && is_user_message(case, entry))
    }
}

/// Returns the end of the first `n` entries after the instructions; later if a call would lose its result.
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

/// Returns whether an entry is part of the system prompt and tools: instructions before all other messages.
/// Instructions in the middle of the conversation are part of the conversation.
pub(super) fn is_system(case: &Case, entry: &Entry) -> bool {
    match &entry.body {
        EntryBody::Written(written) => written.role == Role::System,
        _ => entry.message().is_some_and(|m| m < case.index.preamble_end),
    }
}

/// Returns whether the user wrote a message and it contains no tool result.
fn is_user_message(case: &Case, entry: &Entry) -> bool {
    entry.message().is_some_and(|m| {
        let (index, at) = (&case.index, m as usize);
        let is_user = case.session.messages[at].role == Role::User;
        is_user && index.opens_turn[at] && index.first_call[at] == m
    })
}
