//! Converts the messages that a named action left to context entries: which are kept, changed or removed, and which
//! written message covers the removed ones.
//!
//! Actions may move, change, merge and write messages. Every piece still names the part that it came from, so the
//! account is kept without knowing what the action does.

use super::diff::{Diff, Differences};
use super::entry_updater::{ChangeSource, ContextChange, EntryUpdater};
use crate::chat::{Block, ChatMessage, Content};
use crate::engine::agent_messages::pieces::{Origin, pieces};
use crate::engine::case::Case;
use crate::engine::context::{AnsweredCall, Context, Dropped, Entry, EntryBody, Written};
use crate::engine::meter::Meter;
use crate::session::{Role, WrittenKind};
use std::sync::Arc;

/// A planned entry, in the order of the new context.
#[derive(Clone, Copy, Debug)]
enum PlannedEntry {
    /// An existing entry, by its id.
    Entry(u32),
    /// The next message that the action wrote.
    New,
}

/// Replaces the context's entries by those that an action left. Changed entries are returned without weights, which the
/// caller computes. `next_id` is the id of the next new entry.
pub(crate) fn replace_entries(
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
        Self { entries: entries.into_iter().map(Some).collect(), at }
    }

    /// Takes an entry; returns none if it does not exist or was taken already.
    fn take(&mut self, id: u32) -> Option<Entry> {
        let found = self.at.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.entries[self.at[found].1].take()
    }
}

impl EntryUpdater<'_> {
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
}

/// Returns whether an action saw an entry that it left out.
fn was_seen(case: &Case, entry: &Entry, differences: &Differences<'_>) -> bool {
    let is_there = |part| differences.was.get(Origin::Part(part)).is_some();
    entry.message().is_none_or(|message| {
        let parts = case.session.messages[message as usize].parts.clone();
        parts.clone().any(|part| is_there(part as u32))
    })
}

/// Returns an entry without weights; they are computed when the whole context is assembled.
pub(super) fn entry_of(id: u32, body: EntryBody) -> Entry {
    Entry { id, tokens: 0, metered: 0, body }
}

/// Returns a message that an action wrote.
pub(super) fn written(message: &ChatMessage, source: ChangeSource) -> Written {
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
    let kind = message.written.unwrap_or(WrittenKind::Notice);
    Written {
        role: role_of(&message.role),
        kind,
        text,
        blocks: Some(blocks).filter(|blocks| !blocks.is_empty()),
        joins_next: message.calls().iter().any(|call| call.part.is_some()),
        answers: message
            .call_id
            .clone()
            .map(|call| AnsweredCall { call, tool: message.name.clone() }),
        // Notices are the system's own words.
        is_predicted: source.is_predicted
            && message.written.is_none_or(|k| k == WrittenKind::Summary),
        covers: Vec::new(),
        event: source.event,
    }
}

/// Returns the role of this name. An unknown role counts as the user.
fn role_of(name: &str) -> Role {
    let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
    roles.into_iter().find(|role| role.name() == name).unwrap_or(Role::User)
}
