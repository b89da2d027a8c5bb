//! One conversation with the figures that its rows share.

use crate::analysis::cost::{Audit, Billing, Bills, Cost, audit, price_recorded};
use crate::analysis::usage::{RecordedUsage, recorded_usage};
use crate::engine::{Case, Outcome, recorded};
use crate::exec::load::OpenedConversation;
use crate::exec::tables::column::ContentHash;
use crate::presets::prices::Prices;
use crate::units::{Millis, Tokens};

/// The file of a conversation.
#[derive(Clone, Debug)]
pub(in crate::exec::tables) struct FileOrigin {
    /// SHA-256 of its content.
    pub(in crate::exec::tables) sha256: ContentHash,
    /// Path relative to the given folder, with forward slashes.
    pub(in crate::exec::tables) path: String,
    /// Size in bytes.
    pub(in crate::exec::tables) bytes: u64,
}

/// A conversation, its recorded run, and what its calls used.
pub(in crate::exec::tables) struct Conversation<'a> {
    pub(super) origin: &'a FileOrigin,
    /// Number in the file, from 1.
    pub(super) number: usize,
    pub(super) opened: &'a OpenedConversation,
    pub(super) case: &'a Case,
    /// Tokens of the context window that are kept for the answer.
    pub(super) output_reserve: Tokens,
    pub(super) recorded: Outcome,
    pub(super) bills: Bills<'a>,
    pub(super) cost: Cost,
    pub(super) usage: RecordedUsage,
    pub(super) audit: Option<Audit>,
}

impl<'a> Conversation<'a> {
    /// Computes the figures of a conversation.
    pub(in crate::exec::tables) fn new(
        origin: &'a FileOrigin,
        number: usize,
        opened: &'a OpenedConversation,
        output_reserve: Tokens,
    ) -> Self {
        let case = &opened.case;
        let billing = Billing::at(Prices::in_use());
        let bills = Bills::new(case, billing);
        let recorded = recorded(case, output_reserve, None);
        Self {
            origin,
            number,
            opened,
            case,
            output_reserve,
            cost: price_recorded(&bills, &recorded),
            usage: recorded_usage(case, billing, &recorded),
            audit: audit(case, &bills, &recorded),
            recorded,
            bills,
        }
    }

    /// Returns the key of every row.
    pub(super) fn key(&self) -> (ContentHash, usize) {
        (self.origin.sha256.clone(), self.number)
    }

    /// Returns the time of the first call with a time; `None` if no call has one.
    pub(in crate::exec::tables) fn start_time(&self) -> Option<Millis> {
        self.times().next()
    }

    /// Returns the times of the calls, in order.
    pub(super) fn times(&self) -> impl Iterator<Item = Millis> {
        self.usage.calls.iter().filter_map(|call| call.time)
    }
}
