//! From the messages that a named action left to entries of the context: what is kept, what was changed, what is gone,
//! and which message of ours stands for that.
//!
//! Actions move, change, merge and write messages as they like. Every piece still names the part that it came from, so
//! the books can be kept without knowing what an action means by it.

use super::Case;
use super::context::{Context, Dropped, Edited, Entry, EntryBody, Left, Marker};
use super::context::{PartFate, PartFates, Written};
use super::meter::Meter;
use super::pieces::{Origin, Pieces, Said, pieces};
use super::scene::message_of;
use super::taken::join;
use crate::chat::ChatMessage;
use crate::session::{Role, WrittenKind};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// What changed.
#[derive(Debug, Default)]
pub(super) struct Absorbed {
    /// Messages of the session that were changed or taken, as ascending ranges.
    pub(super) messages: Vec<Range<u32>>,
    /// Something of the session is gone from the context.
    pub(super) removed: bool,
}

/// An entry to be, in the order of the new context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// A message of the session.
    Message(u32),
    /// A message of ours that was there before, by its id.
    Entry(u32),
    /// A message of ours that the action wrote, by its place among those.
    New(usize),
}

/// What marks a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    /// Index of its event.
    pub(super) event: u32,
    /// What it writes is predicted.
    pub(super) is_predicted: bool,
}

/// Replaces the context's entries by what an action left of them (`messages`: before and after). Weights are worked
/// out by the caller; `next_id` numbers what is new.
pub(super) fn absorb(
    case: &Case,
    meter: &Meter,
    context: &mut Context,
    messages: (&[ChatMessage], &[ChatMessage]),
    change: New,
    next_id: &mut u32,
) -> Absorbed {
    let (before, after) = messages;
    let New {
        event,
        is_predicted,
    } = change;
    let mut was: HashMap<Origin, Said> = HashMap::new();
    for message in before {
        was.extend(pieces(message).known);
    }
    let mut now: HashMap<Origin, Said> = HashMap::new();
    let mut order: Vec<Place> = Vec::new();
    let mut placed: HashSet<Place> = HashSet::new();
    let mut new: Vec<Written> = Vec::new();
    for message in after {
        let Pieces { known, new: texts } = pieces(message);
        if !texts.is_empty() {
            order.push(Place::New(new.len()));
            new.push(written(message, &texts, event, is_predicted));
        }
        for (origin, said) in known {
            let place = match origin {
                Origin::Part(part) => Place::Message(message_of(case, part)),
                Origin::Entry(id) => Place::Entry(id),
            };
            if placed.insert(place) {
                order.push(place);
            }
            now.insert(origin, said);
        }
    }
    let old: HashMap<Place, Entry> = std::mem::take(&mut context.entries)
        .into_iter()
        .map(|entry| {
            (
                entry
                    .message()
                    .map_or(Place::Entry(entry.id), Place::Message),
                entry,
            )
        })
        .collect();
    let change = Change {
        case,
        meter,
        markers: &mut context.markers,
        was,
        now,
        event,
        is_predicted,
        absorbed: Vec::new(),
        removed: false,
    };
    change.run(
        old,
        order,
        new,
        &mut context.entries,
        &mut context.dropped,
        next_id,
    )
}

/// A change being carried out.
struct Change<'a> {
    case: &'a Case,
    meter: &'a Meter,
    markers: &'a mut Vec<Marker>,
    was: HashMap<Origin, Said>,
    now: HashMap<Origin, Said>,
    event: u32,
    is_predicted: bool,
    absorbed: Vec<Range<u32>>,
    removed: bool,
}

impl Change<'_> {
    fn run(
        mut self,
        mut old: HashMap<Place, Entry>,
        order: Vec<Place>,
        new: Vec<Written>,
        entries: &mut Vec<Entry>,
        dropped: &mut Vec<Dropped>,
        next_id: &mut u32,
    ) -> Absorbed {
        let mut kept = Vec::with_capacity(order.len());
        let mut heirs = Vec::new();
        let mut new = new.into_iter();
        for place in order {
            let entry = match place {
                Place::New(_) => new.next().map(|written| {
                    heirs.push((kept.len(), written.kind));
                    *next_id += 1;
                    entry_of(*next_id - 1, EntryBody::Written(Box::new(written)))
                }),
                Place::Entry(id) => old.remove(&place).map(|entry| {
                    let (entry, changed) = self.rewritten(entry, id);
                    if let (true, EntryBody::Written(written)) = (changed, &entry.body) {
                        heirs.push((kept.len(), written.kind));
                    }
                    entry
                }),
                Place::Message(message) => {
                    old.remove(&place).map(|entry| self.edited(entry, message))
                }
            };
            kept.extend(entry);
        }
        // What no action sees (definitions of tools) stays where it stands: first.
        let (gone, unseen): (Vec<Entry>, Vec<Entry>) =
            old.into_values().partition(|entry| self.was_seen(entry));
        let covers = self.covers(&gone);
        // A summary inherits what is gone, else the first notice, else nothing stands for it.
        let heir = heirs
            .iter()
            .find(|(_, kind)| *kind == WrittenKind::Summary)
            .or(heirs.first());
        if let Some(Entry {
            body: EntryBody::Written(written),
            ..
        }) = heir.and_then(|(idx, _)| kept.get_mut(*idx))
        {
            let inherited = std::mem::take(&mut written.covers);
            written.covers = join(inherited.into_iter().chain(covers).collect());
        } else {
            dropped.extend(covers.into_iter().map(|messages| Dropped {
                messages,
                event: Some(self.event),
                is_summarized: false,
            }));
        }
        entries.extend(unseen);
        entries.sort_by_key(|e| e.id);
        entries.extend(kept);
        Absorbed {
            messages: join(self.absorbed),
            removed: self.removed,
        }
    }

    /// A message of ours, perhaps with another text; and whether it is another.
    fn rewritten(&mut self, mut entry: Entry, id: u32) -> (Entry, bool) {
        let origin = Origin::Entry(id);
        let changed = self.now.get(&origin) != self.was.get(&origin);
        if let (true, EntryBody::Written(written)) = (changed, &mut entry.body) {
            let said = self.now.remove(&origin).map(Said::into_text);
            written.text = said.unwrap_or_default();
            written.is_predicted |= self.is_predicted;
            written.event = self.event;
        }
        (entry, changed)
    }

    /// A message of the session with what became of its parts.
    fn edited(&mut self, entry: Entry, message: u32) -> Entry {
        let parts = self.case.session.messages[message as usize].parts.clone();
        let mut fates = match entry.body {
            EntryBody::Edited(edited) => edited.parts,
            _ => PartFates::kept(parts.len()),
        };
        let mut changed = false;
        for (part, fate) in parts.zip(fates.as_mut_slice()) {
            let origin = Origin::Part(part as u32);
            let (was, now) = (self.was.get(&origin), self.now.get(&origin));
            if was == now {
                continue;
            }
            changed = true;
            *fate = match self.now.remove(&origin) {
                None => {
                    self.removed = true;
                    PartFate::Removed { event: self.event }
                }
                Some(said) => self.marked(part, said.into_text()),
            };
        }
        if changed {
            self.absorbed.push(message..message + 1);
        }
        let is_whole = fates.as_slice().iter().all(|fate| *fate == PartFate::Kept);
        let body = if is_whole {
            EntryBody::Original(message)
        } else {
            EntryBody::Edited(Edited {
                message,
                parts: fates,
            })
        };
        entry_of(entry.id, body)
    }

    /// Another text in the place of a part's own.
    fn marked(&mut self, part: usize, text: Arc<str>) -> PartFate {
        let original = self.case.session.parts[part].body.text();
        let tokens = self.case.ledger.weigh(&text).0 as u32;
        let left = left_of(original, &text);
        self.removed |= left != Left::All;
        self.markers.push(Marker {
            tokens,
            metered: self.meter.weigh_known_part(&text, tokens),
            left,
            text,
            event: self.event,
            is_predicted: self.is_predicted,
        });
        PartFate::Cleared {
            marker: self.markers.len() as u32 - 1,
        }
    }

    fn was_seen(&self, entry: &Entry) -> bool {
        match entry.message() {
            None => true,
            Some(message) => {
                let mut parts = self.case.session.messages[message as usize].parts.clone();
                parts.any(|part| self.was.contains_key(&Origin::Part(part as u32)))
            }
        }
    }

    fn covers(&mut self, gone: &[Entry]) -> Vec<Range<u32>> {
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

/// Characters by which a shortened text is told from another.
const HEAD: usize = 12;

/// What a new text leaves of the original: all of it with something added, its beginning, or nothing.
fn left_of(original: &str, text: &str) -> Left {
    let head = |text: &str| text.chars().take(HEAD).collect::<String>();
    if original.is_empty() {
        Left::Nothing
    } else if text.contains(original) {
        Left::All
    } else if head(text) == head(original) {
        Left::Some
    } else {
        Left::Nothing
    }
}

/// Weights are worked out once the whole context stands.
fn entry_of(id: u32, body: EntryBody) -> Entry {
    Entry {
        id,
        tokens: 0,
        metered: 0,
        body,
    }
}

fn written(message: &ChatMessage, texts: &[Arc<str>], event: u32, is_predicted: bool) -> Written {
    let text = match texts {
        [text] => Arc::clone(text),
        texts => texts.join("\n").into(),
    };
    Written {
        role: role_of(&message.role),
        kind: message.written.unwrap_or(WrittenKind::Notice),
        text,
        is_predicted,
        covers: Vec::new(),
        event,
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
