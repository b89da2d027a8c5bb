//! A run over a conversation that grows: it stops at every call, and continues when the next messages are known.
//!
//! The run is the same as in a replay. It is never repeated: what it decided stays, whatever arrives later.

use super::{Phase, Run, Schedule};
use crate::engine::case::Case;
use crate::engine::case::reported_usage::ReportedUsage;
use crate::engine::context::Context;
use crate::engine::outcome::event::Event;
use crate::engine::policy::{KnobValues, Policy};
use crate::engine::received::recorder::Recorder;
use crate::engine::vocabulary::Hook;
use crate::session::{says_too_long, stated_size};
use crate::units::{Share, Tokens};
use std::ops::Range;
use std::sync::Arc;

/// Sizes in errors from here on are no sizes of contexts.
const MAX_STATED: u64 = 1 << 40;

/// State of a live run besides the session.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
pub(super) struct Live {
    /// The call that waits for its response.
    waits_at: Option<usize>,
    /// Calls that were made without the run: no stage acts on them.
    unmanaged: Range<usize>,
    /// The usage that the provider reported for it.
    report: Option<ReportedUsage>,
    /// Whether the difference to the reported usage counts as content that is not recorded.
    learns: bool,
    /// Number of reports that were compared with a count, and the sum of the relative errors.
    compared: (u32, f64),
    /// Whether a report was learned from.
    has_learned: bool,
    /// Number of events that were taken.
    n_taken: u32,
    /// The last taken event of each stage.
    last_taken: Vec<TakenEvent>,
    /// Whether the provider rejected the call because its context was too long.
    is_too_long: bool,
    /// Whether a stage must act because the policy has none for rejected calls.
    is_forced: bool,
}

/// Last event of a stage, to compare the next one with.
#[derive(Debug)]
struct TakenEvent {
    number: u32,
    stage: String,
    messages: Vec<Range<usize>>,
}

impl<'a> Run<'a> {
    /// Creates a run over a conversation that grows. With `learns`, content that is not recorded weighs what the last
    /// reported usage exceeds the count by; otherwise the weights of the case stay as they are.
    pub fn live(case: &'a Case, policy: &'a Policy, knobs: &KnobValues, learns: bool) -> Self {
        let mut run = Self::new(case, policy, knobs, Schedule::Replay, None);
        run.recorder = Recorder::off();
        run.live = Some(Live {
            waits_at: None,
            unmanaged: 0..0,
            report: None,
            learns,
            compared: (0, 0.0),
            has_learned: false,
            n_taken: 0,
            last_taken: Vec::new(),
            is_too_long: false,
            is_forced: false,
        });
        run
    }

    /// Continues the run with another case, whose session begins with the messages of this one, and the same policy.
    pub fn moved_to<'b>(self, case: &'b Case, policy: &'b Policy) -> Run<'b> {
        let moved = |working: super::Working<'a>| Box::new(working.moved_to(case));
        let mut clock = self.clock;
        clock.grow(&case.session);
        Run {
            case,
            triggers: self.triggers.moved_to(policy),
            schedule: self.schedule,
            until: self.until,
            output_reserve: self.output_reserve,
            reserve: self.reserve,
            working: self.working.moved_to(case),
            store: self.store.map(|store| moved(*store)),
            view: self.view.map(|view| view.moved_to(case)),
            rejected_view: self.rejected_view.map(|view| moved(*view)),
            call: self.call,
            phase: self.phase,
            waiting: self.waiting,
            named: self.named,
            clock,
            model_window: self.model_window,
            rejected: self.rejected,
            tokens_rejected: self.tokens_rejected,
            prefix: self.prefix.moved_to(case),
            recorder: self.recorder,
            error: self.error,
            failed: self.failed,
            acted: self.acted,
            resumed: self.resumed,
            acts_from: self.acts_from,
            failures: self.failures,
            unpinned: self.unpinned,
            as_recorded: self.as_recorded,
            is_over: self.is_over,
            live: self.live,
            outcome: self.outcome,
        }
    }

    /// Continues up to the call with this index, which waits for its response. With `is_next`, the call before was the last
    /// to wait; otherwise the calls between were made without this run, and no stage acts on them.
    pub fn continue_to(&mut self, call: usize, is_next: bool) {
        if let Some(live) = &mut self.live {
            let first = live.waits_at.map_or(0, |last| last + 1);
            live.unmanaged = if is_next { 0..0 } else { first..call };
            live.waits_at = Some(call);
        }
        // Nobody reads them, and a conversation may have any number of calls.
        self.outcome.samples.clear();
        self.outcome.compared.clear();
    }

    /// Sets the usage that the provider reported for the call that waits.
    pub fn report(&mut self, usage: ReportedUsage) {
        if let Some(live) = &mut self.live {
            live.report = Some(usage);
        }
    }

    /// Records that the provider rejected the call that waits, with the text of its error. Stages for rejected calls act
    /// before it is sent again. A policy without any acts as if the user had forced a compaction, if the context was too
    /// long.
    pub fn reject_with(&mut self, error: &str) {
        let Some(live) = self.live.as_mut().filter(|_| self.phase == Phase::Sent) else {
            return;
        };
        let message = error.to_lowercase();
        live.is_too_long = says_too_long(&message);
        live.is_forced = live.is_too_long && !self.triggers.act_at(Hook::OverflowError);
        let is_forced = live.is_forced;
        let used = self.working.tokens();
        if let Some(size) = stated_size(&message).filter(|size| live.learns && size.0 < MAX_STATED)
        {
            live.has_learned = true;
            let overhead = size + self.working.context.overhead - used;
            self.working.set_overhead(overhead);
            if let Some(store) = &mut self.store {
                store.set_overhead(overhead);
            }
        }
        self.error = Some(Arc::from(error));
        self.failed = self.failed.saturating_add(1);
        self.outcome.tokens_rejected += used;
        self.reject();
        if is_forced {
            self.phase = Phase::Stages(Hook::BeforeCall, 0);
        }
    }

    /// Returns whether a stage acts because a rejected call must become smaller.
    pub(super) fn is_forced_by_rejection(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_forced && !self.acted)
    }

    /// Returns whether the provider rejected this call because its context was too long.
    pub(super) fn was_too_long(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_too_long)
    }

    /// Returns the context of the call that waits.
    pub fn context(&self) -> &Context {
        &self.working.context
    }

    /// Takes the events since the last time: a conversation may have any number of calls.
    pub fn take_events(&mut self) -> Vec<Event> {
        let events = std::mem::take(&mut self.outcome.events);
        if let Some(live) = &mut self.live {
            for event in &events {
                live.last_taken.retain(|last| last.stage != event.stage);
                live.last_taken.push(TakenEvent {
                    number: live.n_taken,
                    stage: event.stage.clone(),
                    messages: event.messages.clone(),
                });
                live.n_taken += 1;
            }
        }
        events
    }

    /// Returns the number of the next event.
    pub(super) fn next_event(&self) -> u32 {
        self.n_taken() + self.outcome.events.len() as u32
    }

    /// Returns the last event of a stage: its number, and the messages that it changed.
    pub(super) fn last_event(&self, stage: &str) -> Option<(u32, &[Range<usize>])> {
        let events = &self.outcome.events;
        if let Some(at) = events.iter().rposition(|event| event.stage == stage) {
            return Some((self.n_taken() + at as u32, &events[at].messages));
        }
        let mut taken = self.live.iter().flat_map(|live| &live.last_taken);
        let last = taken.find(|last| last.stage == stage)?;
        Some((last.number, &last.messages))
    }

    fn n_taken(&self) -> u32 {
        self.live.as_ref().map_or(0, |live| live.n_taken)
    }

    /// Returns the mean relative error of the counts so far, each compared with the usage that the provider reported for
    /// it later; `None` if the counts do not depend on reports or none was compared.
    pub fn measured_error(&self) -> Option<Share> {
        let live = self.live.as_ref()?;
        let (n, sum) = live.compared;
        (live.has_learned && n > 0).then(|| Share(sum / f64::from(n)))
    }

    /// Returns whether the counts were corrected with reported usage.
    pub fn has_learned(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.has_learned)
    }

    /// Returns whether this call was made without the run.
    pub(super) fn is_unmanaged(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.unmanaged.contains(&self.call))
    }

    /// Returns whether the call waits for the provider's response.
    pub(super) fn waits_for_response(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.waits_at == Some(self.call))
    }

    /// Returns the usage of this call that the user or a live provider gave.
    #[expect(clippy::option_option, reason = "an answer without usage is no unknown usage")]
    pub(super) fn given_report(&self) -> Option<Option<ReportedUsage>> {
        let live = self.live.as_ref().and_then(|live| live.report);
        live.map(Some).or_else(|| self.case.reported_at(self.call))
    }

    /// Forgets the usage of a call that is over.
    pub(super) fn forget_report(&mut self) {
        if let Some(live) = &mut self.live {
            live.report = None;
            (live.is_too_long, live.is_forced) = (false, false);
        }
    }

    /// Corrects the weight of content that is not recorded, after a call with a context of this counted size.
    pub(super) fn learn_overhead(&mut self, used: Tokens) {
        let Some(live) = &mut self.live else {
            return;
        };
        let Some(report) = live.report.filter(|_| live.learns) else {
            return;
        };
        if live.has_learned && report.input > Tokens::ZERO {
            let error = (used.as_f64() - report.input.as_f64()).abs() / report.input.as_f64();
            live.compared = (live.compared.0 + 1, live.compared.1 + error);
        }
        live.has_learned = true;
        let overhead = report.input + self.working.context.overhead - used;
        self.working.set_overhead(overhead);
    }
}
