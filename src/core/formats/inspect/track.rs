//! A conversation of a sample: the context of its last call, and what a new call adds to it or removes from it.

use super::pool::Pool;
use crate::formats::transcript::Transcript;
use crate::session::{CallDraft, Draft, Role, SubAgent};
use crate::units::Tokens;
use std::collections::{HashMap, HashSet};

/// A conversation.
pub(super) struct Track {
    /// The agent that holds it, if a tool started it. Its id is that of its span.
    pub(super) agent: Option<SubAgent>,
    pub(super) transcript: Transcript,
    /// Messages of the latest context: indices in the pool and in the transcript.
    current: Vec<(usize, usize)>,
}

/// A compaction as the log records it.
#[derive(Default)]
pub(super) struct RecordedEvent {
    pub(super) kind: String,
    pub(super) before: Option<Tokens>,
    pub(super) after: Option<Tokens>,
}

impl Track {
    /// Creates a conversation without messages.
    pub(super) fn new(transcript: Transcript, agent: Option<SubAgent>) -> Self {
        Self { agent, transcript, current: Vec::new() }
    }

    /// Returns whether the latest answer is in a context, and how many other messages are.
    pub(super) fn shared(&self, context: &HashSet<usize>, pool: &Pool) -> (bool, usize) {
        let is_known =
            |(message, _): &&(usize, usize)| context.contains(message) && !pool.is_system(*message);
        let n = self.current.iter().filter(is_known).count();
        (self.current.last().as_ref().is_some_and(is_known), n)
    }

    /// Adds what is new in the context of a call. If it lacks earlier messages, the log records a compaction
    /// (`recorded`). Returns whether its instructions differ from those of the first call.
    pub(super) fn update(
        &mut self,
        mut context: Vec<usize>,
        pool: &Pool,
        recorded: impl FnOnce() -> RecordedEvent,
    ) -> bool {
        // Instructions that change between calls count as the same messages.
        let heads = self.current.iter().zip(&mut context);
        let mut is_changed = false;
        for ((known, _), message) in heads {
            if !pool.is_system(*known) || !pool.is_system(*message) {
                break;
            }
            is_changed |= *known != *message;
            *message = *known;
        }
        let n_same = self.current.iter().zip(&context).take_while(|((a, _), b)| a == *b).count();
        let mut known: HashMap<usize, Vec<usize>> = HashMap::new();
        for (message, at) in self.current.iter().rev() {
            known.entry(*message).or_default().push(*at);
        }
        let found: Vec<Option<usize>> =
            context.iter().map(|message| known.get_mut(message)?.pop()).collect();
        let is_managed = n_same < self.current.len();
        let last_known = found.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
        let first_new = if is_managed { last_known.max(new_tail(&context, pool)) } else { 0 };
        self.current = context
            .iter()
            .zip(found)
            .enumerate()
            .filter_map(|(at, (message, found))| {
                let is_rewritten = is_managed && at < first_new;
                let add = || self.add(pool.draft(*message)?, is_rewritten);
                Some((*message, found.or_else(add)?))
            })
            .collect();
        if is_managed {
            let kept = self.current.iter().map(|(_, message)| *message).collect();
            let event = recorded();
            self.transcript.builder.compaction(event.kind, event.before, event.after, kept);
        }
        is_changed
    }

    fn add(&mut self, draft: Draft, is_rewritten: bool) -> Option<usize> {
        if draft.parts.is_empty() {
            return None;
        }
        let is_summary = is_rewritten && draft.role == Role::User;
        let in_history = !is_rewritten;
        Some(self.transcript.add_message(Draft { is_summary, in_history, ..draft }))
    }

    /// Adds a call and its answer, if it has content.
    pub(super) fn answer(&mut self, call: CallDraft, answer: Option<(usize, Draft)>) {
        match answer.filter(|(_, draft)| !draft.parts.is_empty()) {
            Some((message, draft)) => {
                let at = self.transcript.add_answer(call, draft);
                self.current.push((message, at));
            }
            None => {
                self.transcript.builder.call(call);
            }
        }
    }
}

/// Returns the index of the first message that can be new after a compaction: results of tools and the last message.
fn new_tail(context: &[usize], pool: &Pool) -> usize {
    let is_result = |message: usize| pool.draft(message).is_some_and(|d| d.role == Role::Tool);
    let n = context.len();
    let tail = context.iter().enumerate().rev();
    let tail = tail.take_while(|(at, message)| at + 1 == n || is_result(**message));
    tail.last().map_or(n, |(at, _)| at)
}
