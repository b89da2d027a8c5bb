//! The whole conversation that an action left for a call, and its changes from call to call: messages that are removed
//! or written. All others stay as they are.

use super::diff::id_of;
use super::entries::{entry_of, written};
use super::entry_updater::{ChangeSource, ContextChange, EntryUpdater};
use crate::chat::ChatMessage;
use crate::engine::agent_messages::pieces::each_origin;
use crate::engine::case::Case;
use crate::engine::context::{Entry, EntryBody};
use crate::engine::working::{Working, weigh};
use std::ops::Range;

/// A message of a call.
#[derive(Clone, Debug)]
struct SentMessage {
    message: ChatMessage,
    /// Id of the entry of a message that the action wrote.
    written: Option<u32>,
}

/// The messages of a call, in the order of its entries.
#[derive(Debug, Default)]
pub(crate) struct SentMessages(Vec<SentMessage>);

/// Changes of the messages of a call.
#[derive(Debug)]
pub(crate) struct SentChange {
    /// Removed entries, ascending.
    gone: Vec<usize>,
    /// Written messages, each with the entry that it precedes.
    new: Vec<(usize, ChatMessage)>,
    /// The messages afterwards.
    sent: SentMessages,
}

impl SentMessages {
    /// Creates the list of the messages that an action left. The entries that it wrote have the ids from `next_id` on.
    /// Returns none if a message is neither old nor new, or if the entries have another order.
    pub(crate) fn new(
        working: &Working<'_>,
        n_hidden: usize,
        messages: &[ChatMessage],
        mut next_id: u32,
    ) -> Option<Self> {
        let mut sent = Vec::with_capacity(messages.len());
        for message in messages {
            let written = is_new(message)?.then_some(next_id);
            next_id += u32::from(written.is_some());
            let message = message.clone();
            sent.push(SentMessage { message, written });
        }
        let mut entries = Entries::new(working, n_hidden);
        let is_in_order = sent.iter().all(|message| entries.take(message, false));
        (is_in_order && entries.are_all_taken()).then_some(Self(sent))
    }

    /// Adds messages of the session.
    pub(crate) fn add(&mut self, new: &[ChatMessage]) {
        self.0.extend(
            new.iter().map(|message| SentMessage { message: message.clone(), written: None }),
        );
    }

    /// Returns the messages.
    pub(crate) fn to_vec(&self) -> Vec<ChatMessage> {
        self.0.iter().map(|sent| sent.message.clone()).collect()
    }

    /// Returns the changes that lead to these messages; none if others than whole messages changed.
    pub(crate) fn change_to(
        &self,
        working: &Working<'_>,
        n_hidden: usize,
        now: &[ChatMessage],
    ) -> Option<SentChange> {
        let mut entries = Entries::new(working, n_hidden);
        let mut new = Vec::new();
        let mut sent = Vec::with_capacity(now.len());
        let mut left = self.0.iter();
        for message in now {
            match left.as_slice().iter().position(|was| was.is(message)) {
                Some(n_gone) => {
                    let mut gone = left.by_ref().take(n_gone);
                    let stays = gone.all(|message| entries.take(message, true));
                    let kept = left.next()?;
                    if !stays || !entries.take(kept, false) {
                        return None;
                    }
                    sent.push(kept.clone());
                }
                None if is_new(message)? => {
                    let message = message.clone();
                    new.push((entries.next, message.clone()));
                    let written = Some(working.next_id + new.len() as u32 - 1);
                    sent.push(SentMessage { message, written });
                }
                None => return None,
            }
        }
        let stays = left.all(|message| entries.take(message, true));
        (stays && entries.are_all_taken()).then_some(SentChange {
            gone: entries.gone,
            new,
            sent: Self(sent),
        })
    }
}

impl SentMessage {
    fn is(&self, message: &ChatMessage) -> bool {
        self.message.is_copy_of(message) || self.message == *message
    }
}

/// Returns whether an action wrote a message; none if it consists of old and new content.
fn is_new(message: &ChatMessage) -> Option<bool> {
    let (mut n_old, mut n_new) = (0, 0);
    each_origin(message, |origin| match origin {
        Some(_) => n_old += 1,
        None => n_new += 1,
    });
    (n_old == 0 || n_new == 0).then_some(n_old == 0)
}

/// The entries of the messages of a call, taken in order.
struct Entries<'a> {
    case: &'a Case,
    list: &'a [Entry],
    /// The next entry.
    next: usize,
    gone: Vec<usize>,
}

impl<'a> Entries<'a> {
    fn new(working: &'a Working<'_>, n_hidden: usize) -> Self {
        Self {
            case: working.case,
            list: &working.context.entries,
            next: n_hidden,
            gone: Vec::new(),
        }
    }

    /// Takes the entries of the next message. Returns whether it has these and shares none with a message of another
    /// fate.
    fn take(&mut self, message: &SentMessage, is_gone: bool) -> bool {
        if let Some(id) = message.written {
            return self.take_entry(id, is_gone);
        }
        let mut is_sound = true;
        each_origin(&message.message, |origin| {
            let id = origin.map(|origin| id_of(self.case, origin));
            is_sound &= id.is_some_and(|id| self.take_entry(id, is_gone));
        });
        is_sound
    }

    fn take_entry(&mut self, id: u32, is_gone: bool) -> bool {
        if self.list.get(self.next).is_some_and(|entry| entry.id == id) {
            self.gone.extend(is_gone.then_some(self.next));
            self.next += 1;
            return true;
        }
        let taken = self.list[..self.next].iter();
        let at = taken.rev().take(MOST_SHARED).position(|entry| entry.id == id);
        at.is_some_and(|back| {
            let at = self.next - 1 - back;
            self.gone.binary_search(&at).is_ok() == is_gone
        })
    }

    fn are_all_taken(&self) -> bool {
        self.next == self.list.len()
    }
}

/// Maximum number of entries between two messages that share an entry. Systems that split an answer write its parts
/// next to each other. A larger distance only costs time: the message counts as written anew.
const MOST_SHARED: usize = 16;

impl Working<'_> {
    /// Removes entries and adds those of written messages.
    pub(crate) fn change_sent(
        &mut self,
        change: SentChange,
        source: ChangeSource,
    ) -> (ContextChange, SentMessages) {
        let SentChange { gone, new, sent } = change;
        let first_new = new.first().map(|(at, _)| *at);
        let changed = gone.first().copied().into_iter().chain(first_new);
        self.mark_changed(changed.min().unwrap_or(usize::MAX));
        let was = std::mem::take(&mut self.context.entries);
        let mut markers = std::mem::take(&mut self.context.markers);
        let meter = self.meter.clone();
        let mut updater = EntryUpdater::new(self.case, &meter, &mut markers, source);
        let covers = updater.covers(gone.iter().map(|idx| &was[*idx]));
        for idx in &gone {
            self.sums.remove(self.case, updater.markers, &was[*idx]);
        }
        if !gone.is_empty() {
            self.update_live(&was, &[], &gone);
        }
        let mut entries = Vec::with_capacity(was.len() + new.len());
        let mut covering = Vec::with_capacity(new.len());
        let mut gone = gone.iter().peekable();
        let mut was = was.into_iter().enumerate();
        let mut keep = |n: Range<usize>, entries: &mut Vec<Entry>| {
            let kept = was.by_ref().take(n.len());
            let kept = kept.filter(|(idx, _)| gone.next_if(|gone| *gone == idx).is_none());
            entries.extend(kept.map(|(_, entry)| entry));
        };
        let mut next = 0;
        for (at, message) in new {
            keep(next..at, &mut entries);
            next = at;
            let written = written(&message, source);
            covering.push((entries.len(), written.kind));
            let mut entry = entry_of(self.next_id, EntryBody::Written(Box::new(written)));
            self.next_id += 1;
            weigh(self.case, &meter, &self.column, updater.markers, &mut entry);
            self.sums.add(self.case, updater.markers, &entry);
            entries.push(entry);
        }
        keep(next..usize::MAX, &mut entries);
        let dropped = updater.assign_covers(covers, &covering, &mut entries);
        let context_change = updater.done();
        self.context.dropped.extend(dropped);
        self.context.markers = markers;
        self.context.entries = entries;
        (context_change, sent)
    }
}
