//! The context during a run, with running sums, so that the cost of a call depends on the new content only.

mod amend;
mod changed;
mod clear;
mod live;

pub(super) use changed::Changed;
pub(super) use clear::Which;
pub(super) use live::{Live, LiveResult};

use super::Case;
use super::absorb::{Absorbed, New, absorb};
use super::context::{Context, Dropped, Entry, EntryBody, Marker, Written};
use super::diff::Diff;
use super::meter::{Meter, MeterColumn};
use super::scene::{Shown, Spans};
use super::stages::Place;
use super::sums::{Sums, each_part};
use super::taken::Taken;
use crate::chat::{ChatMessage, Messages, Shape};
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// A context with its sums.
#[derive(Clone, Debug)]
pub(super) struct Working<'a> {
    pub(super) case: &'a Case,
    pub(super) meter: Meter,
    pub(super) column: Arc<MeterColumn>,
    pub(super) context: Context,
    pub(super) sums: Sums,
    /// Units of the overhead on the policy's own meter.
    metered_overhead: u64,
    /// Tool results that are not cleared, in context order.
    pub(super) live: Live,
    /// Next id of a written entry.
    pub(super) next_id: u32,
    /// The context in the format of named actions, cached.
    pub(super) shown: Shown,
    /// Differences from the context of the last call.
    pub(super) changed: Changed,
}

impl<'a> Working<'a> {
    /// Creates an empty context: only the overhead that every call sends and the file does not record.
    pub(super) fn new(case: &'a Case, meter: &Meter) -> Self {
        let mut working = Self {
            case,
            meter: meter.clone(),
            column: case.metered(meter),
            context: Context::default(),
            sums: Sums::new(case),
            metered_overhead: 0,
            live: Live::default(),
            next_id: case.session.messages.len() as u32,
            shown: Shown::default(),
            changed: Changed::default(),
        };
        working.context.entries.reserve(case.session.messages.len());
        working.set_overhead(case.ledger.overhead);
        working
    }

    /// Continues from a recorded context of untouched messages.
    pub(super) fn resume(
        case: &'a Case,
        meter: &Meter,
        messages: &[u32],
        dropped: Vec<Dropped>,
        messages_end: usize,
    ) -> Self {
        let mut working = Self::new(case, meter);
        for message in messages {
            working.append(*message as usize);
        }
        working.context.dropped = dropped;
        working.context.messages_end = messages_end;
        working
    }

    /// Sets the weight of content that is not recorded from here on.
    pub(super) fn set_overhead(&mut self, overhead: Tokens) {
        let before = self.context.overhead;
        self.sums.tokens = self.sums.tokens - before.0 + overhead.0;
        self.metered_overhead = self.meter.overhead(self.case, overhead);
        let system = &mut self.sums.by_kind[Kind::System.index()];
        *system = *system - before.0 + overhead.0;
        self.context.overhead = overhead;
    }

    /// Returns whether the policy's own meter counts content that is not recorded.
    pub(super) fn counts_overhead(&self) -> bool {
        self.metered_overhead > 0
    }

    /// Returns the true tokens, overhead included.
    pub(super) fn tokens(&self) -> Tokens {
        Tokens(self.sums.tokens)
    }

    /// Returns the tokens on the policy's own meter, overhead included.
    pub(super) fn metered(&self) -> Tokens {
        self.meter.tokens(self.sums.metered + self.metered_overhead)
    }

    /// Returns the leading entries that the last call received unchanged.
    pub(super) fn unchanged(&self) -> &[Entry] {
        let entries = &self.context.entries;
        &entries[..self.changed.first().min(entries.len())]
    }

    /// Returns the true tokens before an entry.
    pub(super) fn tokens_before(&self, entry: usize) -> Tokens {
        let (before, behind) = self
            .context
            .entries
            .split_at(entry.min(self.context.entries.len()));
        let sum = |entries: &[Entry]| {
            entries
                .iter()
                .map(|e| Tokens::from(e.tokens))
                .sum::<Tokens>()
        };
        if before.len() < behind.len() {
            self.context.overhead + sum(before)
        } else {
            self.tokens() - sum(behind)
        }
    }

    /// Returns the number of messages in the context, without instructions.
    pub(super) fn spoken(&self) -> usize {
        let end = self.case.index.preamble_end;
        let is_instruction = |entry: &&Entry| entry.message().is_some_and(|m| m < end);
        let entries = self.context.entries.iter();
        self.context.entries.len() - entries.take_while(is_instruction).count()
    }

    /// Returns the written summaries, with the ids of their entries.
    pub(super) fn summaries(&self) -> impl Iterator<Item = (u32, &Written)> {
        self.context
            .entries
            .iter()
            .filter_map(|entry| match &entry.body {
                EntryBody::Written(written) if written.kind == WrittenKind::Summary => {
                    Some((entry.id, &**written))
                }
                _ => None,
            })
    }

    /// Returns the number of calls without a result and results without a call.
    pub(super) fn orphans(&self) -> usize {
        self.sums.orphans()
    }

    /// Returns the turn of a call, 0 if none.
    pub(super) fn turn(&self, step: usize) -> u32 {
        self.case.session.calls.get(step).map_or(0, |s| s.turn)
    }

    /// Returns the true tokens by kind, in the order of [`Kind::ALL`].
    pub(super) fn by_kind(&self) -> [u32; Kind::ALL.len()] {
        let mut by_kind = [0; Kind::ALL.len()];
        for (kind, wide) in self.sums.by_kind.iter().enumerate() {
            by_kind[kind] = u32::try_from(*wide).unwrap_or(u32::MAX);
        }
        by_kind
    }

    /// Appends messages of the full history up to (not including) this index.
    pub(super) fn append_history(&mut self, end: usize) {
        for message in self.context.messages_end..end {
            if self.case.index.in_history(message) {
                self.append(message);
            }
        }
        self.context.messages_end = self.context.messages_end.max(end);
    }

    #[inline]
    fn append(&mut self, message_idx: usize) {
        if self.case.index.has_results(message_idx) {
            self.append_live(message_idx);
        }
        let tokens = self.case.ledger.truth.per_message[message_idx];
        let metered = self.column.per_message[message_idx];
        self.sums
            .add_message(self.case, message_idx, (tokens, metered));
        self.context.entries.push(Entry {
            id: message_idx as u32,
            tokens,
            metered,
            body: EntryBody::Original(message_idx as u32),
        });
    }

    /// Adds the tool results of a message to the live ones.
    fn append_live(&mut self, message_idx: usize) {
        for part in self.case.index.parts(message_idx) {
            let kind = self.case.index.kinds[part];
            let metered = self.column.per_part[part];
            if kind == Kind::ToolResult {
                self.live.push(LiveResult {
                    part: part as u32,
                    message: message_idx as u32,
                    metered,
                });
            } else if let Some(owner) = self.case.index.owner[part] {
                self.live.add_to(owner, metered);
            }
        }
    }

    /// Returns the context from an entry on in the format of a named action, with the entries of each message.
    pub(super) fn messages(&mut self, first: usize, shape: Shape) -> (Messages, Arc<Spans>) {
        if first > 0 {
            let shown = Shown::from(self.case, &self.context, first, shape);
            return (shown.messages().clone(), shown.spans());
        }
        let shown = self.shown.all(self.case, &self.context, shape);
        (shown.messages().clone(), shown.spans())
    }

    /// Replaces the entries from `first` on by those that a named action left (`after`).
    pub(super) fn rewrite(
        &mut self,
        first: usize,
        messages: (&[ChatMessage], &[ChatMessage]),
        change: New,
    ) -> Absorbed {
        let mut diff = Diff::new(self.case, messages, self.next_id);
        self.shown.forget_from(first);
        let (case, markers) = (self.case, &self.context.markers);
        for entry in &self.context.entries[first..] {
            if diff.touches(entry.id) {
                self.sums.forget(case, markers, entry);
            }
        }
        let tail = self.context.entries.split_off(first);
        let were: Vec<_> = tail.iter().map(|entry| (entry.id, entry.text())).collect();
        let head = std::mem::replace(&mut self.context.entries, tail);
        let (context, next_id) = (&mut self.context, &mut self.next_id);
        let absorbed = absorb(self.case, &self.meter, context, &mut diff, change, next_id);
        let tail = std::mem::replace(&mut self.context.entries, head);
        let is_as_it_was = |((id, text), is): &(&(u32, Option<Arc<str>>), &Entry)| {
            let is_kept = *id == is.id && !diff.touches(is.id);
            is_kept || text.as_ref().is_some_and(|text| is.says(text))
        };
        let as_they_were = were.iter().zip(&tail).take_while(is_as_it_was).count();
        self.changed.move_from(first + as_they_were);
        for mut entry in tail {
            if diff.touches(entry.id) {
                self.weigh(&mut entry);
                self.sums.add(self.case, &self.context.markers, &entry);
            }
            self.context.entries.push(entry);
        }
        self.list_live();
        absorbed
    }

    /// Computes the weight of an entry.
    fn weigh(&self, entry: &mut Entry) {
        let markers = &self.context.markers;
        weigh(self.case, &self.meter, &self.column, markers, entry);
    }

    /// Rebuilds the list of tool results that are not cleared.
    fn list_live(&mut self) {
        let mut live = Live::default();
        for entry in &self.context.entries {
            self.live_in(entry, &mut live);
        }
        self.live = live;
    }

    /// Adds the tool results of an entry that are not cleared.
    pub(super) fn live_in(&self, entry: &Entry, live: &mut Live) {
        let markers = &self.context.markers;
        each_part(self.case, entry, |part, fate| {
            if !fate.has_content(markers) {
                return;
            }
            let metered = fate.metered(self.column.per_part[part], markers);
            if self.case.index.kinds[part] == Kind::ToolResult {
                live.push(LiveResult {
                    part: part as u32,
                    message: entry.position(),
                    metered,
                });
            } else if let Some(owner) = self.case.index.owner[part] {
                live.add_to(owner, metered);
            }
        });
    }

    /// Removes entries. `written`, with its true tokens, replaces the first or last of them and covers them all, if
    /// given.
    pub(super) fn replace(
        &mut self,
        taken: Taken,
        (written, place): (Option<(Written, u32)>, Place),
        event: u32,
    ) {
        let Taken {
            entries: taken,
            covers,
            ..
        } = taken;
        self.live.retain_mut(|r| !holds(&covers, r.message));
        self.shown.forget_from(0);
        self.changed
            .move_from(taken.first().copied().unwrap_or(usize::MAX));
        let mut entries = std::mem::take(&mut self.context.entries);
        for idx in &taken {
            self.sums
                .forget(self.case, &self.context.markers, &entries[*idx]);
        }
        let mut next = taken.iter().copied().peekable();
        let mut idx = 0..;
        entries.retain(|_| next.next_if_eq(&idx.next().unwrap_or(0)).is_none());
        self.context.entries = entries;
        let place = match place {
            Place::First => taken.first().copied(),
            Place::Last => taken.last().map(|last| last + 1 - taken.len()),
        };
        if let (Some((written, tokens)), Some(place)) = (written, place) {
            self.write(place, Written { covers, ..written }, tokens);
        } else {
            let gone = |messages| Dropped {
                messages,
                event: Some(event),
                is_summarized: false,
            };
            self.context.dropped.extend(covers.into_iter().map(gone));
        }
    }

    fn write(&mut self, place: usize, written: Written, tokens: u32) {
        let metered = self.meter.weigh_known(&written.text, tokens);
        let entry = Entry {
            id: self.next_id,
            tokens,
            metered,
            body: EntryBody::Written(Box::new(written)),
        };
        self.next_id += 1;
        self.sums.add(self.case, &self.context.markers, &entry);
        self.context.entries.insert(place, entry);
    }
}

/// Computes the weight of an entry.
pub(super) fn weigh(
    case: &Case,
    meter: &Meter,
    column: &MeterColumn,
    markers: &[Marker],
    entry: &mut Entry,
) {
    if let EntryBody::Written(written) = &entry.body {
        entry.tokens = case.ledger.weigh(&written.text).0 as u32;
    }
    let mut tokens = 0;
    entry.each_weight(case, markers, |_, weight| tokens += weight);
    entry.tokens = tokens;
    entry.metered = meter.entry(case, entry, markers, column);
}

/// Returns whether sorted ranges contain a message.
fn holds(ranges: &[Range<u32>], message: u32) -> bool {
    let at = ranges.partition_point(|range| range.end <= message);
    ranges.get(at).is_some_and(|range| range.contains(&message))
}
