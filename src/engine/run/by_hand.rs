//! Applies manual edits where a run ends, and reports those that could not be applied.

use super::Run;
use crate::engine::context::{Entry, EntryBody, Left, PartFates};
use crate::engine::event::{Cause, Did, Event};
use crate::engine::marked::{Leftover, Uncleared, cleared, leftover};
use crate::engine::own_trigger::OwnMeasure;
use crate::engine::stages::Place;
use crate::engine::taken::{Taken, join, ranges, widen};
use crate::session::Session;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

/// Text in the place of cleared content.
const MARKER: &str = "[cleared by hand]";

/// Maximum number of ranges that a sentence lists; more are only counted.
const MOST_LISTED: usize = 12;

/// Pinned messages that a real system removed or changed.
#[derive(Debug)]
pub(in crate::engine) struct Unpinned {
    /// Index of the first such call.
    step: usize,
    stage: String,
    /// The system.
    by: &'static str,
    /// Messages of the first time, and all messages.
    first: Vec<u32>,
    all: Vec<Range<u32>>,
}

/// The location of a session message in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// At this entry.
    Entry(usize),
    /// Removed by the event of this index, or by the source if none.
    Taken(Option<u32>),
    /// Not part of the history.
    Nowhere,
}

/// Manual edits that could not be applied: the edit and the reason, with the messages.
#[derive(Debug, Default)]
struct Refused(BTreeMap<(&'static str, String), Vec<u32>>);

impl Run<'_> {
    /// Applies manual edits to the current context.
    pub(super) fn by_hand(&mut self) {
        if self.case.by_hand.is_empty() {
            return;
        }
        let mut refused = Refused::default();
        self.drop_by_hand(&mut refused);
        self.clear_by_hand(&mut refused);
        self.look_for_pins(&mut refused);
        let warnings = &mut self.outcome.warnings;
        warnings.extend(self.unpinned.take().map(Unpinned::sentence));
        warnings.extend(refused.sentences());
    }

    /// Records pinned messages among those that a named action changed.
    pub(in crate::engine) fn note_pins(&mut self, stage: usize, messages: &[Range<u32>]) {
        let pins = self.case.pins();
        if pins.is_empty() {
            return;
        }
        let all = messages.iter().cloned().flatten();
        let pinned: Vec<u32> = all.filter(|m| pins.is_pinned(*m)).collect();
        if pinned.is_empty() {
            return;
        }
        let step = self.step;
        let stage = self.triggers.stage(stage);
        let by = stage.action.system().unwrap_or_default();
        let all = ranges(pinned.iter().copied());
        let known = self.unpinned.get_or_insert_with(|| Unpinned {
            step,
            stage: stage.id.clone(),
            by,
            first: pinned,
            all: Vec::new(),
        });
        known.all = join(
            std::mem::take(&mut known.all)
                .into_iter()
                .chain(all)
                .collect(),
        );
    }

    fn drop_by_hand(&mut self, refused: &mut Refused) {
        let (case, standing) = (self.case, self.standing());
        let mut chosen = vec![false; self.working.context.entries.len()];
        for message in self.said(&case.by_hand.dropped) {
            match self.droppable(message, &standing) {
                Ok(entry) => chosen[entry] = true,
                Err(why) => refused.add("not dropped manually", why, message),
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
        let log = (!partners.is_empty()).then(|| went_too(&partners));
        self.carried_out("drop", &touched, log, |working| {
            working.amend(edits);
            let gone = Taken::new(&working.context, gone);
            working.replace(gone, (None, Place::First), event);
        });
    }

    fn clear_by_hand(&mut self, refused: &mut Refused) {
        let (case, standing) = (self.case, self.standing());
        let event = self.outcome.events.len() as u32;
        let marker = self.working.context.markers.len() as u32;
        let mut edits: Vec<(usize, PartFates)> = Vec::new();
        for message in self.said(&case.by_hand.cleared) {
            let context = &self.working.context;
            let fates = self.clearable(message, &standing).and_then(|entry| {
                let found = entry.map(|entry| {
                    cleared(case, context, &context.entries[entry], (marker, event))
                        .map(|fates| (entry, fates))
                });
                found.transpose().map_err(|why| why.said().to_owned())
            });
            match fates {
                Ok(edit) => edits.extend(edit),
                Err(why) => refused.add("not cleared manually", why, message),
            }
        }
        if edits.is_empty() {
            return;
        }
        edits.sort_unstable_by_key(|(entry, _)| *entry);
        let touched = self.messages_of(edits.iter().map(|(entry, _)| *entry));
        self.carried_out("clear", &touched, None, |working| {
            working.mark(&Arc::from(MARKER), Left::Nothing, event);
            working.amend(edits);
        });
    }

    /// Reports pinned messages that the source's own compaction had removed before the run began.
    fn look_for_pins(&self, refused: &mut Refused) {
        let standing = self.standing();
        for message in self.said(&self.case.by_hand.pinned) {
            let is_lost = matches!(
                standing[message as usize],
                Standing::Nowhere | Standing::Taken(None)
            );
            if is_lost {
                refused.add(
                    "pinned without effect",
                    self.absent(message, &standing),
                    message,
                );
            }
        }
    }

    /// Returns the marked messages that were sent before the run ends.
    fn said<'m>(&self, marks: &'m [usize]) -> impl Iterator<Item = u32> + use<'m> {
        let end = self.working.context.messages_end;
        let said = marks.iter().filter(move |message| **message < end);
        said.map(|message| *message as u32)
    }

    /// Returns the entry of a message if it may be dropped, else the reason.
    fn droppable(&self, message: u32, standing: &[Standing]) -> Result<usize, String> {
        let pins = self.case.pins();
        let Standing::Entry(entry) = standing[message as usize] else {
            return Err(self.absent(message, standing));
        };
        self.free(message)?;
        let parts = self.case.session.messages[message as usize].parts.clone();
        let mut pairs = self.case.index.pair[parts].iter().flatten();
        if pairs.any(|pair| pins.holds_pair(*pair)) {
            return Err("a pinned message needs its call or result".to_owned());
        }
        Ok(entry)
    }

    /// Returns the entry of a message if it may be cleared; none if it was just dropped manually; else the reason.
    fn clearable(&self, message: u32, standing: &[Standing]) -> Result<Option<usize>, String> {
        match standing[message as usize] {
            Standing::Entry(entry) => self.free(message).map(|()| Some(entry)),
            Standing::Taken(Some(event)) if self.outcome.events[event as usize].is_by_hand() => {
                Ok(None)
            }
            _ => Err(self.absent(message, standing)),
        }
    }

    /// Rejects instructions and pinned messages, which stay.
    fn free(&self, message: u32) -> Result<(), String> {
        if message < self.case.index.preamble_end {
            Err("instructions stay".to_owned())
        } else if self.case.pins().is_pinned(message) {
            Err("pinned".to_owned())
        } else {
            Ok(())
        }
    }

    /// Returns why a message is not in the context.
    fn absent(&self, message: u32, standing: &[Standing]) -> String {
        let events = &self.outcome.events;
        match standing[message as usize] {
            Standing::Taken(Some(event)) => match events.get(event as usize) {
                Some(by) => format!("gone already, by {} before call {}", by.stage, by.step + 1),
                None => "gone already".to_owned(),
            },
            _ if self.case.session.messages[message as usize].in_history => {
                "gone already, by the source's own compaction".to_owned()
            }
            _ => "written by the source's own compaction, which is no part of this run".to_owned(),
        }
    }

    /// Returns the location of each message of the session.
    fn standing(&self) -> Vec<Standing> {
        let context = &self.working.context;
        let mut standing = vec![Standing::Nowhere; self.case.session.messages.len()];
        for dropped in &context.dropped {
            for message in dropped.messages.clone() {
                standing[message as usize] = Standing::Taken(dropped.event);
            }
        }
        for (idx, entry) in context.entries.iter().enumerate() {
            if let EntryBody::Written(written) = &entry.body {
                for message in written.covers.iter().cloned().flatten() {
                    standing[message as usize] = Standing::Taken(Some(written.event));
                }
            } else if let Some(message) = entry.message() {
                standing[message as usize] = Standing::Entry(idx);
            }
        }
        standing
    }

    fn messages_of(&self, entries: impl Iterator<Item = usize>) -> Vec<Range<u32>> {
        let entry = |idx: usize| &self.working.context.entries[idx];
        ranges(entries.map(entry).filter_map(Entry::message))
    }

    /// Changes the context and records a separate event.
    fn carried_out(
        &mut self,
        action: &'static str,
        messages: &[Range<u32>],
        log: Option<String>,
        change: impl FnOnce(&mut crate::engine::working::Working<'_>),
    ) {
        let (before, orphans) = (self.working.tokens(), self.working.orphans());
        change(&mut self.working);
        self.outcome.events.push(Event {
            step: self.step.min(last_step(&self.case.session)),
            stage: Event::BY_HAND.to_owned(),
            action,
            cause: Cause {
                when: Event::BY_HAND.to_owned(),
                terms: Vec::new(),
            },
            before,
            after: self.working.tokens(),
            messages: widen(messages),
            request: None,
            did: Did::Removed,
            measured: OwnMeasure::default(),
            orphans: self.working.orphans().saturating_sub(orphans),
            forgotten: 0,
            left: self.working.spoken(),
            log: log.into_iter().collect(),
            files: Vec::new(),
            error: None,
        });
    }
}

impl Unpinned {
    fn sentence(self) -> String {
        let now: usize = self.all.iter().map(ExactSizeIterator::len).sum();
        let first = ranges(self.first.iter().copied());
        let more = match now - self.first.len() {
            0 => String::new(),
            n => format!(" ({n} more later)"),
        };
        format!(
            "call {}: {}: {} pinned, and {} does not support pins{more}",
            self.step + 1,
            self.stage,
            listed(&first),
            self.by
        )
    }
}

impl Uncleared {
    fn said(self) -> &'static str {
        match self {
            Self::Already => "cleared already",
            Self::Nothing => "nothing there can be cleared, only dropped",
        }
    }
}

impl Refused {
    fn add(&mut self, what: &'static str, why: String, message: u32) {
        self.0.entry((what, why)).or_default().push(message);
    }

    fn sentences(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|((what, why), messages)| {
            let messages = ranges(messages.into_iter());
            format!("{} {what}: {why}", listed(&messages))
        })
    }
}

/// Returns the note about messages that were changed because of their pairs.
fn went_too(messages: &[Range<u32>]) -> String {
    format!(
        "{} changed too: a call and its results go together",
        listed(messages)
    )
}

/// Lists messages by their numbers with the verb: `message 3 is`, `messages 3, 7–9 are`.
fn listed(messages: &[Range<u32>]) -> String {
    let n_messages: usize = messages.iter().map(ExactSizeIterator::len).sum();
    if let ([one], 1) = (messages, n_messages) {
        return format!("message {} is", one.start + 1);
    }
    let mut text = "messages ".to_owned();
    for (nth, range) in messages.iter().take(MOST_LISTED).enumerate() {
        let comma = if nth > 0 { ", " } else { "" };
        let _ = match range.len() {
            1 => write!(text, "{comma}{}", range.start + 1),
            _ => write!(text, "{comma}{}\u{2013}{}", range.start + 1, range.end),
        };
    }
    let rest = messages.iter().skip(MOST_LISTED);
    match rest.map(ExactSizeIterator::len).sum::<usize>() {
        0 => {}
        n => {
            let _ = write!(text, " and {n} more");
        }
    }
    text + " are"
}

fn last_step(session: &Session) -> usize {
    session.calls.len().saturating_sub(1)
}
