//! Updates context entries with the content that a named action left, and records the changed messages.

use super::diff::Differences;
use crate::engine::agent_messages::pieces::{Origin, PieceContent};
use crate::engine::case::Case;
use crate::engine::context::taken::join;
use crate::engine::context::{
    Dropped, Edited, Entry, EntryBody, Left, Marker, PartStatus, PartStatuses,
};
use crate::engine::meter::Meter;
use crate::session::{Body, WrittenKind};
use std::ops::Range;
use std::sync::Arc;

/// The result of a change.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextChange {
    /// Messages of the session that were changed or removed, as ascending ranges.
    pub(crate) messages: Vec<Range<u32>>,
    /// Whether content of the session was removed from the context.
    pub(crate) removed: bool,
}

/// The event that a change belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeSource {
    /// Index of its event.
    pub(crate) event: u32,
    /// Whether the text it writes is predicted.
    pub(crate) is_predicted: bool,
}

/// Updates entries and records the changed messages.
pub(super) struct EntryUpdater<'a> {
    pub(super) case: &'a Case,
    meter: &'a Meter,
    pub(crate) markers: &'a mut Vec<Marker>,
    source: ChangeSource,
    changed_messages: Vec<Range<u32>>,
    removed: bool,
}

impl<'a> EntryUpdater<'a> {
    pub(crate) fn new(
        case: &'a Case,
        meter: &'a Meter,
        markers: &'a mut Vec<Marker>,
        source: ChangeSource,
    ) -> Self {
        Self { case, meter, markers, source, changed_messages: Vec::new(), removed: false }
    }

    /// Returns the result of the change.
    pub(crate) fn done(self) -> ContextChange {
        ContextChange { messages: join(self.changed_messages), removed: self.removed }
    }

    /// Assigns the removed messages to a summary, else to the first notice. If there is neither, returns them.
    pub(super) fn assign_covers(
        &self,
        covers: Vec<Range<u32>>,
        covering: &[(usize, WrittenKind)],
        entries: &mut [Entry],
    ) -> Vec<Dropped> {
        let covering_entry =
            covering.iter().find(|(_, kind)| *kind == WrittenKind::Summary).or(covering.first());
        if let Some(Entry { body: EntryBody::Written(written), .. }) =
            covering_entry.and_then(|(idx, _)| entries.get_mut(*idx))
        {
            let inherited = std::mem::take(&mut written.covers);
            written.covers = join(inherited.into_iter().chain(covers).collect());
            return Vec::new();
        }
        let event = Some(self.source.event);
        let dropped =
            covers.into_iter().map(|messages| Dropped { messages, event, is_summarized: false });
        dropped.collect()
    }

    /// Updates an entry without computing weights. Returns its kind if it is a written message whose text changed.
    pub(crate) fn change(
        &mut self,
        entry: &mut Entry,
        differences: &Differences<'_>,
    ) -> Option<WrittenKind> {
        let Some(message) = entry.message() else {
            return self.rewrite(entry, differences);
        };
        self.edit(entry, message, differences);
        None
    }

    /// Updates a written message, possibly with another text.
    fn rewrite(&mut self, entry: &mut Entry, differences: &Differences<'_>) -> Option<WrittenKind> {
        let origin = Origin::Entry(entry.id);
        let content = differences.now.get(origin);
        if content == differences.was.get(origin) {
            return None;
        }
        let EntryBody::Written(written) = &mut entry.body else {
            return None;
        };
        written.text = content.map(PieceContent::to_text).unwrap_or_default();
        written.blocks = None;
        written.is_predicted |= self.source.is_predicted;
        written.event = self.source.event;
        Some(written.kind)
    }

    /// Updates a message of the session with the state of its parts.
    fn edit(&mut self, entry: &mut Entry, message: u32, differences: &Differences<'_>) {
        let case = self.case;
        let parts = case.session.messages[message as usize].parts.clone();
        let mut statuses = match std::mem::replace(&mut entry.body, EntryBody::Original(message)) {
            EntryBody::Edited(edited) => edited.parts,
            _ => PartStatuses::kept(parts.len()),
        };
        let mut changed = false;
        for (part, status) in parts.zip(statuses.as_mut_slice()) {
            let origin = Origin::Part(part as u32);
            let now = differences.now.get(origin);
            if differences.was.get(origin) == now {
                continue;
            }
            changed = true;
            *status = match now.map(PieceContent::to_text) {
                None => {
                    self.removed = true;
                    PartStatus::Removed { event: self.source.event }
                }
                Some(text) if *text == *case.session.parts[part].body.text() => PartStatus::Kept,
                Some(text) => self.marked(part, text),
            };
        }
        if changed {
            self.changed_messages.push(message..message + 1);
        }
        if statuses.as_slice().iter().any(|status| *status != PartStatus::Kept) {
            entry.body = EntryBody::Edited(Edited { message, parts: statuses });
        }
    }

    /// Puts another text in the place of a part's content.
    fn marked(&mut self, part: usize, text: Arc<str>) -> PartStatus {
        let (body, ledger) = (&self.case.session.parts[part].body, &self.case.ledger);
        let left = left_of(body.text(), &text);
        self.removed |= left != Left::All;
        let tokens = match body {
            Body::ToolCall { tool, .. } => ledger.weigh_call(tool, &text),
            _ => ledger.weigh(&text),
        };
        let tokens = tokens.0 as u32;
        // Parts that get the same text share one marker.
        let is_it = |last: &Marker| {
            (last.event, last.left, last.is_predicted, last.tokens)
                == (self.source.event, left, self.source.is_predicted, tokens)
                && last.text == text
        };
        if self.markers.last().is_some_and(is_it) {
            return PartStatus::Cleared { marker: self.markers.len() as u32 - 1 };
        }
        self.markers.push(Marker {
            tokens,
            metered: self.meter.weigh_known_part(&text, tokens),
            left,
            text,
            event: self.source.event,
            is_predicted: self.source.is_predicted,
        });
        PartStatus::Cleared { marker: self.markers.len() as u32 - 1 }
    }

    /// Returns the messages of the session that the removed entries held.
    pub(crate) fn covers<'e>(
        &mut self,
        gone: impl IntoIterator<Item = &'e Entry>,
    ) -> Vec<Range<u32>> {
        let mut covers = Vec::new();
        for entry in gone {
            match (&entry.body, entry.message()) {
                (EntryBody::Written(written), _) => covers.extend(written.covers.iter().cloned()),
                (_, Some(message)) => {
                    covers.push(message..message + 1);
                    self.changed_messages.push(message..message + 1);
                    self.removed = true;
                }
                _ => {}
            }
        }
        join(covers)
    }
}

/// Number of leading characters that are compared to recognize a shortened text. Chosen: a marker that replaces a whole
/// result begins with words of its own, and twice as many characters would miss texts of which only a few words are
/// kept.
const COMPARED_CHARS: usize = 12;

/// Returns how much of the original a new text keeps: all of it with additions, its beginning, or none.
fn left_of(original: &str, text: &str) -> Left {
    let is_same_head =
        || original.chars().take(COMPARED_CHARS).eq(text.chars().take(COMPARED_CHARS));
    if original.is_empty() {
        Left::Nothing
    } else if text.len() >= original.len() && text.contains(original) {
        Left::All
    } else if is_same_head() {
        Left::Some
    } else {
        Left::Nothing
    }
}
