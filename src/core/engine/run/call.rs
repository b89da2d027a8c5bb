//! One model call of a run: the messages added before and after it, the overflow check, and its view.

use super::view::View;
use super::{MAX_RETRIES, Phase, Run};
use crate::engine::WindowSource;
use crate::engine::expr::Quantity;
use crate::engine::outcome::Sample;
use crate::engine::policy::stages::Mutates;
use crate::engine::vocabulary::Hook;
use crate::engine::working::prefix::LastPrompt;
use crate::units::Tokens;

impl Run<'_> {
    pub(super) fn call(&mut self) {
        if let Some(view) = self.rejected_view.take() {
            if !self.acted {
                self.store = Some(Box::new(std::mem::replace(&mut self.working, *view)));
            } else if matches!(self.prefix.last, LastPrompt::Working) {
                // The store may never have been a prompt; the view of the rejected try begins with the last prompt.
                self.prefix.last = LastPrompt::Old(view);
            }
        }
        self.error = self.case.error_at(self.call, usize::from(self.failed)).cloned();
        if self.error.is_some() {
            self.failed += 1;
            return self.reject();
        }
        let used = self.working.tokens();
        let may_retry = self.rejected == 0 || (self.acted && self.rejected < MAX_RETRIES);
        let is_over = self.would_be_rejected(used);
        if is_over && may_retry {
            self.outcome.overflows += usize::from(self.rejected == 0);
            self.outcome.tokens_rejected += used;
            self.tokens_rejected += used;
            self.rejected += 1;
            return self.reject();
        }
        self.is_over = is_over;
        self.phase = Phase::Sent;
    }

    /// Records the call with the context that it was sent with, and appends its answer.
    pub(super) fn record_call(&mut self) {
        let used = self.working.tokens();
        let pressure = self.budget().pressure(used);
        let calls = &self.case.session.calls;
        let is_rejected = self.is_over && calls.get(self.call).is_some_and(|call| call.is_rejected);
        if is_rejected && self.acted {
            // No earlier try had this context.
            self.outcome.tokens_rejected += used;
            self.tokens_rejected += used;
        }
        let budget = self.budget();
        let others = (self.store.as_deref(), self.view.as_ref().and_then(View::kept));
        let common = self.prefix.advance(&self.working, others, used);
        self.recorder.note(&mut self.working, self.call, common);
        self.outcome.samples.push(Sample {
            call: self.call,
            turn: self.turn(self.call).unwrap_or(0),
            window: budget.window,
            metered: self.working.metered(),
            tokens: used,
            pressure,
            believed: self.triggers.believed(self.call, &self.working, budget),
            overflows: self.rejected > 0,
            is_rejected,
            rejected: std::mem::take(&mut self.tokens_rejected),
            unchanged: common.tokens,
            by_kind: self.working.by_kind(),
        });
        if self.until == Some(self.call) {
            self.settle();
            self.phase = Phase::Done;
            return;
        }
        let input = self.working.metered();
        let recorded = if self.triggers.are_settled { None } else { self.recorded_usage() };
        if self.call + 1 == self.case.session.calls.len() {
            self.settle();
        }
        self.back_to_store();
        self.learn_overhead(used);
        let kept = [self.working.metered(), self.working.tokens()];
        self.append_answer();
        if !self.triggers.are_settled {
            let metered = [input, self.working.metered() - kept[0]];
            let counted = [used, self.working.tokens() - kept[1]];
            self.note_report(metered, counted, recorded);
        }
        self.forget_report();
        self.acted = false;
        self.phase = self.skip_empty(Phase::Stages(Hook::AfterCall, 0));
    }

    /// Returns whether the provider would reject the call with a context of this size: one above the window, or at
    /// least as large as one that it rejected here. It accepts what it answered in the recorded run, whatever we count,
    /// unless the user asks about another window.
    fn would_be_rejected(&mut self, used: Tokens) -> bool {
        let session = &self.case.session;
        let call = session.calls.get(self.call);
        let rejected_size = call.and_then(|call| call.rejected_size);
        let is_over =
            self.budget().overflows(used) || rejected_size.is_some_and(|size| used >= size);
        let is_of_run = self.case.windows.source != WindowSource::User;
        let was_answered = is_of_run && call.is_some_and(|call| call.usage.is_some());
        is_over
            && self.case.reported_at(self.call).is_none()
            && !(was_answered && self.is_as_recorded())
    }

    /// Handles a call without an answer: stages may change the store rather than the call's view.
    pub(super) fn reject(&mut self) {
        self.acted = false;
        let attempt = u16::from(self.rejected) + self.failed;
        self.triggers.moment.set(Quantity::Attempt, f64::from(attempt));
        if let Some(store) = self.store.take() {
            let view = std::mem::replace(&mut self.working, *store);
            self.rejected_view = Some(Box::new(view));
        }
        self.phase = self.skip_empty(Phase::Stages(Hook::OverflowError, 0));
    }

    /// Prepares the context for a change by a stage. A view leaves the store unchanged. A stage that changes the store
    /// starts from the context that it received, including an earlier stage's view.
    pub(super) fn mutate(&mut self, idx: usize) {
        self.settle();
        match self.triggers.stage(idx).mutates {
            Mutates::View => {
                if self.store.is_none() {
                    let view = self.working.view();
                    self.store = Some(Box::new(std::mem::replace(&mut self.working, view)));
                }
            }
            Mutates::Store => {
                if let (Some(store), LastPrompt::Store) = (self.store.take(), &self.prefix.last) {
                    self.prefix.last = LastPrompt::Old(store);
                }
            }
        }
    }

    /// Appends the messages that this call's model wrote.
    fn append_answer(&mut self) {
        let start = self.working.context.messages_end;
        let answer = self.case.index.answer_len(start, self.call);
        self.working.append_history(start + answer);
    }

    /// Appends the messages of the history up to this index; each result passes the stages for results.
    pub(super) fn append(&mut self, end: usize) {
        if !self.triggers.act_at(Hook::ToolResult) {
            self.working.append_history(end);
            return;
        }
        for message in self.working.context.messages_end..end {
            let before = self.working.live.len();
            self.working.append_history(message + 1);
            if self.working.live.len() > before {
                self.run_result_stages();
            }
        }
    }
}
