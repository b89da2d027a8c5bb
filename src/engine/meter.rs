//! How a system counts for its own triggers, beside the true count by which the model overflows.
//!
//! The generic presets meter true tokens. A real system counts by a rule of its own (characters / 4, a vocabulary, a
//! constant a message), and the difference is what a policy believes against what the provider sees.

use super::Case;
use crate::session::{Body, Kind, Part};
use crate::tokens::Counter;
use crate::units::Tokens;
use rayon::prelude::*;

/// A system's own way to count.
#[derive(Clone, Debug)]
pub struct Meter {
    /// What counts texts.
    pub count: Count,
    /// Added for each message.
    pub per_message: u32,
    /// What a picture or document weighs; none: as the provider charges.
    pub per_media: Option<u32>,
    /// Kinds that it does not count.
    pub leaves_out: Vec<Kind>,
}

/// What counts texts.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// True tokens, as the ledger has them.
    True,
    /// A counter.
    Counter(&'static Counter),
}

impl Meter {
    /// True tokens.
    pub const TRUE: Self = Self {
        count: Count::True,
        per_message: 0,
        per_media: None,
        leaves_out: Vec::new(),
    };

    /// Tells meters apart.
    pub(super) fn key(&self) -> String {
        let count = match self.count {
            Count::True => "true",
            Count::Counter(counter) => counter.name,
        };
        format!(
            "{count} {} {:?} {:?}",
            self.per_message, self.per_media, self.leaves_out
        )
    }

    /// What a message of ours weighs.
    pub(super) fn weigh(&self, case: &Case, text: &str) -> u32 {
        let truth = match self.count {
            Count::True => case.ledger.weigh(text).0 as u32,
            Count::Counter(_) => 0,
        };
        self.weigh_known(text, truth)
    }

    /// The same for a text whose true weight is known.
    pub(super) fn weigh_known(&self, text: &str, truth: u32) -> u32 {
        match self.count {
            Count::True => truth,
            Count::Counter(counter) => (counter.count)(text).saturating_add(self.per_message),
        }
    }

    /// What the system itself would count of what the file does not hold.
    pub(super) fn overhead(&self, true_overhead: Tokens) -> Tokens {
        if self.leaves_out.contains(&Kind::System) {
            Tokens::ZERO
        } else {
            true_overhead
        }
    }

    /// What a text in the place of a part's content weighs: as a message of ours, but for the constant.
    pub(super) fn weigh_part(&self, case: &Case, text: &str) -> u32 {
        match self.count {
            Count::True => self.weigh(case, text),
            Count::Counter(counter) => (counter.count)(text),
        }
    }

    /// The session on this meter.
    pub(super) fn column(&self, case: &Case) -> MeterColumn {
        let truth = &case.ledger.truth;
        let Count::Counter(counter) = self.count else {
            return MeterColumn {
                per_part: truth.per_part.clone(),
                per_message: truth.per_message.clone(),
            };
        };
        let parts = case
            .session
            .parts
            .par_iter()
            .zip(&case.index.kinds)
            .zip(&truth.per_part);
        let weigh = |((part, kind), truth): ((&Part, &Kind), &u32)| {
            if self.leaves_out.contains(kind) {
                0
            } else {
                self.part(counter, part, *truth)
            }
        };
        let per_part: Vec<u32> = parts.map(weigh).collect();
        let sum = |parts: &[u32]| {
            parts
                .iter()
                .fold(self.per_message, |sum, part| sum.saturating_add(*part))
        };
        let per_message = case
            .session
            .messages
            .iter()
            .map(|m| sum(&per_part[m.parts.clone()]))
            .collect();
        MeterColumn {
            per_part,
            per_message,
        }
    }

    fn part(&self, counter: &Counter, part: &Part, truth: u32) -> u32 {
        match &part.body {
            Body::Media { .. } => self.per_media.unwrap_or(truth),
            Body::ToolCall {
                tool, arguments, ..
            } => (counter.count)(tool).saturating_add((counter.count)(arguments)),
            body => (counter.count)(body.text()),
        }
    }
}

/// A session on a meter.
#[derive(Debug)]
pub struct MeterColumn {
    /// By part index.
    pub(super) per_part: Vec<u32>,
    /// By message index, the constant a message included.
    pub(super) per_message: Vec<u32>,
}
