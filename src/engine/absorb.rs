//! From the messages that a named action left to entries of the context: what is kept, what was changed, what is gone,
//! and which message of ours stands for that.
//!
//! Actions move, change, merge and write messages as they like. Every piece still names the part that it came from, so
//! the books can be kept without knowing what an action means by it.

use super::Case;
use super::context::{Context, Dropped, Edited, Entry, EntryBody, Left, Marker};
use super::context::{PartFate, PartFates, Written};
use super::diff::{Diff, Told};
use super::meter::Meter;
use super::pieces::{Origin, Said, pieces};
use super::taken::join;
use crate::chat::{Block, ChatMessage, Content};
use crate::session::{Role, WrittenKind};
use std::ops::Range;
use std::sync::Arc;

/// What changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Absorbed {
    /// Messages of the session that were changed or taken, as ascending ranges.
    pub(super) messages: Vec<Range<u32>>,
    /// Something of the session is gone from the context.
    pub(super) removed: bool,
}

/// An entry to be, in the order of the new context.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// One that was there before, by its id.
    Entry(u32),
    /// The next message of ours that the action wrote.
    New,
}

/// What marks a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    /// Index of its event.
    pub(super) event: u32,
    /// What it writes is predicted.
    pub(super) is_predicted: bool,
}

/// Replaces the context's entries by what an action left of them. Entries that are touched come back without weights:
/// the caller works them out. `next_id` numbers what is new.
pub(super) fn absorb(
    case: &Case,
    meter: &Meter,
    context: &mut Context,
    diff: &mut Diff<'_>,
    change: New,
    next_id: &mut u32,
) -> Absorbed {
    let mut order: Vec<Place> = Vec::with_capacity(context.entries.len());
    let mut new: Vec<Written> = Vec::new();
    let told = diff.each_after(|message, ids| {
        if ids.contains(&None) {
            order.push(Place::New);
            new.push(written(message, change));
        }
        order.extend(ids.iter().flatten().map(|id| Place::Entry(*id)));
    });
    let old = Old::new(std::mem::take(&mut context.entries));
    let mut carried = Change::new(case, meter, &mut context.markers, change);
    let is_touched = |entry: &Entry| diff.touches(entry.id);
    let all = carried.run(old, (order, new), is_touched, &told, next_id);
    context.entries = all.0;
    context.dropped.extend(all.1);
    carried.done()
}

/// The entries that were there, to be taken by their ids.
struct Old {
    entries: Vec<Option<Entry>>,
    /// Ids with their places in the list, ascending.
    at: Vec<(u32, usize)>,
}

impl Old {
    fn new(entries: Vec<Entry>) -> Self {
        let places = entries.iter().enumerate();
        let mut at: Vec<_> = places.map(|(idx, entry)| (entry.id, idx)).collect();
        at.sort_unstable();
        Self {
            entries: entries.into_iter().map(Some).collect(),
            at,
        }
    }

    /// Takes an entry; none if it was not there or is taken already.
    fn take(&mut self, id: u32) -> Option<Entry> {
        let found = self.at.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.entries[self.at[found].1].take()
    }
}

/// A change being carried out.
pub(super) struct Change<'a> {
    case: &'a Case,
    meter: &'a Meter,
    pub(super) markers: &'a mut Vec<Marker>,
    mark: New,
    absorbed: Vec<Range<u32>>,
    removed: bool,
}

impl<'a> Change<'a> {
    pub(super) fn new(
        case: &'a Case,
        meter: &'a Meter,
        markers: &'a mut Vec<Marker>,
        mark: New,
    ) -> Self {
        Self {
            case,
            meter,
            markers,
            mark,
            absorbed: Vec::new(),
            removed: false,
        }
    }

    /// What it changed.
    pub(super) fn done(self) -> Absorbed {
        Absorbed {
            messages: join(self.absorbed),
            removed: self.removed,
        }
    }

    /// The entries afterwards, and what was dropped.
    fn run(
        &mut self,
        mut old: Old,
        (order, new): (Vec<Place>, Vec<Written>),
        is_touched: impl Fn(&Entry) -> bool,
        told: &Told<'_>,
        next_id: &mut u32,
    ) -> (Vec<Entry>, Vec<Dropped>) {
        let mut kept = Vec::with_capacity(order.len());
        let mut heirs = Vec::new();
        let mut new = new.into_iter();
        for place in order {
            let entry = match place {
                Place::New => new.next().map(|written| {
                    heirs.push((kept.len(), written.kind));
                    *next_id += 1;
                    entry_of(*next_id - 1, EntryBody::Written(Box::new(written)))
                }),
                Place::Entry(id) => old.take(id).map(|mut entry| {
                    if is_touched(&entry) {
                        let kind = self.change(&mut entry, told);
                        heirs.extend(kind.map(|kind| (kept.len(), kind)));
                    }
                    entry
                }),
            };
            kept.extend(entry);
        }
        // What no action sees (definitions of tools) stays where it stands: first.
        let left = old.entries.into_iter().flatten();
        let was_seen = |entry: &Entry| {
            was_seen(self.case, entry, told) && (entry.message().is_none() || is_touched(entry))
        };
        let (gone, mut unseen): (Vec<Entry>, Vec<Entry>) = left.partition(was_seen);
        let covers = self.covers(&gone);
        let dropped = self.inherit(covers, &heirs, &mut kept);
        unseen.sort_by_key(|e| e.id);
        unseen.append(&mut kept);
        (unseen, dropped)
    }

    /// A summary inherits what is gone, else the first notice, else nothing stands for it: then that is given back.
    pub(super) fn inherit(
        &self,
        covers: Vec<Range<u32>>,
        heirs: &[(usize, WrittenKind)],
        entries: &mut [Entry],
    ) -> Vec<Dropped> {
        let heir = heirs
            .iter()
            .find(|(_, kind)| *kind == WrittenKind::Summary)
            .or(heirs.first());
        if let Some(Entry {
            body: EntryBody::Written(written),
            ..
        }) = heir.and_then(|(idx, _)| entries.get_mut(*idx))
        {
            let inherited = std::mem::take(&mut written.covers);
            written.covers = join(inherited.into_iter().chain(covers).collect());
            return Vec::new();
        }
        let event = Some(self.mark.event);
        let dropped = covers.into_iter().map(|messages| Dropped {
            messages,
            event,
            is_summarized: false,
        });
        dropped.collect()
    }

    /// Brings an entry up to date, without weights; gives of which kind it is where it is one of ours that reads
    /// otherwise now.
    pub(super) fn change(&mut self, entry: &mut Entry, told: &Told<'_>) -> Option<WrittenKind> {
        let Some(message) = entry.message() else {
            return self.rewrite(entry, told);
        };
        self.edit(entry, message, told);
        None
    }

    /// A message of ours, perhaps with another text.
    fn rewrite(&mut self, entry: &mut Entry, told: &Told<'_>) -> Option<WrittenKind> {
        let origin = Origin::Entry(entry.id);
        let said = told.now.get(origin);
        if said == told.was.get(origin) {
            return None;
        }
        let EntryBody::Written(written) = &mut entry.body else {
            return None;
        };
        written.text = said.map(Said::to_text).unwrap_or_default();
        written.blocks = None;
        written.is_predicted |= self.mark.is_predicted;
        written.event = self.mark.event;
        Some(written.kind)
    }

    /// A message of the session with what became of its parts.
    fn edit(&mut self, entry: &mut Entry, message: u32, told: &Told<'_>) {
        let case = self.case;
        let parts = case.session.messages[message as usize].parts.clone();
        let mut fates = match std::mem::replace(&mut entry.body, EntryBody::Original(message)) {
            EntryBody::Edited(edited) => edited.parts,
            _ => PartFates::kept(parts.len()),
        };
        let mut changed = false;
        for (part, fate) in parts.zip(fates.as_mut_slice()) {
            let origin = Origin::Part(part as u32);
            let now = told.now.get(origin);
            if told.was.get(origin) == now {
                continue;
            }
            changed = true;
            *fate = match now.map(Said::to_text) {
                None => {
                    self.removed = true;
                    PartFate::Removed {
                        event: self.mark.event,
                    }
                }
                Some(text) => self.marked(part, text),
            };
        }
        if changed {
            self.absorbed.push(message..message + 1);
        }
        if fates.as_slice().iter().any(|fate| *fate != PartFate::Kept) {
            entry.body = EntryBody::Edited(Edited {
                message,
                parts: fates,
            });
        }
    }

    /// Another text in the place of a part's own.
    fn marked(&mut self, part: usize, text: Arc<str>) -> PartFate {
        let original = self.case.session.parts[part].body.text();
        let left = left_of(original, &text);
        self.removed |= left != Left::All;
        // One marker stands for all that the action puts the same text for, as it mostly does.
        let is_it = |last: &Marker| {
            (last.event, last.left, last.is_predicted)
                == (self.mark.event, left, self.mark.is_predicted)
                && last.text == text
        };
        if self.markers.last().is_some_and(is_it) {
            return PartFate::Cleared {
                marker: self.markers.len() as u32 - 1,
            };
        }
        let tokens = self.case.ledger.weigh(&text).0 as u32;
        self.markers.push(Marker {
            tokens,
            metered: self.meter.weigh_known_part(&text, tokens),
            left,
            text,
            event: self.mark.event,
            is_predicted: self.mark.is_predicted,
        });
        PartFate::Cleared {
            marker: self.markers.len() as u32 - 1,
        }
    }

    /// Messages of the session that stood in entries that are gone.
    pub(super) fn covers<'e>(
        &mut self,
        gone: impl IntoIterator<Item = &'e Entry>,
    ) -> Vec<Range<u32>> {
        let mut covers = Vec::new();
        for entry in gone {
            match (&entry.body, entry.message()) {
                (EntryBody::Written(written), _) => covers.extend(written.covers.iter().cloned()),
                (_, Some(message)) => {
                    covers.push(message..message + 1);
                    self.absorbed.push(message..message + 1);
                    self.removed = true;
                }
                _ => {}
            }
        }
        join(covers)
    }
}

/// Whether an action saw an entry that it left out.
fn was_seen(case: &Case, entry: &Entry, told: &Told<'_>) -> bool {
    let is_there = |part| told.was.get(Origin::Part(part)).is_some();
    entry.message().is_none_or(|message| {
        let parts = case.session.messages[message as usize].parts.clone();
        parts.clone().any(|part| is_there(part as u32))
    })
}

/// Characters by which a shortened text is told from another.
const HEAD: usize = 12;

/// What a new text leaves of the original: all of it with something added, its beginning, or nothing.
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

/// Its weights are worked out once the whole context stands.
fn entry_of(id: u32, body: EntryBody) -> Entry {
    Entry {
        id,
        tokens: 0,
        metered: 0,
        body,
    }
}

/// What an action wrote in a message.
fn written(message: &ChatMessage, change: New) -> Written {
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
        is_predicted: change.is_predicted,
        covers: Vec::new(),
        event: change.event,
    }
}

/// A role that we do not know speaks in a person's place.
fn role_of(name: &str) -> Role {
    let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
    roles
        .into_iter()
        .find(|role| role.name() == name)
        .unwrap_or(Role::User)
}
