//! What a lane has in the place of a message, beside the original: the difference, or the summary that stands for it.

pub mod diff;
mod foreseen;
mod long_line;

use crate::app::document::Document;
use crate::app::lane_rows::{LaneRows, Place};
use crate::app::message_text::{MessageText, Section};
use crate::app::runs::Runs;
use crate::app::wording;
use crate::engine::{Context, Edited, EntryBody, Event, Fate, Marker, Outcome, PartFate, Written};
use crate::safe_text;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use diff::Diff;
use std::ops::Range;

/// Bytes of an original that stands beside a summary; of each, where there are several.
const WHOLE: usize = 48 * 1024;
const HEAD: usize = 700;
/// Bytes of a text, and messages of a session, that a frame has time for.
const LARGE: usize = 32 * 1024;
const MANY: usize = 1_000;
/// Originals that stand beside a summary.
const MOST: usize = 60;

/// What is looked at in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A message of the session, by index.
    Message(usize),
    /// What the lane wrote at a place.
    Written(Place),
}

/// What a lane has in the place of something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// What became of it, as a sentence.
    pub said: String,
    /// What it weighed and weighs, where that differs.
    pub weights: Option<(Tokens, Tokens)>,
    /// Index of the event that did it in the lane's whole run.
    pub event: Option<usize>,
    /// The parts that changed.
    pub pieces: Vec<Piece>,
    /// What the lane wrote, which stands for it.
    pub beside: Option<Beside>,
}

/// A part that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What it is.
    pub title: String,
    /// What it counts as.
    pub kind: Option<Kind>,
    /// What it weighed and weighs.
    pub weights: (Tokens, Tokens),
    /// What differs; empty where it has no text.
    pub diff: Diff,
    /// What the texts do not tell.
    pub remark: Option<&'static str>,
}

/// A text that a lane wrote, beside what it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Summary or notice.
    pub kind: WrittenKind,
    /// Where it stands.
    pub place: Place,
    /// What it weighs.
    pub tokens: Tokens,
    /// Its text, safe to show, or its beginning; none where it cannot be known before it is written.
    pub text: Option<String>,
    /// The text is what the offline digest would write; at an export it is written for real.
    pub is_foreseen: bool,
    /// Messages that it stands for, and what they weighed.
    pub covered: (usize, Tokens),
    /// What it stands for.
    pub originals: Vec<Original>,
    /// How many more.
    pub more: usize,
}

/// A message that something stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Its index.
    pub message: usize,
    /// Its text, safe to show, or the beginning of it.
    pub text: String,
    /// How many lines more there are.
    pub more: usize,
}

/// What the changes are worked out of.
struct Seen<'a> {
    document: &'a Document,
    runs: &'a Runs,
    rows: &'a LaneRows,
    lane: usize,
    outcome: &'a Outcome,
}

impl Changes {
    /// What a lane has in the place of something at the step of the rows.
    pub fn new(
        document: &Document,
        runs: &Runs,
        rows: &LaneRows,
        lane: usize,
        target: Target,
    ) -> Self {
        let Some(run) = runs.lanes.get(lane) else {
            return Self::default();
        };
        let until = rows.until.get(lane).and_then(Option::as_ref);
        let outcome = until.unwrap_or(&run.outcome);
        let seen = Seen {
            document,
            runs,
            rows,
            lane,
            outcome,
        };
        match target {
            Target::Message(message) => seen.message(message),
            Target::Written(place) => seen.written(place),
        }
    }

    /// Whether this may take longer than a frame has.
    pub fn is_slow(document: &Document, target: Target) -> bool {
        let session = document.session();
        let bytes = |message: usize| -> usize {
            let m = session.messages.get(message);
            let parts = m.map_or(&[][..], |m| session.parts_of(m));
            parts.iter().map(|p| p.body.text().len()).sum()
        };
        let is_large = match target {
            Target::Message(message) => bytes(message) > LARGE,
            Target::Written(_) => false,
        };
        // A lane is played once more for a summary that is to be foreseen.
        is_large || session.messages.len() > MANY
    }
}

impl Seen<'_> {
    fn message(&self, message: usize) -> Changes {
        let context = &self.outcome.context;
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

    fn written(&self, place: Place) -> Changes {
        let found = Place::all(&self.outcome.context)
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
            Some(event) if event.is_by_hand() && !is_marked => {
                "Dropped with its call or result, which was dropped by hand: they go together."
                    .to_owned()
            }
            Some(by) => format!("Dropped {}. Nothing stands in its place.", did(by)),
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
        let (ledger, context) = (&self.runs.case.ledger, &self.outcome.context);
        let text = MessageText::parts(self.document, ledger, message);
        let marker = |fate: &PartFate| match fate {
            PartFate::Cleared { marker } => context.markers.get(*marker as usize),
            _ => None,
        };
        let event = |fate: &PartFate| match fate {
            PartFate::Removed { event } => Some(*event),
            fate => marker(fate).map(|marker| marker.event),
        };
        let fates = edited.parts.as_slice();
        let changed = text
            .sections
            .iter()
            .zip(fates)
            .filter(|(_, fate)| **fate != PartFate::Kept);
        let pieces = changed.map(|(section, fate)| piece(section, marker(fate)));
        let pieces: Vec<_> = pieces.collect();
        let seen = self
            .rows
            .lanes
            .get(self.lane)
            .and_then(|lane| lane.messages.get(message));
        let word = match seen.map(|seen| seen.fate) {
            Some(Fate::Cut) => "Cut",
            Some(Fate::Cleared) => "Cleared",
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

    /// What a lane wrote beside what it stands for, or beside the one message of that which is looked at.
    fn stands_for(&self, written: &Written, message: Option<usize>) -> Changes {
        let ledger = &self.runs.case.ledger;
        let covered = || written.covers.iter().cloned().flatten().map(|m| m as usize);
        let n_covered = covered().count();
        let originals: Vec<_> = match message {
            Some(message) => vec![self.original(message, WHOLE)],
            None => covered()
                .take(MOST)
                .map(|m| self.original(m, HEAD))
                .collect(),
        };
        let by = self
            .event(Some(written.event))
            .map_or_else(String::new, did);
        let said = match (message, written.kind, n_covered.saturating_sub(1)) {
            (None, kind, _) => format!(
                "Written {by}: a {} that stands for {}.",
                wording::written(kind),
                wording::count(n_covered, "message")
            ),
            (_, WrittenKind::Summary, 0) => format!("Summarized {by}."),
            (_, WrittenKind::Summary, others) => format!(
                "Summarized {by}, with {}.",
                wording::count(others, "other message")
            ),
            (_, WrittenKind::Notice, 0) => format!("Dropped {by}. A notice stands in its place."),
            (_, WrittenKind::Notice, others) => format!(
                "Dropped {by}, with {}. A notice stands in their place.",
                wording::count(others, "other message")
            ),
        };
        let places = Place::all(&self.outcome.context);
        let here = places
            .into_iter()
            .find(|(_, other, _)| std::ptr::eq(*other, written));
        let text = if written.is_predicted {
            self.foreseen(written)
        } else {
            Some(written.text.as_ref().to_owned())
        };
        let shown = |text: String| safe_text::visible(safe_text::head(&text, WHOLE)).into_owned();
        let beside = here.map(|(place, _, tokens)| Beside {
            kind: written.kind,
            place,
            tokens,
            text: text.map(shown),
            is_foreseen: written.is_predicted,
            covered: (n_covered, covered().map(|m| ledger.message(m)).sum()),
            more: if message.is_some() {
                0
            } else {
                n_covered - originals.len()
            },
            originals,
        });
        Changes {
            event: self.link(Some(written.event)),
            beside,
            ..only(said)
        }
    }

    fn foreseen(&self, written: &Written) -> Option<String> {
        let event = self.event(Some(written.event))?;
        let (case, run) = (&self.runs.case, &self.runs.lanes[self.lane]);
        let until = (!self.is_whole()).then_some(self.rows.step);
        foreseen::foreseen(case, run, until, (written, event))
    }

    /// A message's text up to a size.
    fn original(&self, message: usize, most: usize) -> Original {
        let text = MessageText::parts(self.document, &self.runs.case.ledger, message).whole();
        let head = safe_text::head(&text, most);
        Original {
            message,
            more: text[head.len()..].lines().count(),
            text: head.trim_end().to_owned(),
        }
    }

    fn event(&self, event: Option<u32>) -> Option<&Event> {
        self.outcome.events.get(event? as usize)
    }

    /// The same event in the lane's whole run, which has those by hand only at its end.
    fn link(&self, event: Option<u32>) -> Option<usize> {
        let is_by_hand = self.event(event)?.is_by_hand();
        (self.is_whole() || !is_by_hand).then_some(event? as usize)
    }

    /// The lane is looked at where its run ends.
    fn is_whole(&self) -> bool {
        std::ptr::eq(&raw const self.runs.lanes[self.lane].outcome, self.outcome)
    }

    fn label(&self) -> &str {
        &self.runs.labels[self.lane]
    }

    fn place(&self) -> String {
        wording::place(self.rows.step, self.document.session().steps.len())
    }
}

/// Nothing but a sentence.
fn only(said: String) -> Changes {
    Changes {
        said,
        ..Changes::default()
    }
}

/// Who did it and when: `by hand`, `by prune at call 12`.
fn did(event: &Event) -> String {
    if event.is_by_hand() {
        return Event::BY_HAND.to_owned();
    }
    format!("by {} at call {}", event.stage, wording::number(event.step))
}

/// What stands for a message, if one of ours does.
fn written_for(context: &Context, message: u32) -> Option<&Written> {
    let covers = |range: &Range<u32>| range.contains(&message);
    let mut written = context.written().map(|(written, _)| written);
    written.find(|written| written.covers.iter().any(covers))
}

/// A part that changed: what stands in its place now, or nothing.
fn piece(section: &Section, marker: Option<&Marker>) -> Piece {
    let is_predicted = marker.is_some_and(|marker| marker.is_predicted);
    let now = marker.filter(|_| !is_predicted).map(|marker| {
        // As the original is shown.
        let text = if section.kind == Some(Kind::ToolCall) {
            crate::app::message_text::pretty(&marker.text)
        } else {
            marker.text.as_ref().to_owned()
        };
        safe_text::visible(&text).into_owned()
    });
    let diff = Diff::new(&section.text, now.as_deref().unwrap_or_default());
    let remark = if is_predicted {
        Some("The text in its place is written when the lane is exported.")
    } else if marker.is_none() {
        Some("Gone with what it belonged to.")
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
