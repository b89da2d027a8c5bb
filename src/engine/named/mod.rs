//! Runs named actions in a run: gives them their scene and carries their questions out.

mod land;

pub(super) use land::After;

use super::memory::Memory;
use super::rewrite::{Rewritten, Scene};
use super::run::{Run, Waiting};
use super::scene::Spans;
use super::stages::{Action, Hook};
use super::taken::widen;
use super::unseen::StandIn;
use super::{Reply, Request, scene};
use crate::chat::{Ask, Block, ChatMessage, Dialogue, Heard, Messages, Wants};
use crate::units::Tokens;
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

impl Talk {
    /// Whether it is about the whole context and nothing was asked.
    pub(super) fn is_plain(&self) -> bool {
        self.first == 0 && self.answers.is_empty()
    }
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
            since: self.clock.since(),
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
                let usual = named.answer_tokens.as_ref();
                let usual = usual.map(|tokens| tokens.value(&self.triggers.moment));
                let usual = usual.map(|tokens| Tokens(tokens.max(1.0) as u64));
                let mut request = self.request(stage, &talk, &ask, usual);
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
    fn request(&self, stage: usize, talk: &Talk, ask: &Ask, usual: Option<Tokens>) -> Request {
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
        let max_tokens = Tokens(ask.max_tokens.unwrap_or(USUAL_ANSWER).max(1));
        Request {
            step: self.step,
            stage: self.triggers.stage(stage).id.clone(),
            messages: covers.clone(),
            covers,
            written: seen.texts,
            input: seen.tokens,
            prefix: String::new(),
            max_tokens,
            predicted: usual.unwrap_or(max_tokens).min(max_tokens),
            prompt: String::new(),
            ask: Some(Arc::new(ask.clone())),
        }
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

/// The most tokens that an answer may have where a system sets no limit.
const USUAL_ANSWER: u64 = 1_024;

/// Characters at a summary's end by which it is found in another text: what stands before it differs from place to place.
const END: usize = 80;

fn end_of(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.char_indices().rev().nth(END - 1);
    start.map_or(text, |(at, _)| &text[at..])
}
