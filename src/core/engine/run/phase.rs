//! The phases of a call, and their order.

use super::{Phase, Run, Schedule, recorded};
use crate::engine::expr::Quantity;
use crate::engine::vocabulary::Hook;
use crate::units::Tokens;

impl Run<'_> {
    /// Begins a call: appends the messages since the last call to the context.
    pub(super) fn enter(&mut self) {
        let session = &self.case.session;
        let Some(call) = session.calls.get(self.call) else {
            self.continue_last_view();
            self.append(session.messages.len());
            self.phase = Phase::Done;
            return;
        };
        let is_at_end = self.is_at_end();
        let is_marked = !is_at_end && self.case.restarts.binary_search(&self.call).is_ok();
        if is_marked && !std::mem::replace(&mut self.resumed, true) {
            self.phase = Phase::Stages(Hook::Resume, 0);
            return;
        }
        self.apply_delayed();
        let before = self.working.live.len();
        self.append(if is_at_end { session.messages.len() } else { call.context_end });
        if self.schedule != Schedule::Replay {
            let overhead = recorded::overhead(self.case, self.until);
            self.working.set_overhead(overhead);
        }
        self.triggers.moment.fired.fill(false);
        self.begin_call();
        let has_results = self.working.live.len() > before;
        let hook = match (has_results || self.is_forced(), self.turn_begins()) {
            (true, _) => Hook::AfterTools,
            (false, true) => Hook::TurnStart,
            (false, false) => Hook::BeforeCall,
        };
        self.phase = self.skip_empty(Phase::Stages(hook, 0));
    }

    /// Sets the measurements that are constant during a call.
    pub(super) fn begin_call(&mut self) {
        self.rejected = 0;
        self.error = None;
        self.failed = 0;
        if self.triggers.are_settled {
            return;
        }
        let call_in_turn = f64::from(self.call_in_turn());
        let idle = self.clock.idle(self.call);
        let moment = &mut self.triggers.moment;
        if self.model_window.is_some() {
            moment.set_model(self.model_window, self.case.model_at(self.call));
        }
        moment.set(Quantity::CallInTurn, call_in_turn);
        moment.set(Quantity::Idle, idle);
        moment.set(Quantity::Attempt, 0.0);
        moment.set_window(self.case.windows.at(self.call), self.case.window_share());
        if let Some(reserve) = &self.reserve {
            self.output_reserve = Tokens(reserve.value(moment).max(0.0).round() as u64);
        }
    }

    /// Returns the call within its turn, from 0.
    pub(super) fn call_in_turn(&self) -> u32 {
        let calls = &self.case.index.call_in_turn;
        calls.get(self.call).copied().unwrap_or(0)
    }

    /// Returns this phase, or the next one if it is a hook without stages.
    pub(super) fn skip_empty(&self, mut phase: Phase) -> Phase {
        while let Phase::Stages(hook, _) = phase
            && !self.triggers.act_at(hook)
        {
            phase = self.after_hook(hook);
        }
        phase
    }

    /// Returns the phase after the stages of a hook.
    #[inline]
    pub(super) fn after_hook(&self, hook: Hook) -> Phase {
        let is_now = self.schedule != Schedule::Replay;
        match hook {
            Hook::AfterTools if self.is_forced() || self.turn_begins() => {
                Phase::Stages(Hook::TurnStart, 0)
            }
            // No stage changed the context: the call stays as it was tried.
            Hook::OverflowError if !self.acted => Phase::Call,
            Hook::AfterTools | Hook::TurnStart | Hook::OverflowError => {
                Phase::Stages(Hook::BeforeCall, 0)
            }
            // The user started it, so stages at `manual` run too; no call is made.
            Hook::BeforeCall if is_now => Phase::Stages(Hook::Manual, 0),
            Hook::Manual => Phase::Done,
            Hook::BeforeCall => Phase::Call,
            Hook::Resume | Hook::ToolResult => Phase::Enter,
            Hook::AfterCall if self.turn_ends() => Phase::Stages(Hook::TurnEnd, 0),
            Hook::AfterCall | Hook::TurnEnd => Phase::Leave,
        }
    }

    pub(super) fn turn(&self, call: usize) -> Option<u32> {
        self.case.session.calls.get(call).map(|s| s.turn)
    }

    /// Returns whether a turn begins with this call. At the session's end the next call begins one, unless results are
    /// pending.
    fn turn_begins(&self) -> bool {
        if self.is_at_end() {
            let last = self.case.session.messages.len().checked_sub(1);
            return !last.is_some_and(|last| self.case.index.has_results(last));
        }
        self.call == 0 || self.turn(self.call - 1) != self.turn(self.call)
    }

    fn turn_ends(&self) -> bool {
        self.turn(self.call + 1) != self.turn(self.call)
    }

    /// Ends a call.
    pub(super) fn leave(&mut self) {
        self.call += 1;
        self.resumed = false;
        self.phase = Phase::Enter;
    }
}
