//! Whether the context of a call is the one that the recorded program sent. What its provider reported then is what the
//! policy's system would have been told.

use super::Run;
use crate::engine::context::EntryBody;
use crate::engine::expr::Quantity;
use crate::engine::meter::Count;
use crate::session::{Message, Role, Session, Usage};
use crate::units::Tokens;
use std::collections::HashSet;

/// The last comparison of a run's context with the recorded one. Between compactions both grow by the same messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AsRecorded {
    n_events: usize,
    n_compactions: usize,
    is_equal: bool,
}

/// The messages of a context, without instructions.
#[derive(Default)]
struct Content {
    /// Messages of the history, by index.
    history: Vec<usize>,
    /// Number of messages that the program or the policy wrote.
    n_written: usize,
}

impl Run<'_> {
    /// Returns whether this call's context is the recorded one, apart from texts that the program or the policy wrote.
    pub(super) fn is_as_recorded(&mut self) -> bool {
        let session = &*self.case.session;
        let n_compactions = session.compactions.iter().filter(|c| c.call <= self.call).count();
        let n_events = self.outcome.events.len();
        if (n_events == 0) != (n_compactions == 0) {
            return false;
        }
        if n_events == 0 {
            return true;
        }
        let last = self.as_recorded;
        if (last.n_events, last.n_compactions) != (n_events, n_compactions) {
            let is_equal = self.has_recorded_content();
            self.as_recorded = AsRecorded { n_events, n_compactions, is_equal };
        }
        self.as_recorded.is_equal
    }

    fn has_recorded_content(&self) -> bool {
        let session = &*self.case.session;
        let Some(end) = session.calls.get(self.call).map(|call| call.context_end) else {
            return false;
        };
        let mut recorded = Content::default();
        for idx in session.real_context(end) {
            recorded.add(session, idx);
        }
        let (mut own, mut whole) = (Content::default(), HashSet::new());
        for entry in &self.working.context.entries {
            match &entry.body {
                EntryBody::Original(idx) => {
                    own.add(session, *idx as usize);
                    whole.insert(*idx as usize);
                }
                EntryBody::Edited(edited) => own.add(session, edited.message as usize),
                EntryBody::Written(_) => own.n_written += 1,
            }
        }
        // The program may send copies of messages, such as its description of the environment, or what it kept of one.
        recorded.history.iter().all(|idx| whole.contains(idx))
            && own.history.len() <= recorded.history.len() + recorded.n_written
    }

    /// Returns the usage that the provider reported for this call, if the context is the recorded one.
    pub(super) fn recorded_usage(&mut self) -> Option<Usage> {
        let usage = self.case.session.calls.get(self.call)?.usage?;
        (usage.input > Tokens::ZERO && self.is_as_recorded()).then_some(usage)
    }

    /// Sets the quantities that a provider reports after a call: as the user gave them; as recorded, if there is a recorded
    /// usage of this context; else as counted. `metered` are prompt and answer on the policy's own meter.
    pub(super) fn note_report(
        &mut self,
        metered: [Tokens; 2],
        counted: [Tokens; 2],
        recorded: Option<Usage>,
    ) {
        let given = self.case.reported_at(self.call);
        let reported = match (given, recorded) {
            (Some(given), _) => {
                given.map_or([Tokens::ZERO; 2], |given| [given.input, given.output])
            }
            (None, Some(usage)) => [usage.input, usage.output.unwrap_or(counted[1])],
            (None, None) => counted,
        };
        let is_own = given.is_none() && !matches!(self.working.meter.count, Count::True);
        let [last_input, answer] = if is_own { metered } else { reported };
        let moment = &mut self.triggers.moment;
        moment.set(Quantity::LastInput, last_input.as_f64());
        moment.set(Quantity::LastTotal, (last_input + answer).as_f64());
        moment.set(Quantity::ReportedInput, reported[0].as_f64());
        moment.set(Quantity::ReportedOutput, reported[1].as_f64());
    }
}

impl Content {
    fn add(&mut self, session: &Session, idx: usize) {
        let message: &Message = &session.messages[idx];
        if !message.in_history {
            self.n_written += 1;
        } else if message.role != Role::System {
            self.history.push(idx);
        }
    }
}
