//! Runs named actions in a run: gives them their scene, carries their questions out, and lands what they did.

use super::absorb::{Absorbed, New};
use super::event::{Did, Event};
use super::merge::merge;
use super::outcome::{Halt, Idle};
use super::retouch::{Retouch, Retouched, edits_of};
use super::rewrite::{Memory, MessageEdit, Rewritten, Scene, edited};
use super::run::{Run, Waiting};
use super::scene::Spans;
use super::stages::{Action, Hook, Mutates};
use super::taken::widen;
use super::unseen::StandIn;
use super::{Reply, Request, scene};
use crate::chat::{Ask, Block, ChatMessage, Dialogue, Heard, Messages, Wants};
use crate::units::Tokens;
use serde_json::Value;
use std::sync::Arc;

/// What named actions keep during a run.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// By key, shared by the policy's actions.
    memory: Memory,
    /// What has been worked out and lands later.
    delayed: Vec<Delayed>,
    /// What stands for the instructions that the file lacks, as it was last needed.
    stand_in: Option<StandIn>,
}

/// A named action that has asked.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    /// The first entry that it sees.
    first: usize,
    /// What it saw.
    pub(super) before: Messages,
    /// The entries that this is made of.
    pub(super) spans: Arc<Spans>,
    answers: Vec<Heard>,
    /// An answer is a stand-in.
    is_predicted: bool,
    /// Summaries of ours, by the ids of their entries, that were in what it asked with.
    shown: Vec<u32>,
    /// True tokens sent and received.
    traffic: (Tokens, Tokens),
}

/// What an action did in the background.
#[derive(Debug)]
struct Delayed {
    stage: usize,
    lands_at: usize,
    talk: Talk,
    done: Rewritten,
}

/// What an action left of what it saw, where that is different.
pub(super) enum After {
    /// All of it.
    All(Vec<ChatMessage>),
    /// What became of single messages; the others stand where they stood.
    Edits(Vec<MessageEdit>),
}

impl Talk {
    /// Whether it is about the whole context and nothing was asked.
    pub(super) fn is_plain(&self) -> bool {
        self.first == 0 && self.answers.is_empty()
    }
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
    /// Runs the named action of a stage on the entries from `first` on. What it asks for waits for an answer.
    pub(super) fn act(&mut self, stage: usize, first: usize) {
        let Action::Named(named) = &self.triggers.bound(stage).action else {
            return;
        };
        let shape = named.spec.shape;
        let (before, spans) = self.working.messages(first, shape);
        self.go_on(
            stage,
            Talk {
                first,
                before,
                spans,
                answers: Vec::new(),
                is_predicted: false,
                shown: Vec::new(),
                traffic: (Tokens::ZERO, Tokens::ZERO),
            },
        );
    }

    /// Runs a named action with the answers so far, until it is done or asks.
    fn go_on(&mut self, stage: usize, talk: Talk) {
        let case = self.case;
        let stand_in = self.stand_in(&talk);
        let Action::Named(named) = &self.triggers.bound(stage).action else {
            return;
        };
        let with = stand_in.as_ref().map(StandIn::with);
        let messages = with.unwrap_or(&talk.before).clone();
        let scene = Scene {
            messages,
            tools: case.originals().tools(case),
            numbers: &named.values(&self.triggers.moment),
            at: self.triggers.stage(stage).at,
            step: self.step,
            turn: (self.turn(self.step).unwrap_or(0), self.call_in_turn()),
            now: self.clock.at(self.step),
            model: case.model_at(self.step),
            window: self.budget().window.0,
            memory: self.named.memory.clone(),
            error: self.error_for(stage).map_or("", |error| &**error),
            storage: &case.storage,
        };
        match named
            .rewrite
            .rewrite(scene, &mut Dialogue::new(&talk.answers))
        {
            Ok(mut done) => {
                if let Some(unseen) = &stand_in {
                    done.messages = done.messages.map(|after| unseen.take_out(after));
                }
                self.done(stage, talk, done);
            }
            Err(Wants(mut ask)) => {
                let mut talk = talk;
                self.note_shown(&mut talk, &ask);
                let mut unsent = Tokens::ZERO;
                if let Some(unseen) = &stand_in {
                    if unseen.is_among(&ask.messages) {
                        unsent = self.working.context.overhead;
                    }
                    ask.messages = unseen.take_out(ask.messages);
                }
                let predicted = named.answer_tokens.value(&self.triggers.moment);
                let mut request = self.request(stage, &talk, &ask, predicted.max(1.0) as u64);
                request.input += unsent;
                self.waiting = Some(Waiting::Named(stage, talk, request));
            }
        }
    }

    /// What stands for the instructions that the file lacks, where the policy counts instructions and sees them.
    fn stand_in(&mut self, talk: &Talk) -> Option<StandIn> {
        let overhead = self.working.context.overhead;
        if talk.first > 0 || !self.working.counts_overhead() {
            return None;
        }
        if !self
            .named
            .stand_in
            .as_ref()
            .is_some_and(|known| known.fits(&talk.before))
        {
            self.named.stand_in = StandIn::new(self.case, overhead, &talk.before);
        }
        let stand_in = self.named.stand_in.as_mut()?;
        stand_in.put_in(&talk.before);
        Some(stand_in.clone())
    }

    /// Notes which earlier summaries are in a request. What an answer of this very talk says too is no proof: stand-ins
    /// of one size are alike.
    fn note_shown(&self, talk: &mut Talk, ask: &Ask) {
        for (id, summary) in self.working.summaries() {
            let end = end_of(&summary.text);
            let is_heard = |heard: &Heard| matches!(heard, Heard::Text(text) if text.contains(end));
            let has_it = |message: &ChatMessage| {
                let blocks = message.blocks().iter().filter_map(Block::as_text);
                let mut texts = message.text().into_iter().chain(blocks);
                texts.any(|text| text.contains(end))
            };
            let is_known = talk.shown.contains(&id) || talk.answers.iter().any(is_heard);
            if !is_known && ask.messages.iter().any(has_it) {
                talk.shown.push(id);
            }
        }
    }

    /// Goes on with an answer.
    pub(super) fn heard(&mut self, stage: usize, mut talk: Talk, request: &Request, reply: Reply) {
        talk.traffic.0 += request.input;
        talk.answers.push(match reply {
            Reply::Failed(why) => Heard::Failed(why),
            Reply::Called => Heard::Called,
            Reply::Predicted(text) | Reply::Summary(text) if !request.fits(self.case, &text) => {
                Heard::Failed(format!(
                    "the answer weighs more than the {} tokens allowed ({text:.20}…)",
                    request.max_tokens.0
                ))
            }
            Reply::Predicted(text) => {
                talk.is_predicted = true;
                Heard::Text(text)
            }
            Reply::Summary(text) => Heard::Text(text),
        });
        if let Some(Heard::Text(text)) = talk.answers.last() {
            let received = self.case.ledger.weigh(text);
            talk.traffic.1 += received;
            self.outcome.summaries.received += received;
        }
        self.go_on(stage, talk);
    }

    /// The request of a named action, described by what is in it.
    fn request(&self, stage: usize, talk: &Talk, ask: &Ask, predicted: u64) -> Request {
        let mut seen = scene::contents(self.case, &ask.messages);
        if seen.messages.is_empty() {
            // It writes the conversation down in words of its own: what it speaks of is what it saw.
            let said: Vec<_> = talk
                .before
                .iter()
                .filter(|m| !m.is("system"))
                .cloned()
                .collect();
            seen.messages = scene::contents(self.case, &said).messages;
            seen.texts.clear();
        }
        let covers = widen(&seen.messages);
        Request {
            step: self.step,
            stage: self.triggers.stage(stage).id.clone(),
            messages: covers.clone(),
            covers,
            written: seen.texts,
            input: seen.tokens,
            prefix: String::new(),
            max_tokens: Tokens(ask.max_tokens.map_or(predicted, |max| max.min(predicted))),
            prompt: String::new(),
            ask: Some(Arc::new(ask.clone())),
        }
    }

    /// An action has come to its end: what it did lands now or later.
    fn done(&mut self, stage: usize, talk: Talk, mut done: Rewritten) {
        if let (Value::Object(kept), Value::Object(new)) = (&mut self.named.memory, &done.memory) {
            kept.extend(new.clone());
        } else if done.memory.is_object() {
            self.named.memory = done.memory.clone();
        }
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
    pub(super) fn land_delayed(&mut self) {
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
    pub(super) fn put(&mut self, talk: &Talk, after: &After, change: New) -> Retouched {
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

    /// Runs the stages for a tool's result on the newest entry. They cannot ask.
    pub(super) fn on_result(&mut self) {
        let newest = self.working.context.entries.len().saturating_sub(1);
        for stage in 0..self.triggers.len() {
            let is_for_results = self.triggers.stage(stage).at == Hook::ToolResult;
            if is_for_results && self.fires(stage) {
                match &self.triggers.bound(stage).action {
                    Action::Cut(_) => self.cut(stage),
                    _ => self.act(stage, newest),
                }
                self.waiting = None;
            }
        }
    }
}

/// Characters at a summary's end by which it is found in another text: what stands before it differs from place to place.
const END: usize = 80;

fn end_of(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.char_indices().rev().nth(END - 1);
    start.map_or(text, |(at, _)| &text[at..])
}
