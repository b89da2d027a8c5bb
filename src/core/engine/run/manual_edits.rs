//! Applies manual edits where a run ends, and reports those that could not be applied.

use super::Run;
use super::manual_changes::{Leftover, Uncleared, cleared, leftover};
use super::unpinned::{Unpinned, listed};
use crate::engine::context::taken::{Taken, join, ranges, widen};
use crate::engine::context::{Entry, EntryBody, Left, PartStatuses};
use crate::engine::outcome::event::{Cause, Effect, Event};
use crate::engine::outcome::warning::{EditWarning, Warning};
use crate::engine::vocabulary::{ActionKind, OwnMeasure, SummaryPosition};
use crate::session::Session;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Text in the place of cleared content.
const MARKER: &str = "[cleared manually]";

/// The location of a session message in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Location {
    /// At this entry.
    Entry(usize),
    /// Removed by the event of this index, or by the source if none.
    Taken(Option<u32>),
    /// Not part of the history.
    Nowhere,
}

/// Messages whose manual edit was not applied, by the sentence's verb (`not dropped manually`) and the reason.
#[derive(Debug, Default)]
struct RejectedEdits(BTreeMap<(&'static str, Rejection), Vec<u32>>);

/// The reason why a manual edit was not applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rejection {
    reason: String,
    effect: EditWarning,
}

impl Rejection {
    fn new(reason: impl Into<String>, effect: EditWarning) -> Self {
        let reason = reason.into();
        Self { reason, effect }
    }
}

impl Run<'_> {
    /// Applies manual edits to the current context.
    pub(super) fn manual_edits(&mut self) {
        if self.case.manual_edits.is_empty() {
            return;
        }
        let mut rejected = RejectedEdits::default();
        self.drop_manually(&mut rejected);
        self.clear_manually(&mut rejected);
        self.look_for_pins(&mut rejected);
        let warnings = &mut self.outcome.warnings;
        warnings.extend(self.unpinned.take().map(Unpinned::warning));
        warnings.extend(rejected.warnings());
    }

    /// Records pinned messages among those that a named action changed.
    pub(super) fn note_pins(&mut self, stage: usize, messages: &[Range<u32>]) {
        let pins = self.case.pins();
        if pins.is_empty() {
            return;
        }
        let all = messages.iter().cloned().flatten();
        let pinned: Vec<u32> = all.filter(|m| pins.is_pinned(*m)).collect();
        if pinned.is_empty() {
            return;
        }
        let call = self.call;
        let stage = self.triggers.stage(stage);
        let by = stage.action.system().unwrap_or_default();
        let all = ranges(pinned.iter().copied());
        let known = self.unpinned.get_or_insert_with(|| Unpinned {
            call,
            stage: stage.id.clone(),
            by,
            first: pinned,
            all: Vec::new(),
        });
        known.all = join(std::mem::take(&mut known.all).into_iter().chain(all).collect());
    }

    fn drop_manually(&mut self, rejected: &mut RejectedEdits) {
        let (case, locations) = (self.case, self.locations());
        let mut chosen = vec![false; self.working.context.entries.len()];
        for message in self.sent(&case.manual_edits.dropped) {
            match self.droppable(message, &locations) {
                Ok(entry) => chosen[entry] = true,
                Err(why) => rejected.add("not dropped manually", why, message),
            }
        }
        if !chosen.contains(&true) {
            return;
        }
        let event = self.outcome.events.len() as u32;
        let Leftover { gone, edits } = leftover(case, &self.working.context, &chosen, event);
        let touched = gone.iter().chain(edits.iter().map(|(entry, _)| entry));
        let touched = self.messages_of(touched.copied());
        let partners = gone.iter().filter(|entry| !chosen[**entry]).copied();
        let partners = self.messages_of(partners.chain(edits.iter().map(|(entry, _)| *entry)));
        let log = (!partners.is_empty()).then(|| note_on_pairs(&partners));
        self.apply_edit(ActionKind::Drop, &touched, log, |working| {
            working.amend(edits);
            let gone = Taken::new(&working.context, gone);
            working.replace(gone, (None, SummaryPosition::First), event);
        });
    }

    fn clear_manually(&mut self, rejected: &mut RejectedEdits) {
        let (case, locations) = (self.case, self.locations());
        let event = self.outcome.events.len() as u32;
        let marker = self.working.context.markers.len() as u32;
        let mut edits: Vec<(usize, PartStatuses)> = Vec::new();
        for message in self.sent(&case.manual_edits.cleared) {
            let context = &self.working.context;
            let statuses = self.clearable(message, &locations).and_then(|entry| {
                let found = entry.map(|entry| {
                    cleared(case, context, &context.entries[entry], (marker, event))
                        .map(|statuses| (entry, statuses))
                });
                found
                    .transpose()
                    .map_err(|why| Rejection::new(why.reason(), EditWarning::NotApplied))
            });
            match statuses {
                Ok(edit) => edits.extend(edit),
                Err(why) => rejected.add("not cleared manually", why, message),
            }
        }
        if edits.is_empty() {
            return;
        }
        edits.sort_unstable_by_key(|(entry, _)| *entry);
        let touched = self.messages_of(edits.iter().map(|(entry, _)| *entry));
        self.apply_edit(ActionKind::Clear, &touched, None, |working| {
            working.mark(&Arc::from(MARKER), Left::Nothing, event);
            working.amend(edits);
        });
    }

    /// Reports pinned messages that the source's own compaction had removed before the run began.
    fn look_for_pins(&self, rejected: &mut RejectedEdits) {
        let locations = self.locations();
        for message in self.sent(&self.case.manual_edits.pinned) {
            let is_lost =
                matches!(locations[message as usize], Location::Nowhere | Location::Taken(None));
            if is_lost {
                rejected.add("pinned without effect", self.absent(message, &locations), message);
            }
        }
    }

    /// Returns the marked messages that were sent before the run ends.
    fn sent<'m>(&self, marks: &'m [usize]) -> impl Iterator<Item = u32> + use<'m> {
        let end = self.working.context.messages_end;
        let sent = marks.iter().filter(move |message| **message < end);
        sent.map(|message| *message as u32)
    }

    /// Returns the entry of a message if it may be dropped, else the reason.
    fn droppable(&self, message: u32, locations: &[Location]) -> Result<usize, Rejection> {
        let pins = self.case.pins();
        let Location::Entry(entry) = locations[message as usize] else {
            return Err(self.absent(message, locations));
        };
        self.check_editable(message)?;
        let parts = self.case.session.messages[message as usize].parts.clone();
        let mut pairs = parts.filter_map(|part| self.case.index.calls.number(part));
        if pairs.any(|pair| pins.holds_pair(pair)) {
            let reason = "a pinned message needs its call or result";
            return Err(Rejection::new(reason, EditWarning::NotApplied));
        }
        Ok(entry)
    }

    /// Returns the entry of a message if it may be cleared; none if it was just dropped manually; else the reason.
    fn clearable(&self, message: u32, locations: &[Location]) -> Result<Option<usize>, Rejection> {
        match locations[message as usize] {
            Location::Entry(entry) => self.check_editable(message).map(|()| Some(entry)),
            Location::Taken(Some(event)) if self.outcome.events[event as usize].is_manual() => {
                Ok(None)
            }
            _ => Err(self.absent(message, locations)),
        }
    }

    /// Rejects instructions and pinned messages, which stay.
    fn check_editable(&self, message: u32) -> Result<(), Rejection> {
        let reason = if message < self.case.index.preamble_end {
            "instructions stay"
        } else if self.case.pins().is_pinned(message) {
            "pinned"
        } else {
            return Ok(());
        };
        Err(Rejection::new(reason, EditWarning::NotApplied))
    }

    /// Returns why a message is not in the context.
    fn absent(&self, message: u32, locations: &[Location]) -> Rejection {
        let events = &self.outcome.events;
        let reason = match locations[message as usize] {
            Location::Taken(Some(event)) => match events.get(event as usize) {
                Some(by) => format!("gone already, by {} before call {}", by.stage, by.call + 1),
                None => "gone already".to_owned(),
            },
            _ if self.case.session.messages[message as usize].in_history => {
                "gone already, by the source's own compaction".to_owned()
            }
            _ => {
                let reason = "written by the source's own compaction, which is no part of this run";
                return Rejection::new(reason, EditWarning::NotApplied);
            }
        };
        Rejection::new(reason, EditWarning::AlreadyGone)
    }

    /// Returns the location of each message of the session.
    fn locations(&self) -> Vec<Location> {
        let context = &self.working.context;
        let mut locations = vec![Location::Nowhere; self.case.session.messages.len()];
        for dropped in &context.dropped {
            for message in dropped.messages.clone() {
                locations[message as usize] = Location::Taken(dropped.event);
            }
        }
        for (idx, entry) in context.entries.iter().enumerate() {
            if let EntryBody::Written(written) = &entry.body {
                for message in written.covers.iter().cloned().flatten() {
                    locations[message as usize] = Location::Taken(Some(written.event));
                }
            } else if let Some(message) = entry.message() {
                locations[message as usize] = Location::Entry(idx);
            }
        }
        locations
    }

    fn messages_of(&self, entries: impl Iterator<Item = usize>) -> Vec<Range<u32>> {
        let entry = |idx: usize| &self.working.context.entries[idx];
        ranges(entries.map(entry).filter_map(Entry::message))
    }

    /// Changes the context and records a separate event.
    fn apply_edit(
        &mut self,
        action: ActionKind,
        messages: &[Range<u32>],
        log: Option<String>,
        change: impl FnOnce(&mut crate::engine::working::Working<'_>),
    ) {
        let (before, orphans) = (self.working.tokens(), self.working.orphans());
        change(&mut self.working);
        self.outcome.events.push(Event {
            call: self.call.min(last_call(&self.case.session)),
            is_after_request: false,
            stage: Event::MANUAL.to_owned(),
            action,
            cause: Cause { when: Event::MANUAL.to_owned(), terms: Vec::new() },
            before,
            after: self.working.tokens(),
            messages: widen(messages),
            request: None,
            effect: Effect::Removed,
            measured: OwnMeasure::default(),
            orphans: self.working.orphans().saturating_sub(orphans),
            forgotten: 0,
            left: self.working.n_messages(),
            log: log.into_iter().collect(),
            files: Vec::new(),
            error: None,
        });
    }
}

impl Uncleared {
    fn reason(self) -> &'static str {
        match self {
            Self::Already => "cleared already",
            Self::Nothing => "nothing there can be cleared, only dropped",
        }
    }
}

impl RejectedEdits {
    fn add(&mut self, verb: &'static str, rejection: Rejection, message: u32) {
        self.0.entry((verb, rejection)).or_default().push(message);
    }

    fn warnings(self) -> impl Iterator<Item = Warning> {
        self.0.into_iter().map(|((verb, rejection), messages)| {
            let messages = listed(&ranges(messages.into_iter()));
            Warning {
                call: None,
                edit: Some(rejection.effect),
                text: format!("{messages} {verb}: {}", rejection.reason),
            }
        })
    }
}

/// Returns the note about messages that were changed because of their pairs.
fn note_on_pairs(messages: &[Range<u32>]) -> String {
    format!("{} changed too: a call and its results go together", listed(messages))
}

fn last_call(session: &Session) -> usize {
    session.calls.len().saturating_sub(1)
}
