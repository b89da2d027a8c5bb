//! Applies the results of named actions, immediately or later: changes the context and records the event.

use super::end_of;
use crate::chat::{ChatMessage, Messages};
use crate::engine::agent_messages::stand_in::StandIn;
use crate::engine::context::taken::widen;
use crate::engine::conversion::entry_updater::{ChangeSource, ContextChange};
use crate::engine::conversion::merge::merge;
use crate::engine::conversion::message_edits::{EditResult, MessageEdits, edits_of};
use crate::engine::conversion::results_apart::results_apart;
use crate::engine::named::edits::{Edits, MessageEdit};
use crate::engine::named::{Rewritten, edited};
use crate::engine::outcome::event::{Effect, Event};
use crate::engine::outcome::{Halt, Idle};
use crate::engine::policy::stages::{Action, Mutates};
use crate::engine::run::Run;
use crate::engine::run::named_state::{After, Delayed, PendingAction};
use crate::engine::run::view::View;
use crate::engine::vocabulary::ActionKind;
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

impl After {
    fn of(before: &[ChatMessage], done: &mut Rewritten) -> Option<Self> {
        let Some(all) = done.messages.take() else {
            let is_news = |edit: &&MessageEdit| {
                let was = before.get(edit.at);
                was.is_some() && was != edit.now.as_ref()
            };
            let edits: Vec<_> = done.edits.iter().filter(is_news).cloned().collect();
            return (!edits.is_empty()).then_some(Self::Edits(edits));
        };
        let is_other = *all != *before;
        is_other.then(|| Self::of_all(before, all))
    }

    /// Expresses a changed conversation as edits if possible.
    pub(crate) fn of_all(before: &[ChatMessage], all: Vec<ChatMessage>) -> Self {
        edits_of(before, &all).map_or(Self::All(all), Self::Edits)
    }
}

/// Returns the result for the conversation without the stand-in that the action received.
fn without(stand_in: &StandIn, before: &Messages, done: &mut Rewritten) {
    if done.messages.is_none() && !done.edits.is_empty() {
        if let Some(edits) = stand_in.take_out_edits(before, &done.edits) {
            done.edits = edits.into();
            return;
        }
        done.messages = done.after(stand_in.with());
        done.edits = Edits::default();
    }
    let after = done.messages.take();
    done.messages = after.map(|after| stand_in.take_out(after));
}

impl Run<'_> {
    /// Handles the result of a finished action: applies it now or later.
    pub(super) fn done(&mut self, stage: usize, pending: PendingAction, mut done: Rewritten) {
        self.named.memory.update(&done.memory);
        done.messages = done.messages.map(results_apart);
        let compared = done.compared.map(|count| (self.call, Tokens(count)));
        self.outcome.compared.extend(compared);
        let delay = self.triggers.bound(stage).delay.as_ref();
        let delay = delay.map_or(0.0, |calls| calls.value(&self.triggers.moment)) as usize;
        if delay > 0 && (done.messages.is_some() || !done.edits.is_empty()) {
            if let Some(stand_in) = self.stand_in(&pending) {
                without(&stand_in, &pending.before, &mut done);
            }
            done.messages = done.after(&pending.before);
            done.edits = Edits::default();
            self.triggers.tried(stage, self.call);
            self.named.delayed.push(Delayed { stage, due_at: self.call + delay, pending, done });
        } else {
            self.finish_action(stage, &pending, done);
        }
    }

    /// Applies results of background actions that are ready. Each changes the messages that the action received; newer
    /// messages follow behind.
    pub(crate) fn apply_delayed(&mut self) {
        if self.named.delayed.is_empty() {
            return;
        }
        let all = std::mem::take(&mut self.named.delayed);
        let (ready, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|d| d.due_at <= self.call);
        self.named.delayed = later;
        for Delayed { stage, mut pending, mut done, .. } in ready {
            let Action::Named(named) = &self.triggers.bound(stage).action else {
                continue;
            };
            let (now, spans) = self.working.messages(0, named.spec.shape);
            if let Some(after) = &done.messages {
                let merged = merge(&pending.before, after, &now);
                if merged.is_none() {
                    let late = "Not applied: the messages that it would have changed are gone.";
                    done.log.push(late.to_owned());
                }
                done.messages = merged;
            }
            (pending.before, pending.spans) = (now, spans);
            self.finish_action(stage, &pending, done);
        }
    }

    /// Changes the context to the result of an action and records the event.
    fn finish_action(&mut self, stage: usize, pending: &PendingAction, mut done: Rewritten) {
        let (before, orphans) = (self.working.tokens(), self.working.orphans());
        let measured = self.measured();
        let earlier: Vec<_> = if pending.answers.is_empty() {
            Vec::new()
        } else {
            let summaries = self.working.summaries();
            summaries.map(|(id, summary)| (id, Arc::clone(&summary.text))).collect()
        };
        let last = || self.last_event(&self.triggers.stage(stage).id);
        let repeated = done.repeats.then(last).flatten().map(|(number, _)| number);
        let event = repeated.unwrap_or_else(|| self.next_event());
        let metered = self.working.metered().as_f64();
        let context_change = self.change(stage, pending, &mut done, event);
        let changed = context_change.is_some();
        let has_news = done.fired || !done.log.is_empty() || done.halt.is_some();
        if !changed && !has_news {
            // An action that always runs has a condition of its own.
            let is_own = self.triggers.stage(stage).when.text.trim() == "true";
            self.idle(if is_own { Idle::NotMet } else { Idle::NothingToTake });
            return;
        }
        let context_change = context_change.unwrap_or_default();
        self.note_pins(stage, &context_change.messages);
        let messages = widen(&context_change.messages);
        let is_new = self.removes_more(stage, &messages);
        let repairs = self.triggers.stage(stage).action.kind() == ActionKind::Repair;
        self.triggers.tried(stage, self.call);
        if changed {
            self.triggers.fired(stage, self.call);
            self.acted = true;
        }
        if changed && repeated.is_some() {
            self.note_removed(stage, metered);
            return;
        }
        self.outcome.compactions += usize::from(context_change.removed && is_new && !repairs);
        if let Some(why) = &done.halt {
            self.outcome.halts.push(Halt { call: self.call, why: why.clone() });
        }
        let effect = match (context_change.removed, changed) {
            (true, _) => Effect::Removed,
            (_, true) => Effect::Changed,
            // An action that wrote elsewhere, or ended the run, counts as an event.
            _ if done.fired && done.halt.is_none() && pending.answers.is_empty() => Effect::Nothing,
            _ => Effect::Logged,
        };
        let mut event = Event {
            before,
            messages,
            request: (!pending.answers.is_empty()).then_some(pending.requested),
            effect,
            orphans: self.working.orphans().saturating_sub(orphans),
            forgotten: self.forgotten(pending, &earlier, event),
            log: done.log,
            files: done.files,
            ..self.event_of(stage, measured)
        };
        event.cause.terms.extend(done.terms);
        self.outcome.events.push(event);
        if changed {
            self.note_removed(stage, metered);
        }
    }

    /// Returns the number of earlier summaries that were removed without being shown to the author of the new one.
    fn forgotten(&self, pending: &PendingAction, earlier: &[(u32, Arc<str>)], event: u32) -> usize {
        let is_there = |id: u32, text: &str| {
            let mut now = self.working.summaries().filter(|(known, _)| *known == id);
            now.any(|(_, now)| now.event != event || now.text.contains(end_of(text)))
        };
        let is_forgotten =
            |(id, text): &&(u32, Arc<str>)| !pending.shown.contains(id) && !is_there(*id, text);
        earlier.iter().filter(is_forgotten).count()
    }

    /// Changes the context to the result of an action, if it differs. `event` is the index of its event.
    fn change(
        &mut self,
        stage: usize,
        pending: &PendingAction,
        done: &mut Rewritten,
        event: u32,
    ) -> Option<ContextChange> {
        let change = ChangeSource { event, is_predicted: pending.is_predicted };
        let is_edited = done.messages.is_none() && !done.edits.is_empty();
        let stand_in = is_edited.then(|| self.stand_in(pending)).flatten();
        self.find_edits(stage, pending, done);
        let received = (pending, stand_in.as_ref());
        if let Some(again) = self.reuse_view(stage, received, done, change) {
            return Some(again);
        }
        let given = done.edits.known();
        if let Some(stand_in) = &stand_in {
            without(stand_in, &pending.before, done);
        }
        let after = After::of(&pending.before, done)?;
        let is_first = self.store.is_none();
        self.mutate(stage);
        let edited = self.put(pending, &after, change);
        let context_change = edited.context_change.clone();
        if is_first && pending.is_plain() {
            self.keep_view(stage, (pending, change), (given, after), edited);
        }
        Some(context_change)
    }

    /// Converts the whole conversation that an action left as a view to edits, so that the view can be reused. A view
    /// that consists of all its messages needs no edits.
    fn find_edits(&self, stage: usize, pending: &PendingAction, done: &mut Rewritten) {
        if self.triggers.stage(stage).mutates == Mutates::View
            && !self.view.as_ref().is_some_and(View::has_all_messages)
            && let Some(after) = &done.messages
            && let Some(edits) = edits_of(&pending.before, after)
        {
            done.edits = edits.into();
            done.messages = None;
        }
    }

    /// Replaces the entries that an action received by those that it left.
    pub(crate) fn put(
        &mut self,
        pending: &PendingAction,
        after: &After,
        change: ChangeSource,
    ) -> EditResult {
        let before = &pending.before;
        let all = match after {
            After::All(all) => all,
            After::Edits(edits) => {
                if let Some(edits) = MessageEdits::new(self.case, before, edits, &pending.spans) {
                    return self.working.apply_edits(pending.first, edits, change, &[]);
                }
                &edited(before, edits)
            }
        };
        EditResult {
            context_change: self.working.rewrite(pending.first, (before, all), change),
            gone: Vec::new(),
            rewrote_text: true,
        }
    }

    /// Returns whether a stage changes messages that its last event did not, or whether its last edit is not part of
    /// this context.
    pub(crate) fn removes_more(&self, stage: usize, messages: &[Range<usize>]) -> bool {
        if !self.continues_view(stage) {
            return true;
        }
        let Some((_, last)) = self.last_event(&self.triggers.stage(stage).id) else {
            return true;
        };
        let is_same = |(range, known): &(&Range<usize>, &Range<usize>)| range == known;
        let n_same = messages.iter().zip(last).take_while(is_same).count();
        let is_in = |range: &Range<usize>| {
            let at = last.partition_point(|known| known.end < range.end);
            last.get(at).is_some_and(|known| known.start <= range.start)
        };
        // A new range is usually the last.
        !messages[n_same..].iter().rev().all(is_in)
    }

    /// Returns whether a stage acts at consecutive calls on a view, which is rebuilt for each call.
    pub(crate) fn continues_view(&self, stage: usize) -> bool {
        let is_view = self.triggers.stage(stage).mutates == Mutates::View;
        is_view && self.triggers.last_fired(stage).is_some_and(|last| last + 1 >= self.call)
    }
}
