//! The usage that was recorded for a context, for a call of a replay whose context is the same. A system is given this count
//! as its provider reported it; any other count is ours.

use super::Run;
use crate::engine::context::EntryBody;
use crate::engine::expr::Quantity;
use crate::engine::meter::Count;
use crate::engine::outcome::event::{Effect, Event};
use crate::session::{Body, Message, Role, Session, Usage};
use crate::units::Tokens;
use std::collections::HashSet;

/// The last comparison of a run's context with the recorded one. Between changes both grow by the same messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AsRecorded {
    /// Number of events.
    n_events: usize,
    /// Number of events that changed the context.
    n_acted: usize,
    /// Number of recorded changes.
    n_changes: usize,
    is_equal: bool,
}

/// How often a policy may act for each recorded change before its context counts as another one.
// Chosen: programs cut and clear a few results for each compaction, and comparing a long context at every call takes long.
const MAX_ACTED: usize = 8;

/// Identity of a copy of a message: a text, or the id of a call or result.
type Mark<'a> = (u8, &'a str);

impl Run<'_> {
    /// Returns whether this call's context has the messages of the recorded one. Texts that the program or the policy wrote
    /// are not compared, and a message equals the copy of it that the program sent.
    pub(super) fn is_as_recorded(&mut self) -> bool {
        let session = &*self.case.session;
        let is_past = |call: usize| call <= self.call;
        let compactions = session.compactions.iter().filter(|change| is_past(change.call));
        let revisions = session.revisions.iter().filter(|change| is_past(change.call));
        let n_changes = compactions.count() + revisions.count();
        let (last, n_events) = (self.as_recorded, self.outcome.events.len());
        let new = self.outcome.events[last.n_events..].iter();
        let changes = |event: &&Event| matches!(event.effect, Effect::Removed | Effect::Changed);
        let n_acted = last.n_acted + new.filter(changes).count();
        let is_equal = if n_changes == 0 {
            n_acted == 0
        } else if n_acted > MAX_ACTED * n_changes {
            false
        } else if (last.n_acted, last.n_changes) == (n_acted, n_changes) {
            last.is_equal
        } else {
            self.has_recorded_messages()
        };
        self.as_recorded = AsRecorded { n_events, n_acted, n_changes, is_equal };
        is_equal
    }

    fn has_recorded_messages(&self) -> bool {
        let session = &*self.case.session;
        let Some(end) = session.calls.get(self.call).map(|call| call.context_end) else {
            return false;
        };
        let (mut recorded, mut copies) = (HashSet::new(), HashSet::new());
        for idx in session.real_context(end) {
            let message = &session.messages[idx];
            if message.role == Role::System {
                continue;
            }
            if message.in_history {
                recorded.insert(idx);
            } else {
                copies.extend(marks(session, message));
            }
        }
        let mut n_whole = 0;
        for entry in &self.working.context.entries {
            let (idx, is_whole) = match &entry.body {
                EntryBody::Original(idx) => (*idx as usize, true),
                EntryBody::Edited(edited) => (edited.message as usize, false),
                EntryBody::Written(_) => continue,
            };
            let message = &session.messages[idx];
            if is_whole && recorded.contains(&idx) {
                n_whole += 1;
            } else if message.role != Role::System
                && !message.is_injected
                && !marks(session, message).any(|mark| copies.contains(&mark))
            {
                return false;
            }
        }
        n_whole == recorded.len()
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
        let given = self.given_report();
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

/// Returns the marks of a message.
fn marks<'a>(session: &'a Session, message: &Message) -> impl Iterator<Item = Mark<'a>> {
    session.parts[message.parts.clone()].iter().filter_map(|part| match &part.body {
        Body::Text(text) => Some((0, text.trim())),
        Body::ToolCall { call, .. } => Some((1, call)),
        Body::ToolResult { call, .. } => Some((2, call)),
        _ => None,
    })
}
