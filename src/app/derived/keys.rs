//! The inputs that each result depends on.
//!
//! A `u64` is the id of a document or the generation of another result.

use crate::analysis::Trigger;
use crate::analysis::query::Query;
use crate::app::changes::compute::Target;
use crate::app::config::Config;
use crate::app::cost::billing::BillingChoice;
use crate::app::cost::state::CallSort;
use crate::app::events::list::EventFilter;
use crate::app::messages::order::{Filter, Sort};
use crate::app::selection::CallRange;
use crate::engine::ManualEdits;
use crate::units::Tokens;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CounterKey {
    pub(super) document: u64,
    /// Name of the tokenizer.
    pub(super) counter: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct RereadsKey {
    pub(super) counted: CounterKey,
    pub(super) billing: BillingChoice,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct RunsKey {
    pub(super) document: u64,
    pub(super) config: Config,
    pub(super) ledgers: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowsKey {
    pub(super) runs: u64,
    pub(super) call: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EventsKey {
    pub(super) runs: u64,
    pub(super) filter: EventFilter,
    /// The focused lane, if only its events are listed.
    pub(super) lane: Option<usize>,
    pub(super) calls: Option<CallRange>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChangesKey {
    pub(super) runs: u64,
    pub(super) rows: u64,
    pub(super) lane: usize,
    pub(super) target: Target,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct InsightsKey {
    pub(super) document: u64,
    pub(super) counter: &'static str,
    pub(super) window: Option<Tokens>,
    pub(super) output_reserve: Tokens,
    pub(super) trigger: Trigger,
    pub(super) billing: BillingChoice,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CallsKey {
    pub(super) runs: u64,
    pub(super) costs: u64,
    pub(super) cumulative: u64,
    pub(super) lane: Option<usize>,
    pub(super) sort: CallSort,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LossesKey {
    pub(super) runs: u64,
    pub(super) rereads: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EvaluationKey {
    pub(super) runs: u64,
    pub(super) call: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct OrderKey {
    pub(super) document: u64,
    pub(super) ledgers: u64,
    /// Zero unless the table is sorted by cumulative tokens.
    pub(super) cumulative: u64,
    pub(super) filter: Filter,
    pub(super) calls: Option<CallRange>,
    pub(super) sort: Sort,
    /// The marks, if the filter uses them.
    pub(super) manual_edits: Option<Arc<ManualEdits>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct HitsKey {
    pub(super) message_order: u64,
    pub(super) query: Query,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DifferencesKey {
    pub(super) runs: u64,
    pub(super) calls: [usize; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TextKey {
    pub(super) document: u64,
    pub(super) ledgers: u64,
    pub(super) message: usize,
    /// Whether the source record is shown, not the message.
    pub(super) is_record: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TriedSettingKey {
    pub(super) sweep: u64,
    /// Index of the point.
    pub(super) point: usize,
}
