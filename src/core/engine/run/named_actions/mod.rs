//! Runs named actions: builds their input and issues their requests.

mod apply;
pub(super) use super::{Run, Waiting};
use crate::chat::{
    Block, ChatMessage, Checkpoint, PendingRequest, Replies, SummaryReply, SummaryRequest,
};
use crate::engine::agent_messages::contents::contents;
use crate::engine::agent_messages::stand_in::StandIn;
use crate::engine::context::taken::widen;
use crate::engine::expr::Quantity;
use crate::engine::named::RewriteInput;
use crate::engine::outcome::event::RequestSize;
use crate::engine::policy::stages::Action;
use crate::engine::run::named_state::PendingAction;
use crate::engine::summary::request::{Reply, Request};
use crate::units::Tokens;
use std::sync::Arc;

impl Run<'_> {
    /// Runs the named action of a stage on the entries from `first` on. Its requests wait for an answer.
    pub(super) fn start_action(&mut self, stage: usize, first: usize) {
        let forced = f64::from(u8::from(self.is_forced()));
        self.triggers.moment.set(Quantity::Forced, forced);
        let Action::Named(named) = &self.triggers.bound(stage).action else {
            return;
        };
        let shape = named.spec.shape;
        let (before, spans) = self.working.messages(first, shape);
        self.continue_action(
            stage,
            PendingAction {
                first,
                before,
                spans,
                answers: Vec::new(),
                checkpoint: Checkpoint::default(),
                is_predicted: false,
                shown: Vec::new(),
                requested: RequestSize::default(),
            },
        );
    }

    /// Runs a named action with the answers so far, until it finishes or makes a request.
    fn continue_action(&mut self, stage: usize, mut pending: PendingAction) {
        let case = self.case;
        let stand_in = self.stand_in(&pending);
        let Action::Named(named) = &self.triggers.bound(stage).action else {
            return;
        };
        let with = stand_in.as_ref().map(StandIn::with);
        let messages = with.unwrap_or(&pending.before).clone();
        let input = RewriteInput {
            messages,
            tools: case.originals().tools(&case.session),
            numbers: &named.values(&self.triggers.moment),
            at: self.triggers.stage(stage).at,
            call: self.call,
            turn: self.turn(self.call).unwrap_or(0),
            call_in_turn: self.call_in_turn(),
            now: self.clock.at(self.call),
            since: self.clock.since(),
            model: case.model_at(self.call),
            window: self.budget().window.0,
            memory: self.named.memory.clone(),
            error: self.error_for(stage).map_or("", |error| &**error),
            storage: &case.storage,
        };
        let mut replies = Replies::continued(&pending.answers, &mut pending.checkpoint);
        match named.rewrite.rewrite(input, &mut replies) {
            Ok(mut done) => {
                if let Some(stand_in) = &stand_in {
                    done.messages = done.messages.map(|after| stand_in.take_out(after));
                }
                self.done(stage, pending, done);
            }
            Err(PendingRequest(mut verbatim)) => {
                self.note_shown(&mut pending, &verbatim);
                let mut unsent = Tokens::ZERO;
                if let Some(stand_in) = &stand_in {
                    if stand_in.is_among(&verbatim.messages) {
                        unsent = self.working.context.overhead;
                    }
                    verbatim.messages = stand_in.take_out(verbatim.messages);
                }
                let usual = named.answer_tokens.as_ref();
                let usual = usual.map(|tokens| tokens.value(&self.triggers.moment));
                let usual = usual.map(|tokens| Tokens(tokens.max(1.0) as u64));
                let mut request = self.request(stage, &pending, &verbatim, usual);
                request.input += unsent;
                self.waiting = Some(Waiting::Action(stage, pending, request));
            }
        }
    }

    /// Returns the stand-in for instructions that are not recorded, if the policy counts instructions and receives
    /// them.
    fn stand_in(&mut self, pending: &PendingAction) -> Option<StandIn> {
        let overhead = self.working.context.overhead;
        if pending.first > 0 || !self.working.counts_overhead() {
            return None;
        }
        if !self.named.stand_in.as_ref().is_some_and(|known| known.fits(&pending.before)) {
            self.named.stand_in = StandIn::new(self.case, overhead, &pending.before);
        }
        let stand_in = self.named.stand_in.as_mut()?;
        stand_in.put_in(&pending.before);
        Some(stand_in.clone())
    }

    /// Records which earlier summaries a request contains. A text that an answer of this action also contains does not
    /// count: stand-ins of one size are identical.
    fn note_shown(&self, pending: &mut PendingAction, verbatim: &SummaryRequest) {
        for (id, summary) in self.working.summaries() {
            let end = end_of(&summary.text);
            let is_in_reply = |reply: &SummaryReply| matches!(reply, SummaryReply::Text(text) if text.contains(end));
            let has_it = |message: &ChatMessage| {
                let blocks = message.blocks().iter().filter_map(Block::as_text);
                let mut texts = message.text().into_iter().chain(blocks);
                texts.any(|text| text.contains(end))
            };
            let is_known = pending.shown.contains(&id) || pending.answers.iter().any(is_in_reply);
            if !is_known && verbatim.messages.iter().any(has_it) {
                pending.shown.push(id);
            }
        }
    }

    /// Continues with an answer.
    pub(super) fn continue_with_answer(
        &mut self,
        stage: usize,
        mut pending: PendingAction,
        request: &Request,
        reply: Reply,
    ) {
        pending.requested.sent += request.input;
        pending.answers.push(match reply {
            Reply::Failed(why) => SummaryReply::Failed(why),
            Reply::ToolCall => SummaryReply::ToolCall,
            Reply::Predicted(text) => {
                pending.is_predicted = true;
                SummaryReply::Text(text)
            }
            Reply::Summary(text) => SummaryReply::Text(text),
        });
        if let Some(SummaryReply::Text(text)) = pending.answers.last() {
            let received = self.case.ledger.weigh(text);
            pending.requested.answer += received;
            self.outcome.summaries.received += received;
        }
        self.continue_action(stage, pending);
    }

    /// Describes the request of a named action by its content.
    fn request(
        &self,
        stage: usize,
        pending: &PendingAction,
        verbatim: &SummaryRequest,
        usual: Option<Tokens>,
    ) -> Request {
        let mut content = contents(self.case, &verbatim.messages);
        if content.messages.is_empty() {
            // If it renders the conversation itself, the request covers the messages that it received.
            let conversation: Vec<_> =
                pending.before.iter().filter(|m| !m.is("system")).cloned().collect();
            content.messages = contents(self.case, &conversation).messages;
            content.texts.clear();
        }
        let covers = widen(&content.messages);
        let max_tokens = Tokens(verbatim.max_tokens.unwrap_or(USUAL_ANSWER).max(1));
        Request {
            call: self.call,
            stage: self.triggers.stage(stage).id.clone(),
            messages: covers.clone(),
            covers,
            written: content.texts,
            input: content.tokens,
            prefix: String::new(),
            max_tokens,
            predicted: usual.unwrap_or(max_tokens).min(max_tokens),
            prompt: String::new(),
            verbatim: Some(Arc::new(verbatim.clone())),
        }
    }
}

/// Maximum tokens of an answer if the system sets no limit. Chosen: it only affects the predicted size of the summary,
/// and with it the contexts after a compaction, until an export asks a model.
const USUAL_ANSWER: u64 = 1_024;

/// Number of characters at the end of a summary that identify it in another text; the text before them varies. Chosen:
/// a line of text. Two summaries of a run do not end with the same line, unless both are fillers.
const END: usize = 80;

fn end_of(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.char_indices().rev().nth(END - 1);
    start.map_or(text, |(at, _)| &text[at..])
}
