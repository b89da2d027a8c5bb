//! Status of a message in a lane, from the run's context and the events that changed it.

use super::compute::{Changes, Piece};
use super::diff::Diff;
use crate::app::lanes::rows::{LaneRows, Place};
use crate::app::messages::text::{MessageText, Section};
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::wording;
use crate::engine::{
    Context, Edited, EntryBody, Event, Marker, MessageStatus, PartStatus, Written,
};
use crate::safe_text;
use crate::session::Kind;
use crate::units::Tokens;
use std::ops::Range;

/// The inputs of the changes.
pub(in crate::app) struct Seen<'a> {
    pub(in crate::app) document: &'a Document,
    pub(in crate::app) runs: &'a Runs,
    pub(in crate::app) rows: &'a LaneRows,
    pub(in crate::app) lane: usize,
    pub(in crate::app) context: &'a Context,
    pub(in crate::app) events: &'a [Event],
    /// The lane is shown at the end of its run.
    pub(in crate::app) is_whole: bool,
}

impl Seen<'_> {
    pub(in crate::app) fn message(&self, message: usize) -> Changes {
        let context = self.context;
        let is_it = |entry: &&crate::engine::Entry| entry.message() == Some(message as u32);
        if let Some(entry) = context.entries.iter().find(is_it) {
            return match &entry.body {
                EntryBody::Edited(edited) => self.edited(edited),
                _ => only(format!("{} has it as it was.", self.label())),
            };
        }
        if let Some(written) = written_for(context, message as u32) {
            return self.stands_for(written, Some(message));
        }
        let range = |d: &&crate::engine::Dropped| d.messages.contains(&(message as u32));
        match context.dropped.iter().find(range) {
            Some(dropped) => self.dropped(message, dropped.event),
            None if !self.document.session().messages[message].in_history => {
                only("The source's own compaction wrote it: it is no part of a replay.".to_owned())
            }
            None => only(format!("Nobody has said it yet {}.", self.place())),
        }
    }

    pub(in crate::app) fn written(&self, place: Place) -> Changes {
        let found = Place::all(self.context)
            .into_iter()
            .find(|(at, ..)| *at == place);
        match found {
            Some((_, written, _)) => self.stands_for(written, None),
            None => only(format!(
                "{} wrote nothing here {}.",
                self.label(),
                self.place()
            )),
        }
    }

    fn dropped(&self, message: usize, event: Option<u32>) -> Changes {
        let by = self.event(event);
        let is_marked = self
            .runs
            .config
            .by_hand
            .dropped
            .binary_search(&message)
            .is_ok();
        let said = match by {
            Some(event) if event.is_manual() && !is_marked => {
                "Dropped with its call or result, which was dropped by hand: they go together."
                    .to_owned()
            }
            Some(by) => format!("Dropped {}. Nothing replaces it.", did(by)),
            None => "The source's own compaction took it.".to_owned(),
        };
        Changes {
            weights: Some((self.runs.case.ledger.message(message), Tokens::ZERO)),
            event: self.link(event),
            ..only(said)
        }
    }

    fn edited(&self, edited: &Edited) -> Changes {
        let message = edited.message as usize;
        let (ledger, context) = (&self.runs.case.ledger, self.context);
        let text = MessageText::parts(self.document, ledger, message);
        let marker = |fate: &PartStatus| match fate {
            PartStatus::Cleared { marker } => context.markers.get(*marker as usize),
            _ => None,
        };
        let event = |fate: &PartStatus| match fate {
            PartStatus::Removed { event } => Some(*event),
            fate => marker(fate).map(|marker| marker.event),
        };
        let fates = edited.parts.as_slice();
        let changed = text
            .sections
            .iter()
            .zip(fates)
            .filter(|(_, fate)| **fate != PartStatus::Kept);
        let pieces = changed.map(|(section, fate)| piece(section, marker(fate)));
        let pieces: Vec<_> = pieces.collect();
        let seen = self
            .rows
            .lanes
            .get(self.lane)
            .and_then(|lane| lane.messages.get(message));
        let word = match seen.map(|seen| seen.fate) {
            Some(MessageStatus::Cut) => "Cut",
            Some(MessageStatus::Cleared) => "Cleared",
            _ => "Changed",
        };
        let by = fates.iter().find_map(event);
        let mut said = format!("{word} {}.", self.event(by).map_or_else(String::new, did));
        let same = fates.len() - pieces.len();
        if same > 0 {
            let are = if same == 1 {
                "is as it was"
            } else {
                "are as they were"
            };
            said = format!("{said} {} of it {are}.", wording::count(same, "part"));
        }
        Changes {
            weights: seen.map(|seen| (ledger.message(message), seen.tokens)),
            event: self.link(by),
            pieces,
            ..only(said)
        }
    }

    pub(in crate::app) fn event(&self, event: Option<u32>) -> Option<&Event> {
        self.events.get(event? as usize)
    }

    /// Returns the event's index in the complete run, where manual edits happen only at the end.
    pub(in crate::app) fn link(&self, event: Option<u32>) -> Option<usize> {
        let is_by_hand = self.event(event)?.is_manual();
        (self.is_whole || !is_by_hand).then_some(event? as usize)
    }

    pub(in crate::app) fn label(&self) -> &str {
        &self.runs.labels[self.lane]
    }

    pub(in crate::app) fn place(&self) -> String {
        wording::place(self.rows.step, self.document.session().calls.len())
    }
}

/// Returns changes that consist of one sentence.
pub(in crate::app) fn only(said: String) -> Changes {
    Changes {
        said,
        ..Changes::default()
    }
}

/// Returns the source and the time of an event: `manually`, `by prune at call 12`.
pub(in crate::app) fn did(event: &Event) -> String {
    if event.is_manual() {
        return Event::MANUAL.to_owned();
    }
    format!("by {} at call {}", event.stage, wording::number(event.step))
}

/// Returns the written message that replaces a message, if any.
fn written_for(context: &Context, message: u32) -> Option<&Written> {
    let covers = |range: &Range<u32>| range.contains(&message);
    let mut written = context.written().map(|(written, _)| written);
    written.find(|written| written.covers.iter().any(covers))
}

/// Returns a changed part with its replacement, if any.
fn piece(section: &Section, marker: Option<&Marker>) -> Piece {
    let is_predicted = marker.is_some_and(|marker| marker.is_predicted);
    let now = marker.filter(|_| !is_predicted).map(|marker| {
        // Format the text like the original.
        let text = if section.kind == Some(Kind::ToolCall) {
            crate::app::messages::text::pretty(&marker.text)
        } else {
            marker.text.as_ref().to_owned()
        };
        safe_text::visible(&text).into_owned()
    });
    let diff = Diff::new(&section.text, now.as_deref().unwrap_or_default());
    let remark = if is_predicted {
        Some("The replacement is written on export.")
    } else if marker.is_none() {
        Some("Removed together with a related part.")
    } else {
        diff.is_empty()
            .then_some("Only the end of its last line differs.")
    };
    Piece {
        title: section.title.clone(),
        kind: section.kind,
        weights: (
            section.tokens.unwrap_or_default(),
            marker.map_or(Tokens::ZERO, |m| Tokens::from(m.tokens)),
        ),
        diff,
        remark,
    }
}
