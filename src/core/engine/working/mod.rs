//! The context during a run, with running sums, so that the cost of a call depends on the new content only.

mod amend;
mod clear;
mod live;
pub(super) mod prefix;
mod replace;
pub(super) mod sums;

pub(crate) use clear::Which;
pub(crate) use live::{Live, LiveResult};

use crate::chat::{Messages, Shape};
use crate::engine::agent_messages::messages::{Shown, Spans};
use crate::engine::agent_messages::pieces::WRITTEN;
use crate::engine::case::Case;
use crate::engine::case::meter_column::MeterColumn;
use crate::engine::context::{Context, Dropped, Entry, EntryBody, Marker, Written};
use crate::engine::meter::Meter;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use std::sync::Arc;
use sums::{Sums, Weights, each_part};

/// The id of the first written entry of a run. Ids below it are indices of messages, whose number may grow. Both kinds are
/// below [`WRITTEN`], which is added to them.
const FIRST_WRITTEN_ID: u32 = WRITTEN / 2;

/// A context with its sums.
#[derive(Clone, Debug)]
pub(crate) struct Working<'a> {
    pub(crate) case: &'a Case,
    pub(crate) meter: Meter,
    pub(crate) column: Arc<MeterColumn>,
    pub(crate) context: Context,
    pub(crate) sums: Sums,
    /// Units of the overhead on the policy's own meter.
    metered_overhead: u64,
    /// Tool results that are not cleared, in context order.
    pub(crate) live: Live,
    /// Next id of a written entry.
    pub(crate) next_id: u32,
    /// The context in the format of named actions, cached.
    pub(crate) shown: Shown,
    /// The first entry that differs from the context of the last call; `usize::MAX` if none. Appended entries are not
    /// differences.
    pub(crate) first_changed: usize,
}

impl<'a> Working<'a> {
    /// Creates an empty context: only the overhead that every call sends and the file does not record.
    pub(crate) fn new(case: &'a Case, meter: &Meter) -> Self {
        let mut working = Self {
            case,
            meter: meter.clone(),
            column: meter.weights(case),
            context: Context::default(),
            sums: Sums::new(case),
            metered_overhead: 0,
            live: Live::default(),
            next_id: FIRST_WRITTEN_ID,
            shown: Shown::default(),
            first_changed: usize::MAX,
        };
        working.context.entries.reserve(case.session.messages.len());
        working.set_overhead(case.ledger.overhead);
        working
    }

    /// Continues the context with another case, whose session begins with the messages of this one.
    pub(crate) fn moved_to(self, case: &Case) -> Working<'_> {
        let column = self.meter.weights(case);
        let Self { meter, context, mut sums, metered_overhead, live, next_id, .. } = self;
        let Self { shown, first_changed, .. } = self;
        sums.grow(case);
        Working {
            case,
            meter,
            column,
            context,
            sums,
            metered_overhead,
            live,
            next_id,
            shown,
            first_changed,
        }
    }

    /// Copies the context for a view, without the cached messages: a list with a copy is copied before it grows.
    pub(crate) fn view(&self) -> Self {
        Self { shown: Shown::default(), ..self.clone() }
    }

    /// Continues from a recorded context of untouched messages.
    pub(crate) fn resume(
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
    pub(crate) fn set_overhead(&mut self, overhead: Tokens) {
        let before = self.context.overhead;
        self.sums.tokens = self.sums.tokens - before.0 + overhead.0;
        self.metered_overhead = self.meter.overhead(self.case, overhead);
        let system = &mut self.sums.by_kind[Kind::System.index()];
        *system = *system - before.0 + overhead.0;
        self.context.overhead = overhead;
    }

    /// Returns whether the policy's own meter counts content that is not recorded.
    pub(crate) fn counts_overhead(&self) -> bool {
        self.metered_overhead > 0
    }

    /// Returns the true tokens, overhead included.
    pub(crate) fn tokens(&self) -> Tokens {
        Tokens(self.sums.tokens)
    }

    /// Returns the tokens on the policy's own meter, overhead included.
    pub(crate) fn metered(&self) -> Tokens {
        self.meter.tokens(self.sums.metered + self.metered_overhead)
    }

    /// Records that entries from this one on differ from the context of the last call and from the messages in the
    /// cache.
    pub(crate) fn mark_changed(&mut self, entry: usize) {
        self.first_changed = self.first_changed.min(entry);
        self.shown.mark_changed(entry);
    }

    /// Returns the leading entries that the last call received unchanged.
    pub(crate) fn unchanged(&self) -> &[Entry] {
        let entries = &self.context.entries;
        &entries[..self.first_changed.min(entries.len())]
    }

    /// Returns the true tokens before an entry.
    pub(crate) fn tokens_before(&self, entry: usize) -> Tokens {
        let (before, behind) = self.context.entries.split_at(entry.min(self.context.entries.len()));
        let sum =
            |entries: &[Entry]| entries.iter().map(|e| Tokens::from(e.tokens)).sum::<Tokens>();
        if before.len() < behind.len() {
            self.context.overhead + sum(before)
        } else {
            self.tokens() - sum(behind)
        }
    }

    /// Returns the number of messages in the context, without instructions.
    pub(crate) fn n_messages(&self) -> usize {
        let end = self.case.index.preamble_end;
        let is_instruction = |entry: &&Entry| entry.message().is_some_and(|m| m < end);
        let entries = self.context.entries.iter();
        self.context.entries.len() - entries.take_while(is_instruction).count()
    }

    /// Returns the written summaries, with the ids of their entries.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = (u32, &Written)> {
        self.context.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::Written(written) if written.kind == WrittenKind::Summary => {
                Some((entry.id, &**written))
            }
            _ => None,
        })
    }

    /// Returns the number of calls without a result and results without a call.
    pub(crate) fn orphans(&self) -> usize {
        self.sums.orphans()
    }

    /// Returns the turn of a call, 0 if none.
    pub(crate) fn turn(&self, call: usize) -> u32 {
        self.case.session.calls.get(call).map_or(0, |s| s.turn)
    }

    /// Returns the true tokens by kind, in the order of [`Kind::ALL`].
    pub(crate) fn by_kind(&self) -> [u32; Kind::ALL.len()] {
        let mut by_kind = [0; Kind::ALL.len()];
        for (kind, wide) in self.sums.by_kind.iter().enumerate() {
            by_kind[kind] = u32::try_from(*wide).unwrap_or(u32::MAX);
        }
        by_kind
    }

    /// Appends messages of the full history up to (not including) this index.
    pub(crate) fn append_history(&mut self, end: usize) {
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
        let weights = Weights { tokens, metered };
        self.sums.add_message(self.case, message_idx, weights);
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
    pub(crate) fn messages(&mut self, first: usize, shape: Shape) -> (Messages, Arc<Spans>) {
        if first > 0 {
            let shown = Shown::from(self.case, &self.context, first, shape);
            return (shown.messages().clone(), shown.spans());
        }
        let shown = self.shown.all(self.case, &self.context, shape);
        (shown.messages().clone(), shown.spans())
    }

    /// Computes the weight of an entry.
    pub(crate) fn weigh(&self, entry: &mut Entry) {
        let markers = &self.context.markers;
        weigh(self.case, &self.meter, &self.column, markers, entry);
    }

    /// Rebuilds the list of tool results that are not cleared.
    pub(crate) fn list_live(&mut self) {
        let mut live = Live::default();
        for entry in &self.context.entries {
            self.live_in(entry, &mut live);
        }
        self.live = live;
    }

    /// Adds the tool results of an entry that are not cleared.
    pub(crate) fn live_in(&self, entry: &Entry, live: &mut Live) {
        let markers = &self.context.markers;
        each_part(self.case, entry, |part, status| {
            if !status.has_content(markers) {
                return;
            }
            let metered = status.metered(self.column.per_part[part], markers);
            if self.case.index.kinds[part] == Kind::ToolResult {
                live.push(LiveResult { part: part as u32, message: entry.position(), metered });
            } else if let Some(owner) = self.case.index.owner[part] {
                live.add_to(owner, metered);
            }
        });
    }
}

/// Computes the weight of an entry.
pub(crate) fn weigh(
    case: &Case,
    meter: &Meter,
    column: &MeterColumn,
    markers: &[Marker],
    entry: &mut Entry,
) {
    if let EntryBody::Written(written) = &entry.body {
        entry.tokens = written.weight(case).0 as u32;
    }
    let mut tokens = 0;
    entry.each_weight(case, markers, |_, weight| tokens += weight);
    entry.tokens = tokens;
    entry.metered = meter.entry(case, entry, markers, column);
}
