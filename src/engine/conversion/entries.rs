//! Converts the messages that a named action left to context entries: which are kept, changed or removed, and which
//! written message covers the removed ones.
//!
//! Actions may move, change, merge and write messages. Every piece still names the part that it came from, so the
//! account is kept without knowing what the action does.

use super::diff::{Diff, Differences};
use super::pieces::{Origin, PieceContent, pieces};
use crate::chat::{Block, ChatMessage, Content};
use crate::engine::case::Case;
use crate::engine::context::taken::join;
use crate::engine::context::{Context, Dropped, Edited, Entry, EntryBody, Left, Marker};
use crate::engine::context::{PartStatus, PartStatuses, Written};
use crate::engine::policy::meter::Meter;
use crate::session::{Role, WrittenKind};
use std::ops::Range;
use std::sync::Arc;

/// The result of a change.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct ContextChange {
    /// Messages of the session that were changed or removed, as ascending ranges.
    pub(in crate::engine) messages: Vec<Range<u32>>,
    /// Whether content of the session was removed from the context.
    pub(in crate::engine) removed: bool,
}

/// A planned entry, in the order of the new context.
#[derive(Clone, Copy, Debug)]
enum PlannedEntry {
    /// An existing entry, by its id.
    Entry(u32),
    /// The next message that the action wrote.
    New,
}

/// The event that a change belongs to.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct ChangeSource {
    /// Index of its event.
    pub(in crate::engine) event: u32,
    /// Whether the text it writes is predicted.
    pub(in crate::engine) is_predicted: bool,
}

/// Replaces the context's entries by those that an action left. Changed entries are returned without weights, which the
/// caller computes. `next_id` is the id of the next new entry.
pub(in crate::engine) fn replace_entries(
    case: &Case,
    meter: &Meter,
    context: &mut Context,
    diff: &mut Diff<'_>,
    source: ChangeSource,
    next_id: &mut u32,
) -> ContextChange {
    let mut order: Vec<PlannedEntry> = Vec::with_capacity(context.entries.len());
    let mut new: Vec<Written> = Vec::new();
    let differences = diff.each_after(|message, ids| {
        if ids.contains(&None) {
            order.push(PlannedEntry::New);
            new.push(written(message, source));
        }
        order.extend(ids.iter().flatten().map(|id| PlannedEntry::Entry(*id)));
    });
    let old = PreviousEntries::new(std::mem::take(&mut context.entries));
    let mut updater = EntryUpdater::new(case, meter, &mut context.markers, source);
    let is_touched = |entry: &Entry| diff.touches(entry.id);
    let all = updater.run(old, (order, new), is_touched, &differences, next_id);
    context.entries = all.0;
    context.dropped.extend(all.1);
    updater.done()
}

/// The previous entries, taken by id.
struct PreviousEntries {
    entries: Vec<Option<Entry>>,
    /// Ids with their positions in the list, ascending.
    at: Vec<(u32, usize)>,
}

impl PreviousEntries {
    fn new(entries: Vec<Entry>) -> Self {
        let places = entries.iter().enumerate();
        let mut at: Vec<_> = places.map(|(idx, entry)| (entry.id, idx)).collect();
        at.sort_unstable();
        Self {
            entries: entries.into_iter().map(Some).collect(),
            at,
        }
    }

    /// Takes an entry; returns none if it does not exist or was taken already.
    fn take(&mut self, id: u32) -> Option<Entry> {
        let found = self.at.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.entries[self.at[found].1].take()
    }
}

/// Updates entries and records the changed messages.
pub(super) struct EntryUpdater<'a> {
    case: &'a Case,
    meter: &'a Meter,
    pub(in crate::engine) markers: &'a mut Vec<Marker>,
    source: ChangeSource,
    changed_messages: Vec<Range<u32>>,
    removed: bool,
}

impl<'a> EntryUpdater<'a> {
    pub(in crate::engine) fn new(
        case: &'a Case,
        meter: &'a Meter,
        markers: &'a mut Vec<Marker>,
        source: ChangeSource,
    ) -> Self {
        Self {
            case,
            meter,
            markers,
            source,
            changed_messages: Vec::new(),
            removed: false,
        }
    }

    /// Returns the result of the change.
    pub(in crate::engine) fn done(self) -> ContextChange {
        ContextChange {
            messages: join(self.changed_messages),
            removed: self.removed,
        }
    }

    /// Returns the new entries and the dropped ranges.
    fn run(
        &mut self,
        mut old: PreviousEntries,
        (order, new): (Vec<PlannedEntry>, Vec<Written>),
        is_touched: impl Fn(&Entry) -> bool,
        differences: &Differences<'_>,
        next_id: &mut u32,
    ) -> (Vec<Entry>, Vec<Dropped>) {
        let mut kept = Vec::with_capacity(order.len());
        let mut covering = Vec::new();
        let mut new = new.into_iter();
        for place in order {
            let entry = match place {
                PlannedEntry::New => new.next().map(|written| {
                    covering.push((kept.len(), written.kind));
                    *next_id += 1;
                    entry_of(*next_id - 1, EntryBody::Written(Box::new(written)))
                }),
                PlannedEntry::Entry(id) => old.take(id).map(|mut entry| {
                    if is_touched(&entry) {
                        let kind = self.change(&mut entry, differences);
                        covering.extend(kind.map(|kind| (kept.len(), kind)));
                    }
                    entry
                }),
            };
            kept.extend(entry);
        }
        // Entries that no action sees (tool definitions) stay first.
        let left = old.entries.into_iter().flatten();
        let was_seen = |entry: &Entry| {
            was_seen(self.case, entry, differences)
                && (entry.message().is_none() || is_touched(entry))
        };
        let (gone, mut hidden): (Vec<Entry>, Vec<Entry>) = left.partition(was_seen);
        let covers = self.covers(&gone);
        let dropped = self.assign_covers(covers, &covering, &mut kept);
        hidden.sort_by_key(|e| e.id);
        hidden.append(&mut kept);
        (hidden, dropped)
    }

    /// Assigns the removed messages to a summary, else to the first notice. If there is neither, returns them.
    pub(super) fn assign_covers(
        &self,
        covers: Vec<Range<u32>>,
        covering: &[(usize, WrittenKind)],
        entries: &mut [Entry],
    ) -> Vec<Dropped> {
        let covering_entry = covering
            .iter()
            .find(|(_, kind)| *kind == WrittenKind::Summary)
            .or(covering.first());
        if let Some(Entry {
            body: EntryBody::Written(written),
            ..
        }) = covering_entry.and_then(|(idx, _)| entries.get_mut(*idx))
        {
            let inherited = std::mem::take(&mut written.covers);
            written.covers = join(inherited.into_iter().chain(covers).collect());
            return Vec::new();
        }
        let event = Some(self.source.event);
        let dropped = covers.into_iter().map(|messages| Dropped {
            messages,
            event,
            is_summarized: false,
        });
        dropped.collect()
    }

    /// Updates an entry without computing weights. Returns its kind if it is a written message whose text changed.
    pub(in crate::engine) fn change(
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
                    PartStatus::Removed {
                        event: self.source.event,
                    }
                }
                Some(text) => self.marked(part, text),
            };
        }
        if changed {
            self.changed_messages.push(message..message + 1);
        }
        if statuses
            .as_slice()
            .iter()
            .any(|status| *status != PartStatus::Kept)
        {
            entry.body = EntryBody::Edited(Edited {
                message,
                parts: statuses,
            });
        }
    }

    /// Puts another text in the place of a part's content.
    fn marked(&mut self, part: usize, text: Arc<str>) -> PartStatus {
        let original = self.case.session.parts[part].body.text();
        let left = left_of(original, &text);
        self.removed |= left != Left::All;
        // Parts that get the same text share one marker.
        let is_it = |last: &Marker| {
            (last.event, last.left, last.is_predicted)
                == (self.source.event, left, self.source.is_predicted)
                && last.text == text
        };
        if self.markers.last().is_some_and(is_it) {
            return PartStatus::Cleared {
                marker: self.markers.len() as u32 - 1,
            };
        }
        let tokens = self.case.ledger.weigh(&text).0 as u32;
        self.markers.push(Marker {
            tokens,
            metered: self.meter.weigh_known_part(&text, tokens),
            left,
            text,
            event: self.source.event,
            is_predicted: self.source.is_predicted,
        });
        PartStatus::Cleared {
            marker: self.markers.len() as u32 - 1,
        }
    }

    /// Returns the messages of the session that the removed entries held.
    pub(in crate::engine) fn covers<'e>(
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

/// Returns whether an action saw an entry that it left out.
fn was_seen(case: &Case, entry: &Entry, differences: &Differences<'_>) -> bool {
    let is_there = |part| differences.was.get(Origin::Part(part)).is_some();
    entry.message().is_none_or(|message| {
        let parts = case.session.messages[message as usize].parts.clone();
        parts.clone().any(|part| is_there(part as u32))
    })
}

/// Number of leading characters that are compared to recognize a shortened text.
const HEAD: usize = 12;

/// Returns how much of the original a new text keeps: all of it with additions, its beginning, or none.
fn left_of(original: &str, text: &str) -> Left {
    let is_same_head = || original.chars().take(HEAD).eq(text.chars().take(HEAD));
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

/// Returns an entry without weights; they are computed when the whole context is assembled.
fn entry_of(id: u32, body: EntryBody) -> Entry {
    Entry {
        id,
        tokens: 0,
        metered: 0,
        body,
    }
}

/// Returns a message that an action wrote.
fn written(message: &ChatMessage, source: ChangeSource) -> Written {
    let text = match &*pieces(message).new {
        [text] => Arc::clone(text),
        texts => texts.join("\n").into(),
    };
    let blocks: Arc<[Block]> = match &message.content {
        Content::Blocks(blocks) => {
            let new = blocks.iter().filter(|block| block.part.is_none());
            new.cloned().collect()
        }
        _ => Arc::default(),
    };
    Written {
        role: role_of(&message.role),
        kind: message.written.unwrap_or(WrittenKind::Notice),
        text,
        blocks: Some(blocks).filter(|blocks| !blocks.is_empty()),
        is_predicted: source.is_predicted,
        covers: Vec::new(),
        event: source.event,
    }
}

/// Returns the role of this name. An unknown role counts as the user.
fn role_of(name: &str) -> Role {
    let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
    roles
        .into_iter()
        .find(|role| role.name() == name)
        .unwrap_or(Role::User)
}
