//! The changes of a message in a lane, from the context of its run and the events that changed it.

use crate::app::state::changes::changed::{ChangedPart, Changes, TokenChange};
use crate::app::state::changes::diff::Diff;
use crate::app::state::lanes::rows::LaneRows;
use crate::app::state::messages::text::{MessageText, Section};
use crate::app::state::model::document::Document;
use crate::app::state::model::lane_context::{PositionedMessage, WrittenPosition};
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::wording;
use crate::engine::{
    Context, Dropped, Edited, Entry, EntryBody, Event, Marker, MessageStatus, PartStatus, Written,
};
use crate::safe_text;
use crate::session::Kind;
use crate::units::Tokens;
use std::ops::Range;

/// The inputs of the changes.
pub(crate) struct ChangeInputs<'a> {
    pub(crate) document: &'a Document,
    pub(crate) runs: &'a Runs,
    pub(crate) rows: &'a LaneRows,
    pub(crate) lane: usize,
    pub(crate) context: &'a Context,
    pub(crate) events: &'a [Event],
    /// The lane is shown at the end of its run.
    pub(crate) is_whole: bool,
}

impl ChangeInputs<'_> {
    /// Returns the changes of a message of the session.
    pub(crate) fn message(&self, message: usize) -> Changes {
        let context = self.context;
        let is_it = |entry: &&Entry| entry.message() == Some(message as u32);
        if let Some(entry) = context.entries.iter().find(is_it) {
            return match &entry.body {
                EntryBody::Edited(edited) => self.edited(edited),
                _ => sentence(format!("{} keeps it unchanged.", self.label())),
            };
        }
        if let Some(written) = written_for(context, message as u32) {
            return self.replacement(written, Some(message));
        }
        let contains = |dropped: &&Dropped| dropped.messages.contains(&(message as u32));
        match context.dropped.iter().find(contains) {
            Some(dropped) => self.dropped(message, dropped.event),
            None if !self.document.session().messages[message].in_history => {
                sentence("Written by the recorded compaction. Replays exclude it.".to_owned())
            }
            None => sentence(format!("Not recorded yet {}.", self.place())),
        }
    }

    /// Returns the changes behind a message that the lane wrote: the messages it replaces.
    pub(crate) fn written(&self, position: WrittenPosition) -> Changes {
        let found = PositionedMessage::all(self.context)
            .into_iter()
            .find(|message| message.position == position);
        match found {
            Some(found) => self.replacement(found.written, None),
            None => sentence(format!("{} wrote nothing here {}.", self.label(), self.place())),
        }
    }

    fn dropped(&self, message: usize, event: Option<u32>) -> Changes {
        let by = self.event(event);
        let is_marked = self.runs.config.manual_edits.dropped.binary_search(&message).is_ok();
        let text = match by {
            Some(event) if event.is_manual() && !is_marked => {
                "Dropped with its call or result, which was dropped manually.".to_owned()
            }
            Some(by) => format!("Dropped {}. Nothing replaces it.", cause(by)),
            None => "Dropped by the recorded compaction.".to_owned(),
        };
        Changes {
            tokens: Some(TokenChange {
                before: self.runs.case.ledger.message(message),
                after: Tokens::ZERO,
            }),
            event: self.link(event),
            ..sentence(text)
        }
    }

    fn edited(&self, edited: &Edited) -> Changes {
        let message = edited.message as usize;
        let (ledger, context) = (&self.runs.case.ledger, self.context);
        let original = MessageText::parts(self.document, ledger, message);
        let marker = |status: &PartStatus| match status {
            PartStatus::Cleared { marker } => context.markers.get(*marker as usize),
            _ => None,
        };
        let event = |status: &PartStatus| match status {
            PartStatus::Removed { event } => Some(*event),
            status => marker(status).map(|marker| marker.event),
        };
        let statuses = edited.parts.as_slice();
        let changed = original
            .sections
            .iter()
            .zip(statuses)
            .filter(|(_, status)| **status != PartStatus::Kept);
        let parts = changed.map(|(section, status)| changed_part(section, marker(status)));
        let parts: Vec<_> = parts.collect();
        let in_lane = self.rows.lanes.get(self.lane).and_then(|lane| lane.messages.get(message));
        let word = match in_lane.map(|message| message.status) {
            Some(MessageStatus::Cut) => "Cut",
            Some(MessageStatus::Cleared) => "Cleared",
            _ => "Changed",
        };
        let by = statuses.iter().find_map(event);
        let mut text = format!("{word} {}.", self.event(by).map_or_else(String::new, cause));
        let same = statuses.len() - parts.len();
        if same > 0 {
            let are = if same == 1 { "is unchanged" } else { "are unchanged" };
            text = format!("{text} {} of it {are}.", wording::count(same, "part"));
        }
        Changes {
            tokens: in_lane
                .map(|after| TokenChange { before: ledger.message(message), after: after.tokens }),
            event: self.link(by),
            parts,
            ..sentence(text)
        }
    }

    /// Returns an event of the run up to the call of the rows.
    pub(crate) fn event(&self, event: Option<u32>) -> Option<&Event> {
        self.events.get(event? as usize)
    }

    /// Returns the event's index in the complete run, where manual edits happen only at the end.
    pub(crate) fn link(&self, event: Option<u32>) -> Option<usize> {
        let is_manual = self.event(event)?.is_manual();
        (self.is_whole || !is_manual).then_some(event? as usize)
    }

    /// Returns the name of the lane.
    pub(crate) fn label(&self) -> &str {
        &self.runs.labels[self.lane]
    }

    /// Returns the call of the rows, as in `at call 12`.
    pub(crate) fn place(&self) -> String {
        wording::place(self.rows.call, self.document.session().calls.len())
    }
}

/// Returns changes that consist of one sentence.
pub(crate) fn sentence(text: String) -> Changes {
    Changes { text, ..Changes::default() }
}

/// Returns the cause and the call of an event: `manually`, `by prune at call 12`.
pub(crate) fn cause(event: &Event) -> String {
    if event.is_manual() {
        return Event::MANUAL.to_owned();
    }
    format!("by {} at call {}", event.stage, wording::number(event.call))
}

/// Returns the written message that replaces a message, if any.
fn written_for(context: &Context, message: u32) -> Option<&Written> {
    let covers = |range: &Range<u32>| range.contains(&message);
    let mut written = context.written().map(|(written, _)| written);
    written.find(|written| written.covers.iter().any(covers))
}

/// Returns a changed part with its replacement, if any.
fn changed_part(section: &Section, marker: Option<&Marker>) -> ChangedPart {
    let is_predicted = marker.is_some_and(|marker| marker.is_predicted);
    let now = marker.filter(|_| !is_predicted).map(|marker| {
        // Format the text like the original.
        let text = if section.kind == Some(Kind::ToolCall) {
            crate::app::state::messages::text::pretty(&marker.text)
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
        diff.is_empty().then_some("Only the end of its last line differs.")
    };
    ChangedPart {
        title: section.title.clone(),
        kind: section.kind,
        tokens: TokenChange {
            before: section.tokens.unwrap_or_default(),
            after: marker.map_or(Tokens::ZERO, |m| Tokens::from(m.tokens)),
        },
        diff,
        remark,
    }
}
