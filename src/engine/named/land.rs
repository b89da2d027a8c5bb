//! Lands what named actions did, at once or later: the context changes and the event is noted.

use super::{Delayed, Talk, end_of};
use crate::chat::{ChatMessage, Messages};
use crate::engine::absorb::{Absorbed, New};
use crate::engine::event::{Did, Event};
use crate::engine::merge::merge;
use crate::engine::outcome::{Halt, Idle};
use crate::engine::retouch::{Retouch, Retouched, edits_of};
use crate::engine::rewrite::{MessageEdit, Rewritten, edited};
use crate::engine::run::Run;
use crate::engine::stages::{Action, Mutates};
use crate::engine::taken::widen;
use crate::engine::unseen::StandIn;
use std::sync::Arc;

/// What an action left of what it saw, where that is different.
pub(in crate::engine) enum After {
    /// All of it.
    All(Vec<ChatMessage>),
    /// What became of single messages; the others stand where they stood.
    Edits(Vec<MessageEdit>),
}

impl After {
    fn of(before: &[ChatMessage], done: &mut Rewritten) -> Option<Self> {
        let Some(all) = done.messages.take() else {
            let mut edits = std::mem::take(&mut done.edits);
            let is_news = |edit: &MessageEdit| {
                let was = before.get(edit.at);
                was.is_some() && was != edit.now.as_ref()
            };
            edits.retain(is_news);
            return (!edits.is_empty()).then_some(Self::Edits(edits));
        };
        let is_other = *all != *before;
        is_other.then(|| edits_of(before, &all).map_or(Self::All(all), Self::Edits))
    }
}

/// What was done, to a conversation without the stand-in that was among what the action saw.
fn without(unseen: &StandIn, before: &Messages, done: &mut Rewritten) {
    if done.messages.is_none() && !done.edits.is_empty() {
        if let Some(edits) = unseen.take_out_edits(before, &done.edits) {
            done.edits = edits;
            return;
        }
        done.messages = done.after(unseen.with());
        done.edits.clear();
    }
    let after = done.messages.take();
    done.messages = after.map(|after| unseen.take_out(after));
}

impl Run<'_> {
    /// An action has come to its end: what it did lands now or later.
    pub(super) fn done(&mut self, stage: usize, talk: Talk, mut done: Rewritten) {
        self.named.memory.update(&done.memory);
        let delay = self.triggers.bound(stage).delay.as_ref();
        let delay = delay.map_or(0.0, |steps| steps.value(&self.triggers.moment)) as usize;
        if delay > 0 && (done.messages.is_some() || !done.edits.is_empty()) {
            if let Some(unseen) = self.stand_in(&talk) {
                without(&unseen, &talk.before, &mut done);
            }
            done.messages = done.after(&talk.before);
            done.edits.clear();
            self.triggers.tried(stage, self.step);
            self.named.delayed.push(Delayed {
                stage,
                lands_at: self.step + delay,
                talk,
                done,
            });
        } else {
            self.land(stage, &talk, done);
        }
    }

    /// Lands what was worked out in the background and is ready by now: it changes what it saw, and what was said
    /// since stands behind that.
    pub(in crate::engine) fn land_delayed(&mut self) {
        if self.named.delayed.is_empty() {
            return;
        }
        let all = std::mem::take(&mut self.named.delayed);
        let (ready, later): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|d| d.lands_at <= self.step);
        self.named.delayed = later;
        for Delayed {
            stage,
            mut talk,
            mut done,
            ..
        } in ready
        {
            let Action::Named(named) = &self.triggers.bound(stage).action else {
                continue;
            };
            let (now, spans) = self.working.messages(0, named.spec.shape);
            if let Some(after) = &done.messages {
                let merged = merge(&talk.before, after, &now);
                if merged.is_none() {
                    let late = "It came too late: what it would have changed is gone.";
                    done.log.push(late.to_owned());
                }
                done.messages = merged;
            }
            (talk.before, talk.spans) = (now, spans);
            self.land(stage, &talk, done);
        }
    }

    /// Changes the context as an action left it and notes the event.
    fn land(&mut self, stage: usize, talk: &Talk, mut done: Rewritten) {
        let (before, orphans) = (self.working.tokens(), self.working.orphans());
        let measured = self.measured();
        let earlier: Vec<_> = if talk.answers.is_empty() {
            Vec::new()
        } else {
            let summaries = self.working.summaries();
            summaries
                .map(|(id, summary)| (id, Arc::clone(&summary.text)))
                .collect()
        };
        let event = self.outcome.events.len() as u32;
        let metered = self.working.metered().as_f64();
        let absorbed = self.change(stage, talk, &mut done);
        let changed = absorbed.is_some();
        let has_news = done.fired || !done.log.is_empty() || done.halt.is_some();
        if !changed && !has_news {
            self.idle(Idle::NothingToTake);
            return;
        }
        let absorbed = absorbed.unwrap_or_default();
        self.note_pins(stage, &absorbed.messages);
        let goes_on = self.goes_on(stage);
        let repairs = self.triggers.stage(stage).action.name() == "repair";
        self.triggers.tried(stage, self.step);
        if changed {
            self.triggers.fired(stage, self.step);
            self.acted = true;
        }
        self.outcome.compactions += usize::from(absorbed.removed && !goes_on && !repairs);
        if let Some(why) = &done.halt {
            self.outcome.halts.push(Halt {
                step: self.step,
                why: why.clone(),
            });
        }
        let mut cause = self.triggers.cause(stage);
        cause.terms.extend(done.terms);
        self.outcome.events.push(Event {
            step: self.step,
            stage: self.triggers.stage(stage).id.clone(),
            action: self.triggers.stage(stage).action.name(),
            cause,
            measured,
            before,
            after: self.working.tokens(),
            messages: widen(&absorbed.messages),
            request: (!talk.answers.is_empty()).then_some(talk.traffic),
            did: match (absorbed.removed, changed) {
                (true, _) => Did::Removed,
                (_, true) => Did::Changed,
                // What was written elsewhere, or ended the run, is no no-op.
                _ if done.fired && done.halt.is_none() && talk.answers.is_empty() => Did::Nothing,
                _ => Did::Told,
            },
            orphans: self.working.orphans().saturating_sub(orphans),
            forgotten: self.forgotten(talk, &earlier, event),
            left: self.working.spoken(),
            log: done.log,
            files: done.files,
            error: self.error_for(stage).cloned(),
        });
        if changed {
            self.took(stage, metered);
        }
    }

    /// How many of the earlier summaries are gone without having been shown to who wrote the new one.
    fn forgotten(&self, talk: &Talk, earlier: &[(u32, Arc<str>)], event: u32) -> usize {
        let is_there = |id: u32, text: &str| {
            let mut now = self.working.summaries().filter(|(known, _)| *known == id);
            now.any(|(_, now)| now.event != event || now.text.contains(end_of(text)))
        };
        let is_forgotten =
            |(id, text): &&(u32, Arc<str>)| !talk.shown.contains(id) && !is_there(*id, text);
        earlier.iter().filter(is_forgotten).count()
    }

    /// Changes the context as an action left it, if that is different.
    fn change(&mut self, stage: usize, talk: &Talk, done: &mut Rewritten) -> Option<Absorbed> {
        let change = New {
            event: self.outcome.events.len() as u32,
            is_predicted: talk.is_predicted,
        };
        let is_edited = done.messages.is_none() && !done.edits.is_empty();
        let stand_in = is_edited.then(|| self.stand_in(talk)).flatten();
        let seen = (talk, stand_in.as_ref());
        if is_edited && let Some(again) = self.view_again(stage, seen, &mut done.edits, change) {
            return Some(again);
        }
        let given = done.edits.clone();
        if let Some(unseen) = &stand_in {
            without(unseen, &talk.before, done);
        }
        let after = After::of(&talk.before, done)?;
        let is_first = self.store.is_none();
        self.mutate(stage);
        let retouched = self.put(talk, &after, change);
        if let After::Edits(edits) = after
            && is_first
            && is_edited
            && talk.is_plain()
        {
            self.keep_view(stage, (talk, change), (given, edits), &retouched);
        }
        Some(retouched.absorbed)
    }

    /// Puts what an action left in the place of what it saw.
    pub(in crate::engine) fn put(&mut self, talk: &Talk, after: &After, change: New) -> Retouched {
        let before = &talk.before;
        let all = match after {
            After::All(all) => all,
            After::Edits(edits) => {
                if let Some(edits) = Retouch::new(self.case, before, edits, &talk.spans) {
                    return self.working.retouch(talk.first, edits, change, &[]);
                }
                &edited(before, edits)
            }
        };
        Retouched {
            absorbed: self.working.rewrite(talk.first, (before, all), change),
            gone: Vec::new(),
            has_heirs: true,
        }
    }

    /// Whether a stage only does for this call what it did for the one before: a view that is made anew each time.
    fn goes_on(&self, stage: usize) -> bool {
        let is_view = self.triggers.stage(stage).mutates == Mutates::View;
        is_view
            && self
                .triggers
                .last_fired(stage)
                .is_some_and(|last| last + 1 >= self.step)
    }
}
