//! The stored history and the messages of a turn, over calls and turns.

use super::group::annotate;
use super::history::History;
use super::marked::Marked;
use super::reconcile::reconcile;
use super::settings::Plan;
use super::strategy::Strategy;
use crate::chat::{ChatMessage, Mark, Messages, PendingRequest, Replies, n_system};
use crate::systems::growing_list::GrowingList;
use crate::systems::session_state::Effects;
use std::ops::Range;
use std::sync::Arc;

/// The messages of a session so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    /// Recorded messages that it contains.
    seen: GrowingList<ChatMessage>,
    /// Their end.
    end: Option<Mark>,
    /// The stored history.
    stored: History,
    /// Input of the turn; in the harness, of the call.
    input: Vec<Marked>,
    /// Messages of the turn's calls, from the history on. After a call of the harness, only its input.
    pub(super) working: History,
    /// Identities of the input in `working`.
    input_uids: Range<u64>,
    /// Identities of the messages in `working` behind the input.
    transcript: Vec<u64>,
    /// The answer to the last call, and its results.
    new: Vec<Marked>,
    /// Whether the turn has a call.
    has_called: bool,
    /// Whether a call has no answer yet.
    is_open: bool,
}

/// Plan, effects and replies of a call.
pub(super) type During<'a, 'b> = (&'a Plan, &'a mut Effects, &'a mut Replies<'b>);

impl Conversation {
    /// Adds the recorded messages that are new, and begins a call with them. Begins anew if the first ones changed.
    pub(super) fn begin_call(
        &mut self,
        all: &Messages,
        during: &mut During<'_, '_>,
    ) -> Result<(), PendingRequest> {
        let messages = &all[n_system(all)..];
        let is_same = self.end.as_ref().is_some_and(|end| all.since(end).is_some());
        let mut left = messages.iter();
        if !is_same && !self.seen.iter().all(|seen| left.next() == Some(seen)) {
            *self = Self::default();
        }
        for message in &messages[self.seen.len()..] {
            self.add(message, during)?;
            self.seen.push(message.clone());
        }
        self.end = Some(all.mark());
        self.next_call(during)
    }

    /// Ends a call. The harness loads stored messages again for the next one.
    pub(super) fn end_call(&mut self, plan: &Plan) {
        if plan.is_harness {
            let Range { start, end } = self.input_uids;
            let is_input = |message: &Marked| (start..end).contains(&message.uid);
            let new = self.working.iter().filter(|message| message.uid >= end);
            self.stored.notices = new.flat_map(|m| m.messages.iter().cloned()).collect();
            // Only marks of the input are stored: its results must not stay excluded while their calls do not.
            if self.working.iter().any(|m| is_input(m) && m.summarized_by.is_some()) {
                // The input of the next call replaces this one, together with summaries of it.
                let mut input: Vec<u64> = (start..end).collect();
                reconcile(&mut self.working, &mut input);
            }
            self.working.retain(is_input);
        }
    }

    fn add(
        &mut self,
        message: &ChatMessage,
        during: &mut During<'_, '_>,
    ) -> Result<(), PendingRequest> {
        if message.is("assistant") {
            if !self.is_open {
                self.next_call(during)?;
            }
            self.is_open = false;
            self.new.push(Marked::new(message.clone()));
        } else if message.is("tool") {
            self.stored.reach(message.call_id.as_ref());
            match self.new.last_mut().filter(|last| last.role() == "tool") {
                Some(last) => Arc::make_mut(&mut last.messages).push(message.clone()),
                None => self.new.push(Marked::new(message.clone())),
            }
        } else {
            if self.has_called {
                self.end_turn(during)?;
            }
            self.input.push(Marked::new(message.clone()));
        }
        Ok(())
    }

    /// Prepares the messages of a call, before its strategy runs.
    fn next_call(&mut self, during: &mut During<'_, '_>) -> Result<(), PendingRequest> {
        let (plan, effects, replies) = during;
        if plan.is_harness {
            self.store_call();
        }
        if self.has_called && !plan.is_harness {
            reconcile(&mut self.working, &mut self.transcript);
            let uid = self.working.iter().map(|message| message.uid).max();
            for (uid, message) in (uid.map_or(0, |uid| uid + 1)..).zip(self.new.drain(..)) {
                self.transcript.push(uid);
                self.working.push(Marked { uid, ..message });
            }
        } else {
            let mut loaded = self.stored.clone();
            if plan.skip_excluded {
                loaded.retain(|message| !message.is_excluded);
            }
            if let Some(strategy) = plan.before.as_ref().filter(|_| !loaded.is_empty()) {
                run(strategy, "before_run:", &mut loaded, (effects, replies))?;
                loaded.retain(|message| !message.is_excluded);
            }
            let n_loaded = loaded.len() as u64;
            loaded.extend(self.input.iter().cloned());
            self.input_uids = n_loaded..loaded.len() as u64;
            for (uid, message) in (0..).zip(loaded.iter_mut()) {
                message.uid = uid;
            }
            self.working = loaded;
        }
        self.has_called = true;
        self.is_open = true;
        Ok(())
    }

    /// Stores input and answer of the last call. Its results are the input of the next one.
    fn store_call(&mut self) {
        if !self.has_called {
            return;
        }
        let input = self.working.drain(..);
        let mut stored: Vec<Marked> =
            input.filter(|message| self.input_uids.contains(&message.uid)).collect();
        let is_result = |message: &Marked| message.role() == "tool";
        let (results, answers): (Vec<_>, Vec<_>) = self.new.drain(..).partition(is_result);
        stored.extend(answers);
        self.input = results;
        self.store(stored);
    }

    /// Ends a turn: stores its messages, and runs the strategy for the stored history.
    fn end_turn(&mut self, during: &mut During<'_, '_>) -> Result<(), PendingRequest> {
        let (plan, effects, replies) = during;
        if plan.is_harness {
            self.store_call();
            let results = std::mem::take(&mut self.input);
            self.stored.extend(results);
            self.compact_stored((plan, effects, replies))?;
            // Without old messages, ids are given again, and groups with one id are one group.
            if plan.before.is_none() && !plan.skip_excluded {
                self.stored.settle();
            }
        } else {
            reconcile(&mut self.working, &mut self.transcript);
            let mut new = std::mem::take(&mut self.input);
            let own = self.transcript.iter().filter_map(|uid| {
                let message = self.working.iter().find(|message| message.uid == *uid);
                message.cloned()
            });
            new.extend(own);
            new.append(&mut self.new);
            // The last provider runs first, so the strategy does not see this turn.
            self.compact_stored((plan, effects, replies))?;
            self.store(new);
        }
        self.working.clear();
        self.transcript.clear();
        self.has_called = false;
        self.is_open = false;
        Ok(())
    }

    fn compact_stored(
        &mut self,
        (plan, effects, replies): (&Plan, &mut Effects, &mut Replies<'_>),
    ) -> Result<(), PendingRequest> {
        match plan.after.as_ref().filter(|_| !self.stored.is_empty()) {
            Some(strategy) => run(strategy, "after_run:", &mut self.stored, (effects, replies)),
            None => Ok(()),
        }
    }

    /// Stores messages, except those at the start that the end of the history already has.
    fn store(&mut self, mut new: Vec<Marked>) {
        if self.stored.len() <= new.len() {
            self.stored.unsettle();
        }
        let n_known = n_known(&self.stored, &new);
        self.stored.extend(new.drain(n_known..));
    }
}

/// Runs a strategy outside of a call.
fn run(
    strategy: &Strategy,
    phase: &str,
    list: &mut History,
    (effects, replies): (&mut Effects, &mut Replies<'_>),
) -> Result<(), PendingRequest> {
    annotate(list, None);
    // Copies of messages have no identity here; inserted messages need none.
    if strategy.run(list, effects, replies)?
        && let Some(outer) = effects.acted.last_mut()
    {
        outer.insert_str(0, phase);
    }
    Ok(())
}

/// `filter_new_messages`: returns how many of the first new messages are not stored.
fn n_known(stored: &[Marked], new: &[Marked]) -> usize {
    let are_same = |a: &[Marked], b: &[Marked]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.has_identity_of(b))
    };
    let Some(last) = stored.last() else {
        return 0;
    };
    let is_repeated_input = last.role() == "user" && last.id.is_none();
    for start in 0..(new.len() + 1).saturating_sub(stored.len()) {
        let end = start + stored.len();
        if are_same(&new[start..end], stored) {
            if start == 0 && stored.len() == 1 && is_repeated_input {
                break;
            }
            return end;
        }
    }
    let overlaps = (1..=stored.len().min(new.len())).rev();
    let mut overlaps = overlaps.filter(|n| are_same(&stored[stored.len() - n..], &new[..*n]));
    overlaps.find(|n| *n > 1 || !is_repeated_input).unwrap_or(0)
}
