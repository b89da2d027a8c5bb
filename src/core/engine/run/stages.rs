//! Runs the stages of a hook, and those for tool results.

use super::plan::{self, Edit, Plan};
use super::shorten::shorten;
use super::{Phase, Run, Waiting};
use crate::engine::policy::stages::{Action, Mutates};
use crate::engine::vocabulary::Hook;
use std::sync::Arc;

impl Run<'_> {
    /// Runs the stages of a hook from `first` on, until one makes a request.
    pub(super) fn stages(&mut self, hook: Hook, first: usize) {
        for idx in first..self.triggers.len() {
            let stage = self.triggers.stage(idx);
            // Another try of a rejected call builds its view from the store; all other stages are skipped.
            let is_forced = self.is_forced_by_rejection();
            let is_retry = self.rejected > 0 || self.failed > 0;
            let is_over = hook == Hook::BeforeCall && is_retry && !is_forced;
            let is_due = !is_over || stage.mutates == Mutates::View;
            if stage.at != hook || !is_due || !self.can_respond(idx) || !self.fires(idx) {
                continue;
            }
            self.phase = Phase::Stages(hook, idx + 1);
            self.run_stage(idx);
            if self.waiting.is_some() {
                return;
            }
        }
        self.phase = self.skip_empty(self.after_hook(hook));
    }

    /// Runs one stage until it acts or makes a request.
    pub(super) fn run_stage(&mut self, idx: usize) {
        let (stage, moment) = (self.triggers.bound(idx), &self.triggers.moment);
        match &stage.action {
            Action::Named(_) => return self.start_action(idx, 0),
            Action::Log(log) => {
                let line = log.line(moment);
                return self.log_event(idx, line);
            }
            Action::Clear(_)
            | Action::Cut(_)
            | Action::Dedupe(_)
            | Action::Drop(_)
            | Action::Summarize(_) => {}
        }
        match plan::plan(self.case, &self.working, stage, self.call, moment) {
            Plan::Nothing(why) => self.idle(why),
            Plan::Ready(edit) => {
                self.tried(idx);
                self.apply(idx, edit, None);
            }
            Plan::NeedsSummary(request, pending) => {
                self.tried(idx);
                self.waiting = Some(Waiting::Edit(idx, pending, request));
            }
        }
    }

    /// Records that a stage has a plan: its cooldown starts, and the current measurements are its cause.
    pub(super) fn tried(&mut self, idx: usize) {
        self.triggers.tried(idx, self.call);
        let budget = self.budget();
        self.triggers.measure(self.call, &self.working, budget);
    }

    /// Returns the provider error that a stage responds to.
    pub(super) fn error_for(&self, stage: usize) -> Option<&Arc<str>> {
        let answers = self.triggers.stage(stage).at == Hook::OverflowError;
        self.error.as_ref().filter(|_| answers)
    }

    /// Returns whether a stage can use the provider error: only a real system's own action reads its text.
    pub(super) fn can_respond(&self, stage: usize) -> bool {
        self.error_for(stage).is_none()
            || self.was_too_long()
            || self.triggers.stage(stage).action.reads_errors()
    }

    /// Returns whether a stage fires. `force` ignores triggers and cooldowns up to the first compaction, but not a
    /// disabled stage. It stands for the command by which a user compacts: of a policy that writes summaries, only these
    /// stages are forced.
    pub(super) fn fires(&mut self, idx: usize) -> bool {
        if self.call < self.acts_from || self.is_unmanaged() {
            return false;
        }
        if (self.is_forced() || self.is_forced_by_rejection()) && self.triggers.may_be_forced(idx) {
            self.triggers.measure(self.call, &self.working, self.budget());
            return true;
        }
        let compared = self.triggers.compared(idx, self.call, &self.working, self.budget());
        self.outcome.compared.extend(compared.map(|count| (self.call, count)));
        let fires = self.triggers.fires(idx, self.call, &self.working, self.budget());
        fires.map_err(|why| self.idle(why)).is_ok()
    }

    /// Runs the stages for tool results on the newest entry. They cannot make requests.
    pub(super) fn run_result_stages(&mut self) {
        let newest = self.working.context.entries.len().saturating_sub(1);
        for stage in 0..self.triggers.len() {
            let is_for_results = self.triggers.stage(stage).at == Hook::ToolResult;
            if is_for_results && self.fires(stage) {
                match &self.triggers.bound(stage).action {
                    Action::Cut(_) => self.cut(stage),
                    Action::Named(_) => self.start_action(stage, newest),
                    // Policies with these actions at `tool_result` are rejected.
                    Action::Clear(_)
                    | Action::Dedupe(_)
                    | Action::Drop(_)
                    | Action::Summarize(_)
                    | Action::Log(_) => {}
                }
                self.waiting = None;
            }
        }
    }

    /// Shortens the results of the newest message for a stage at `tool_result`.
    fn cut(&mut self, idx: usize) {
        let stage = self.triggers.bound(idx);
        let live = &self.working.live;
        let (Action::Cut(cut), Some(newest)) = (&stage.action, live.last()) else {
            return;
        };
        let places = live.partition_point(|r| r.message < newest.message)..live.len();
        let moment = &self.triggers.moment;
        let shortened = shorten(self.case, &self.working, (stage, cut), places, moment);
        if !shortened.results.is_empty() {
            self.triggers.tried(idx, self.call);
            self.apply(idx, Edit::Shorten(shortened), None);
        }
    }
}
