//! Token counting by a system's own rule for its triggers, separate from the true count that decides overflows.
//!
//! The generic presets count true tokens. A real system has its own rule (characters / 4, a vocabulary, a constant per
//! message). The difference is the gap between the believed and the actual context.

use crate::chat::{ChatMessage, join_answer};
use crate::engine::agent_messages::{messages, stand_in};
use crate::engine::case::Case;
use crate::engine::case::meter_column::MeterColumn;
use crate::engine::case::originals::split_answers;
use crate::engine::context::{Entry, EntryBody, Marker};
use crate::engine::named::NamedMeter;
use crate::session::{Body, Kind, Part};
use crate::tokens::Counter;
use crate::units::Tokens;
use rayon::prelude::*;
use std::sync::Arc;

/// A system's own counting rule.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Counter for texts.
    pub count: Count,
    /// Added for each message.
    pub per_message: u32,
    /// Weight of an image or document; none: as the provider charges.
    pub per_media: Option<u32>,
    /// Kinds that are not counted.
    pub leaves_out: Vec<Kind>,
}

/// A counter for texts.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// True tokens, from the ledger.
    True,
    /// A counter.
    Counter(&'static Counter),
    /// A real system's own rule, applied to messages in that system's shape.
    Named(&'static NamedMeter),
}

impl Meter {
    /// Counts true tokens.
    pub const TRUE: Self =
        Self { count: Count::True, per_message: 0, per_media: None, leaves_out: Vec::new() };

    /// Returns a key that identifies the meter.
    pub(crate) fn key(&self) -> String {
        let count = match self.count {
            Count::True => "true",
            Count::Counter(counter) => counter.name,
            Count::Named(meter) => meter.name,
        };
        format!("{count} {} {:?} {:?}", self.per_message, self.per_media, self.leaves_out)
    }

    /// Returns the weight of a written message.
    pub(crate) fn weigh(&self, case: &Case, text: &str) -> u32 {
        let truth = match self.count {
            Count::True => case.ledger.weigh(text).0 as u32,
            Count::Counter(_) | Count::Named(_) => 0,
        };
        self.weigh_known(text, truth)
    }

    /// Returns the weight of a written message whose true weight is known.
    pub(crate) fn weigh_known(&self, text: &str, truth: u32) -> u32 {
        match self.count {
            Count::True => truth,
            Count::Counter(counter) => (counter.count)(text).saturating_add(self.per_message),
            Count::Named(meter) => narrow((meter.units)(&ChatMessage::new("user", text))),
        }
    }

    /// Returns the weight of a text in the place of a part's content, whose true weight is known.
    pub(crate) fn weigh_known_part(&self, text: &str, truth: u32) -> u32 {
        match self.count {
            Count::True => truth,
            Count::Counter(counter) => (counter.count)(text),
            // A named meter weighs whole messages only: see `units_of`.
            Count::Named(_) => 0,
        }
    }

    /// Returns whether a message weighs the sum of its parts.
    #[inline]
    pub(crate) fn adds_up(&self) -> bool {
        !matches!(self.count, Count::Named(_))
    }

    /// Returns the units that an entry adds on a real system's own meter; none on other meters, where the weights of
    /// parts add up.
    pub(crate) fn units_of(&self, case: &Case, entry: &Entry, markers: &[Marker]) -> Option<u32> {
        let Count::Named(meter) = self.count else {
            return None;
        };
        let mut units = 0;
        messages::give(case, entry, markers, meter.shape, |message| {
            units += meter.weigh(message);
        });
        Some(narrow(units))
    }

    /// Returns the units that an entry adds: as a whole on a real system's own meter, the sum of its parts on others.
    pub(crate) fn entry(
        &self,
        case: &Case,
        entry: &Entry,
        markers: &[Marker],
        column: &MeterColumn,
    ) -> u32 {
        if let EntryBody::Original(message) = &entry.body {
            return column.per_message[*message as usize];
        }
        if let Some(units) = self.units_of(case, entry, markers) {
            return units;
        }
        match &entry.body {
            EntryBody::Original(_) => 0,
            EntryBody::Written(written) => self.weigh_known(&written.text, entry.tokens),
            EntryBody::Edited(edited) => {
                let parts = case.index.parts(edited.message as usize);
                let statuses = parts.zip(edited.parts.as_slice());
                statuses.fold(self.per_message, |sum, (part, status)| {
                    sum.saturating_add(status.metered(column.per_part[part], markers))
                })
            }
        }
    }

    /// Converts units to tokens; only a real system's own meter has other units.
    pub(crate) fn tokens(&self, units: u64) -> Tokens {
        match self.count {
            Count::Named(meter) => Tokens((meter.tokens)(units)),
            Count::True | Count::Counter(_) => Tokens(units),
        }
    }

    /// Returns the tokens of tool definitions, if the system counts them separately from the messages.
    pub(crate) fn tools(&self, case: &Case) -> Tokens {
        match self.count {
            Count::Named(meter) => Tokens((meter.tools)(case.originals().tools(&case.session))),
            Count::True | Count::Counter(_) => Tokens::ZERO,
        }
    }

    /// Returns the units that the system would count for content that the file does not record. A system that counts
    /// instructions would count its own.
    pub(crate) fn overhead(&self, case: &Case, true_overhead: Tokens) -> u64 {
        match self.count {
            Count::Named(meter) => stand_in::units(case, true_overhead, |m| meter.weigh(m)),
            _ if self.leaves_out.contains(&Kind::System) => 0,
            Count::True | Count::Counter(_) => true_overhead.0,
        }
    }

    /// Returns the weight of a text in the place of a part's content: that of a written message without the constant.
    pub(crate) fn weigh_part(&self, case: &Case, text: &str) -> u32 {
        match self.count {
            Count::True => self.weigh(case, text),
            Count::Counter(_) | Count::Named(_) => self.weigh_known_part(text, 0),
        }
    }

    /// Returns the weights of the session on this meter, computed at the first use.
    pub(crate) fn weights(&self, case: &Case) -> Arc<MeterColumn> {
        let columns = case.meter_columns();
        columns.get_or_make(self.key().as_str(), || Arc::new(self.column(case)))
    }

    fn column(&self, case: &Case) -> MeterColumn {
        let mut column = MeterColumn { per_part: Vec::new(), per_message: Vec::new() };
        self.grow(case, &mut column);
        column
    }

    /// Adds the weights of the messages that a column does not have yet.
    pub(crate) fn grow(&self, case: &Case, column: &mut MeterColumn) {
        let (session, truth) = (&case.session, &case.ledger.truth);
        let (parts, messages) = (column.per_part.len(), column.per_message.len());
        let counter = match self.count {
            Count::Counter(counter) => counter,
            Count::Named(meter) => return grow_named(case, meter, column),
            Count::True => {
                column.per_part.extend(&truth.per_part[parts..]);
                column.per_message.extend(&truth.per_message[messages..]);
                return;
            }
        };
        let new = session.parts[parts..].par_iter().zip(&case.index.kinds[parts..]);
        let weigh = |((part, kind), truth): ((&Part, &Kind), &u32)| {
            if self.leaves_out.contains(kind) { 0 } else { self.part(counter, part, *truth) }
        };
        column.per_part.par_extend(new.zip(&truth.per_part[parts..]).map(weigh));
        let sum = |parts: &[u32]| {
            parts.iter().fold(self.per_message, |sum, part| sum.saturating_add(*part))
        };
        let new = session.messages[messages..].iter();
        column.per_message.extend(new.map(|m| sum(&column.per_part[m.parts.clone()])));
    }

    fn part(&self, counter: &Counter, part: &Part, truth: u32) -> u32 {
        match &part.body {
            Body::Media { .. } => self.per_media.unwrap_or(truth),
            Body::ToolCall { tool, arguments, .. } => {
                (counter.count)(tool).saturating_add((counter.count)(arguments))
            }
            body => (counter.count)(body.text()),
        }
    }
}

/// Weighs messages on a real system's own meter, where only whole messages have a weight.
fn grow_named(case: &Case, meter: &NamedMeter, column: &mut MeterColumn) {
    let units = |message: u32| {
        let messages = case.originals().message(&case.session, meter.shape, message);
        narrow(messages.iter().map(|m| meter.weigh(m)).sum())
    };
    let (known, n_messages) = (column.per_message.len(), case.session.messages.len());
    column.per_message.par_extend((known as u32..n_messages as u32).into_par_iter().map(units));
    column.per_part.resize(case.session.parts.len(), 0);
    // For an answer that the file splits, each piece adds the difference between the whole with and without it.
    for answer in split_answers(&case.session, known) {
        let pieces: Vec<ChatMessage> = answer
            .clone()
            .flat_map(|message| case.originals().message(&case.session, meter.shape, message))
            .cloned()
            .collect();
        let up_to = |n: usize| join_answer(&pieces[..n]).map_or(0, |whole| meter.weigh(&whole));
        if pieces.len() == answer.len() {
            for (nth, message) in answer.enumerate() {
                let weight = up_to(nth + 1).saturating_sub(up_to(nth));
                column.per_message[message as usize] = narrow(weight);
            }
        }
    }
}

fn narrow(units: u64) -> u32 {
    u32::try_from(units).unwrap_or(u32::MAX)
}
