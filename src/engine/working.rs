//! The context while a run changes it, with running sums, so that a step costs what is new and not what is there.

use super::Case;
use super::absorb::{Absorbed, New, absorb};
use super::context::{Context, Dropped, Edited, Entry, EntryBody, Written};
use super::context::{Left, Marker, PartFate, PartFates};
use super::diff::Diff;
use super::meter::{Meter, MeterColumn};
use super::scene::Shown;
use super::taken::Taken;
use crate::chat::{ChatMessage, Shape};
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// A tool result whose content is still in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveResult {
    /// Index of its part.
    pub(super) part: u32,
    /// Index of its message.
    pub(super) message: u32,
    /// Tokens on the policy's own meter, media inside it included.
    pub(super) metered: u32,
}

/// A context with its sums.
#[derive(Clone, Debug)]
pub(super) struct Working<'a> {
    case: &'a Case,
    pub(super) meter: Meter,
    column: Arc<MeterColumn>,
    pub(super) context: Context,
    /// True tokens by kind, overhead included (as system).
    by_kind: [u64; Kind::ALL.len()],
    /// True tokens, overhead included.
    tokens: u64,
    /// Units on the policy's own meter (tokens on most), without overhead.
    metered: u64,
    /// Units of the overhead on the policy's own meter.
    metered_overhead: u64,
    /// Tool results that are not cleared, in context order.
    pub(super) live: Vec<LiveResult>,
    /// What they weigh together on the policy's own meter.
    pub(super) live_metered: u64,
    /// Next id for an entry of ours.
    next_id: u32,
    /// The context as named actions saw it last.
    shown: Shown,
}

impl<'a> Working<'a> {
    /// An empty context: only what every call carries and the file does not hold.
    pub(super) fn new(case: &'a Case, meter: &Meter) -> Self {
        let mut working = Self {
            case,
            meter: meter.clone(),
            column: case.metered(meter),
            context: Context::default(),
            by_kind: [0; Kind::ALL.len()],
            tokens: 0,
            metered: 0,
            metered_overhead: 0,
            live: Vec::new(),
            live_metered: 0,
            next_id: case.session.messages.len() as u32,
            shown: Shown::default(),
        };
        working.context.entries.reserve(case.session.messages.len());
        working.set_overhead(case.ledger.overhead);
        working
    }

    /// Continues from a context of untouched messages (what was really there).
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

    /// What the file does not hold weighs this much from here on.
    pub(super) fn set_overhead(&mut self, overhead: Tokens) {
        let before = self.context.overhead;
        self.tokens = self.tokens - before.0 + overhead.0;
        self.metered_overhead = self.meter.overhead(self.case, overhead);
        let system = &mut self.by_kind[Kind::System.index()];
        *system = *system - before.0 + overhead.0;
        self.context.overhead = overhead;
    }

    /// Whether the policy's own meter gives what the file does not hold a weight.
    pub(super) fn counts_overhead(&self) -> bool {
        self.metered_overhead > 0
    }

    /// True tokens, overhead included.
    pub(super) fn tokens(&self) -> Tokens {
        Tokens(self.tokens)
    }

    /// Tokens on the policy's own meter, overhead included.
    pub(super) fn metered(&self) -> Tokens {
        self.meter.tokens(self.metered + self.metered_overhead)
    }

    /// Messages in the context, instructions excepted.
    pub(super) fn spoken(&self) -> usize {
        let end = self.case.index.preamble_end;
        let is_instruction = |entry: &&Entry| entry.message().is_some_and(|m| m < end);
        let entries = self.context.entries.iter();
        self.context.entries.len() - entries.take_while(is_instruction).count()
    }

    /// Summaries of ours, with the ids of their entries.
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

    /// Calls in the context without a result, and results without a call.
    pub(super) fn orphans(&self) -> usize {
        let mut is_there = vec![(false, false); self.case.index.n_pairs];
        for entry in &self.context.entries {
            self.each_part(entry, |part, fate| {
                let pair = self.case.index.pair[part];
                if let (Some(pair), false) = (pair, matches!(fate, PartFate::Removed { .. })) {
                    let (call, result) = &mut is_there[pair as usize];
                    let is_result = self.case.index.kinds[part] == Kind::ToolResult;
                    *(if is_result { result } else { call }) = true;
                }
            });
        }
        is_there
            .iter()
            .filter(|(call, result)| call != result)
            .count()
    }

    /// Gives the parts of an entry that is a message of the session, with what became of them.
    fn each_part(&self, entry: &Entry, mut give: impl FnMut(usize, &PartFate)) {
        let Some(message) = entry.message() else {
            return;
        };
        let parts = self.case.session.messages[message as usize].parts.clone();
        match &entry.body {
            EntryBody::Edited(edited) => {
                let fates = parts.zip(edited.parts.as_slice());
                fates.for_each(|(part, fate)| give(part, fate));
            }
            _ => parts.for_each(|part| give(part, &PartFate::Kept)),
        }
    }

    /// The turn of a step, 0 where there is none.
    pub(super) fn turn(&self, step: usize) -> u32 {
        self.case.session.steps.get(step).map_or(0, |s| s.turn)
    }

    /// True tokens by kind, in the order of [`Kind::ALL`].
    pub(super) fn by_kind(&self) -> [u32; Kind::ALL.len()] {
        let mut by_kind = [0; Kind::ALL.len()];
        for (narrow, wide) in by_kind.iter_mut().zip(self.by_kind) {
            *narrow = u32::try_from(wide).unwrap_or(u32::MAX);
        }
        by_kind
    }

    /// Messages of the full history up to (not including) this index join the context.
    pub(super) fn append_history(&mut self, end: usize) {
        for message in self.context.messages_end..end {
            if self.case.session.messages[message].in_history {
                self.append(message);
            }
        }
        self.context.messages_end = self.context.messages_end.max(end);
    }

    fn append(&mut self, message_idx: usize) {
        let message = &self.case.session.messages[message_idx];
        for part in message.parts.clone() {
            let kind = self.case.index.kinds[part];
            self.by_kind[kind.index()] += u64::from(self.case.ledger.truth.per_part[part]);
            let metered = self.column.per_part[part];
            if kind == Kind::ToolResult {
                self.live.push(LiveResult {
                    part: part as u32,
                    message: message_idx as u32,
                    metered,
                });
                self.live_metered += u64::from(metered);
            } else if let Some(owner) = self.case.index.owner[part]
                && let Some(result) = self.live.iter_mut().rev().find(|r| r.part == owner)
            {
                result.metered += metered;
                self.live_metered += u64::from(metered);
            }
        }
        let tokens = self.case.ledger.truth.per_message[message_idx];
        let metered = self.column.per_message[message_idx];
        self.tokens += u64::from(tokens);
        self.metered += u64::from(metered);
        self.context.entries.push(Entry {
            id: message_idx as u32,
            tokens,
            metered,
            body: EntryBody::Original(message_idx as u32),
        });
    }

    /// Empties so many of the oldest live tool results.
    pub(super) fn clear_oldest(&mut self, oldest: usize, marker: &Arc<str>, event: u32) {
        self.context.markers.push(Marker {
            text: Arc::clone(marker),
            tokens: self.case.ledger.weigh(marker).0 as u32,
            metered: self.meter.weigh_part(self.case, marker),
            event,
            left: Left::Nothing,
            is_predicted: false,
        });
        self.shown.forget_from(0);
        let results: Vec<LiveResult> = self.live.drain(..oldest).collect();
        self.live_metered -= results.iter().map(|r| u64::from(r.metered)).sum::<u64>();
        let mut idx = 0;
        for of_message in results.chunk_by(|a, b| a.message == b.message) {
            if let Some(found) = self.find(of_message[0].message, idx) {
                idx = found;
                self.clear_in(idx, of_message);
            }
        }
    }

    /// The entry of a message, looked for near `from` first: what is cleared together stands together.
    fn find(&self, message: u32, from: usize) -> Option<usize> {
        const NEAR: usize = 8;
        let entries = &self.context.entries;
        let is_it = |entry: &Entry| entry.message() == Some(message);
        let near = &entries[from..(from + NEAR).min(entries.len())];
        if let Some(at) = near.iter().position(is_it) {
            return Some(from + at);
        }
        // Entries stand in the session's order, unless a recorded compaction carried some over.
        let guess = entries.binary_search_by_key(&message, Entry::position).ok();
        guess
            .filter(|idx| is_it(&entries[*idx]))
            .or_else(|| entries.iter().position(is_it))
    }

    /// Puts the newest marker in the place of these results, all of the message that this entry is.
    fn clear_in(&mut self, entry: usize, cleared: &[LiveResult]) {
        let (case, context) = (self.case, &mut self.context);
        let Some(marker) = context.markers.last() else {
            return;
        };
        let event = marker.event;
        let newest = context.markers.len() as u32 - 1;
        let entry = &mut context.entries[entry];
        let Some(message) = entry.message() else {
            return;
        };
        let parts = case.session.messages[message as usize].parts.clone();
        if let EntryBody::Original(_) = entry.body {
            let parts = PartFates::kept(parts.len());
            entry.body = EntryBody::Edited(Edited { message, parts });
        }
        let EntryBody::Edited(edited) = &mut entry.body else {
            return;
        };
        let is_cleared = |part: u32| cleared.iter().any(|r| r.part == part);
        for (part, fate) in parts.zip(edited.parts.as_mut_slice()) {
            if *fate != PartFate::Kept {
                continue;
            }
            if is_cleared(part as u32) {
                *fate = PartFate::Cleared { marker: newest };
            } else if case.index.owner[part].is_some_and(is_cleared) {
                *fate = PartFate::Removed { event };
            } else {
                continue;
            }
            let (truth, metered) = (case.ledger.truth.per_part[part], self.column.per_part[part]);
            let truth_now = fate.tokens(truth, &context.markers);
            let metered_now = fate.metered(metered, &context.markers);
            self.by_kind[case.index.kinds[part].index()] -= u64::from(truth);
            self.by_kind[Kind::Notice.index()] += u64::from(truth_now);
            self.tokens = self.tokens + u64::from(truth_now) - u64::from(truth);
            self.metered = self.metered + u64::from(metered_now) - u64::from(metered);
            entry.tokens = entry.tokens + truth_now - truth;
            entry.metered = entry.metered + metered_now - metered;
        }
        if let Some(units) = self.meter.units_of(case, entry, &context.markers) {
            self.metered = self.metered + u64::from(units) - u64::from(entry.metered);
            entry.metered = units;
        }
    }

    /// The context as a named action sees it.
    pub(super) fn messages(&mut self, shape: Shape) -> Arc<Vec<ChatMessage>> {
        self.shown.messages(self.case, &self.context, shape)
    }

    /// Puts what a named action left of the entries from `first` on (`after`) in their place.
    pub(super) fn rewrite(
        &mut self,
        first: usize,
        messages: (&[ChatMessage], &[ChatMessage]),
        change: New,
    ) -> Absorbed {
        let mut diff = Diff::new(self.case, messages, self.next_id);
        self.shown.forget_from(first);
        let tail = self.context.entries.split_off(first);
        for entry in tail.iter().filter(|entry| diff.touches(entry.id)) {
            self.forget(entry);
        }
        let head = std::mem::replace(&mut self.context.entries, tail);
        let (context, next_id) = (&mut self.context, &mut self.next_id);
        let absorbed = absorb(self.case, &self.meter, context, &mut diff, change, next_id);
        let tail = std::mem::replace(&mut self.context.entries, head);
        for entry in tail {
            if diff.touches(entry.id) {
                self.enter(entry);
            } else {
                self.context.entries.push(entry);
            }
        }
        self.list_live();
        absorbed
    }

    /// Takes an entry whose weights are not known yet into the sums.
    fn enter(&mut self, mut entry: Entry) {
        let (case, markers) = (self.case, &self.context.markers);
        if let EntryBody::Written(written) = &entry.body {
            entry.tokens = case.ledger.weigh(&written.text).0 as u32;
        }
        let by_kind = &mut self.by_kind;
        let mut tokens = 0;
        entry.each_weight(case, markers, |kind, weight| {
            by_kind[kind.index()] += u64::from(weight);
            tokens += weight;
        });
        entry.tokens = tokens;
        entry.metered = self.meter.entry(case, &entry, markers, &self.column);
        self.tokens += u64::from(entry.tokens);
        self.metered += u64::from(entry.metered);
        self.context.entries.push(entry);
    }

    /// Finds the tool results that are not cleared anew.
    fn list_live(&mut self) {
        self.live.clear();
        let mut live: Vec<LiveResult> = std::mem::take(&mut self.live);
        for entry in &self.context.entries {
            self.each_part(entry, |part, fate| {
                if *fate != PartFate::Kept {
                    return;
                }
                let metered = self.column.per_part[part];
                if self.case.index.kinds[part] == Kind::ToolResult {
                    live.push(LiveResult {
                        part: part as u32,
                        message: entry.position(),
                        metered,
                    });
                } else if let Some(owner) = self.case.index.owner[part]
                    && let Some(result) = live.iter_mut().rev().find(|r| r.part == owner)
                {
                    result.metered += metered;
                }
            });
        }
        self.live_metered = live.iter().map(|r| u64::from(r.metered)).sum();
        self.live = live;
    }

    /// Takes entries out; `written`, with its true tokens, stands in the place of the first of them and covers them
    /// all, or nothing does.
    pub(super) fn replace(&mut self, taken: Taken, written: Option<(Written, u32)>, event: u32) {
        let Taken {
            entries: taken,
            covers,
            ..
        } = taken;
        self.live.retain(|r| !holds(&covers, r.message));
        self.live_metered = self.live.iter().map(|r| u64::from(r.metered)).sum();
        self.shown.forget_from(0);
        let mut entries = std::mem::take(&mut self.context.entries);
        for idx in &taken {
            self.forget(&entries[*idx]);
        }
        let mut next = taken.iter().copied().peekable();
        let mut idx = 0..;
        entries.retain(|_| next.next_if_eq(&idx.next().unwrap_or(0)).is_none());
        self.context.entries = entries;
        if let (Some((written, tokens)), Some(place)) = (written, taken.first()) {
            self.write(*place, Written { covers, ..written }, tokens);
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
        self.by_kind[written.kind.kind().index()] += u64::from(tokens);
        self.tokens += u64::from(tokens);
        self.metered += u64::from(metered);
        let entry = Entry {
            id: self.next_id,
            tokens,
            metered,
            body: EntryBody::Written(Box::new(written)),
        };
        self.next_id += 1;
        self.context.entries.insert(place, entry);
    }

    /// Takes an entry out of the sums.
    fn forget(&mut self, entry: &Entry) {
        self.tokens -= u64::from(entry.tokens);
        self.metered -= u64::from(entry.metered);
        entry.each_weight(self.case, &self.context.markers, |kind, tokens| {
            self.by_kind[kind.index()] -= u64::from(tokens);
        });
    }
}

/// Whether sorted ranges hold a message.
fn holds(ranges: &[Range<u32>], message: u32) -> bool {
    let at = ranges.partition_point(|range| range.end <= message);
    ranges.get(at).is_some_and(|range| range.contains(&message))
}
