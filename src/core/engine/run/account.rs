//! Records the actions of a run's stages: events, failures, and the final outcome.

use super::plan::Edit;
use super::{Failure, Run};
use crate::engine::outcome::event::{Effect, Event, RequestSize};
use crate::engine::outcome::warning::Warning;
use crate::engine::outcome::{Idle, Outcome};
use crate::engine::policy::stages::Mutates;
use crate::engine::vocabulary::OwnMeasure;
use crate::units::Tokens;

impl Run<'_> {
    /// Records a failed attempt of a stage.
    pub(super) fn failed(&mut self, stage: usize, why: String) {
        self.idle(Idle::Failed);
        let known = self.failures.iter_mut().find(|f| f.stage == stage && f.why == why);
        if let Some(failure) = known {
            failure.count += 1;
            return;
        }
        // The first failure of a kind is an event; a warning gives their number.
        self.log_event(stage, format!("not done: {why}"));
        self.failures.push(Failure { stage, why, first: self.call, count: 1 });
    }

    /// Applies an edit of a stage and records its event. `request` is the size of the summary request, if one was made.
    pub(super) fn apply(&mut self, idx: usize, mut edit: Edit, request: Option<RequestSize>) {
        let event = self.next_event();
        let measured = self.measured();
        self.mutate(idx);
        let before = self.working.tokens();
        let metered = self.working.metered().as_f64();
        let messages = edit.messages(&self.working);
        let files = edit.take_files();
        edit.apply(&mut self.working, event);
        let is_new = self.removes_more(idx, &messages);
        self.triggers.fired(idx, self.call);
        self.acted = true;
        self.outcome.compactions += usize::from(is_new);
        let event = Event {
            before,
            messages,
            request,
            effect: Effect::Removed,
            files,
            ..self.event_of(idx, measured)
        };
        self.outcome.events.push(event);
        // After the event, whose cause has the previous measurements.
        self.note_removed(idx, metered);
    }

    /// Returns the context in the policy's own count.
    pub(super) fn measured(&mut self) -> OwnMeasure {
        let budget = self.budget();
        OwnMeasure {
            metered: self.working.metered(),
            believed: self.triggers.believed(self.call, &self.working, budget),
        }
    }

    /// Records the tokens that a stage removed from the store, given the policy's own count before.
    pub(super) fn note_removed(&mut self, stage: usize, before: f64) {
        if self.triggers.stage(stage).mutates == Mutates::Store {
            self.triggers.note_removed(before, self.working.metered().as_f64());
        }
    }

    /// Returns an event of a stage that logs nothing and leaves the context as it is now.
    pub(super) fn event_of(&self, stage: usize, measured: OwnMeasure) -> Event {
        let tokens = self.working.tokens();
        Event {
            call: self.call,
            is_after_request: self.phase.is_after_request(),
            stage: self.triggers.stage(stage).id.clone(),
            action: self.triggers.stage(stage).action.kind(),
            cause: self.triggers.cause(stage),
            measured,
            before: tokens,
            after: tokens,
            messages: Vec::new(),
            request: None,
            effect: Effect::Logged,
            orphans: 0,
            forgotten: 0,
            left: self.working.n_messages(),
            log: Vec::new(),
            files: Vec::new(),
            error: self.error_for(stage).cloned(),
        }
    }

    /// Records an event of a stage that only logs a message.
    pub(super) fn log_event(&mut self, stage: usize, line: String) {
        let measured = self.measured();
        self.triggers.tried(stage, self.call);
        let event = Event { log: vec![line], ..self.event_of(stage, measured) };
        self.outcome.events.push(event);
    }

    /// Ends the run and returns its outcome.
    pub(super) fn finish(&mut self) -> Outcome {
        let end = self.working.tokens();
        let budget = self.budget();
        self.outcome.stop_at(end, budget);
        self.manual_edits();
        let mut outcome = std::mem::take(&mut self.outcome);
        outcome.context = std::mem::take(&mut self.working.context);
        outcome.received = self.recorder.finish();
        if outcome.removes() {
            outcome.idle = None;
        }
        for Failure { stage, why, first, count } in &self.failures {
            let often = match count - 1 {
                0 => String::new(),
                1 => " (and once more)".to_owned(),
                more => format!(" (and {more} times more)"),
            };
            let id = &self.triggers.stage(*stage).id;
            outcome.warnings.push(Warning {
                call: Some(*first),
                edit: None,
                text: format!("{id} was not done: {why}{often}"),
            });
        }
        let is_full = |window: &Tokens| *window <= self.output_reserve;
        let full = self.case.windows.per_call().iter().filter(|w| is_full(w)).count();
        if full > 0 {
            let plural = if full == 1 { "" } else { "s" };
            let text = format!("the output reserve leaves no usable window at {full} call{plural}");
            outcome.warnings.push(Warning::from(text.as_str()));
        }
        outcome
    }
}
