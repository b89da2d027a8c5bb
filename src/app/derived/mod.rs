//! Results derived from document and config: outcomes, contexts at the selected call, the order of the table.
//!
//! Recomputed only if an input changed. A lane keeps its outcome while its policy, settings and case are unchanged.

mod keys;
mod message_requests;
mod requests;
mod results;

use crate::analysis::WorkingPreset;
use crate::analysis::facts::Facts;
use crate::analysis::query::Hits;
use crate::app::background::latest_result::{LatestResult, WorkMode};
use crate::app::changes::compute::Changes;
use crate::app::config::Config;
use crate::app::cost::compute::Costs;
use crate::app::cost::difference::Differences;
use crate::app::evaluate::facts::Evaluation;
use crate::app::evaluate::losses::Losses;
use crate::app::evaluate::session::{SessionIndex, SessionRereads};
use crate::app::events::list::EventList;
use crate::app::insights::session::SessionInsights;
use crate::app::lanes::rows::LaneRows;
use crate::app::messages::cumulative::CumulativeTokens;
use crate::app::messages::text::MessageText;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::settings_panel::policies::Policies;
use crate::app::view::View;
use crate::engine::Sample;
use crate::tokens::TokenLedger;
use keys::{
    CallsKey, ChangesKey, CounterKey, DifferencesKey, EvaluationKey, EventsKey, HitsKey,
    InsightsKey, LossesKey, OrderKey, RereadsKey, RowsKey, RunsKey, TextKey, TriedSettingKey,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Defines [`Derived`] from a table: a field per result, an accessor of the same name, and how all are created and
/// cleared.
///
/// A row has the key that a result depends on, its type, the name of its thread, and the sessions for which it is
/// expected to be slow.
macro_rules! results {
    ($($(#[$doc:meta])* $name:ident: $key:ty => $value:ty, $thread:literal, $slow_for:expr;)*) => {
        /// All derived results.
        #[derive(Debug)]
        pub struct Derived {
            mode: WorkMode,
            stale_since: Option<Instant>,
            $($name: LatestResult<$key, $value>,)*
        }

        impl Derived {
            /// Returns an empty set of results.
            pub fn new(mode: WorkMode) -> Self {
                Self {
                    mode,
                    stale_since: None,
                    $($name: LatestResult::new($thread),)*
                }
            }

            /// Discards everything for a new document.
            pub fn clear(&mut self, document: &Document) {
                $(
                    self.$name.clear();
                    self.$name.expect($slow_for.expected(document));
                )*
            }

            $(
                $(#[$doc])*
                pub fn $name(&self) -> Option<&$value> {
                    self.$name.get().map(Arc::as_ref)
                }
            )*
        }
    };
}

results! {
    /// Returns the token counts of a tokenizer other than the default one.
    ledgers: CounterKey => TokenLedger, "count", SlowFor::All;
    /// Returns the replays of all lanes, possibly of an earlier config.
    runs: RunsKey => Runs, "replay", SlowFor::MessagesAbove(20_000);
    /// Returns the contexts at the selected call, aligned in rows.
    rows: RowsKey => LaneRows, "lanes", SlowFor::MessagesAbove(20_000);
    /// Returns the events of the lanes that the filter lists.
    events: EventsKey => EventList, "events", SlowFor::None;
    /// Returns the change of the selected item in the focused lane, possibly of an earlier item.
    changes: ChangesKey => Changes, "changes", SlowFor::None;
    /// Returns the cumulative tokens and last uses of messages.
    cumulative: CounterKey => CumulativeTokens, "cumulative", SlowFor::BytesAbove(200_000);
    /// Returns the preset to compare if no lane works, possibly for earlier runs.
    working_preset: u64 => Option<WorkingPreset>, "preset that works", SlowFor::All;
    /// Returns the costs of all lanes, possibly of earlier runs.
    costs: u64 => Costs, "costs", SlowFor::MessagesAbove(5_000);
    /// Returns the insights of the session, possibly for earlier settings.
    insights: InsightsKey => SessionInsights, "insights", SlowFor::BytesAbove(200_000);
    /// Returns the focused lane's samples in the order of the call list.
    call_order: CallsKey => Vec<u32>, "calls", SlowFor::None;
    /// Returns the indices of the session's names and files.
    index: u64 => SessionIndex, "index", SlowFor::BytesAbove(100_000);
    /// Returns the measure of expected re-reads, and its curves by kept content.
    rereads: RereadsKey => SessionRereads, "re-reads", SlowFor::BytesAbove(100_000);
    /// Returns the losses of all lanes, possibly of earlier runs.
    losses: LossesKey => Losses, "losses", SlowFor::MessagesAbove(500);
    /// Returns the facts of the session, once requested.
    facts: u64 => Facts, "facts", SlowFor::BytesAbove(100_000);
    /// Returns the facts that each lane kept, once requested, possibly of earlier runs.
    evaluation: EvaluationKey => Evaluation, "evaluation", SlowFor::BytesAbove(100_000);
    /// Returns the messages in the order of the message table.
    message_order: OrderKey => Vec<u32>, "filter", SlowFor::BytesAbove(4_000_000);
    /// Returns the matches of the query in the message table, possibly of an earlier query.
    hits: HitsKey => Hits, "find", SlowFor::BytesAbove(1_000_000);
    /// Returns the difference of the compared calls in every lane, possibly of earlier calls.
    differences: DifferencesKey => Differences, "difference", SlowFor::MessagesAbove(5_000);
    /// Returns the full text of the selected message, possibly of an earlier one.
    text: TextKey => MessageText, "text", SlowFor::BytesAbove(1_000_000);
    /// Returns the samples of the setting under the pointer, possibly of an earlier one.
    tried_setting: TriedSettingKey => Vec<Sample>, "tried setting", SlowFor::None;
}

/// Expected duration of work that does not fit in a frame.
const SLOW: Duration = Duration::from_secs(1);

/// Age after which outdated results are shown as stale.
const DIM_AFTER: Duration = Duration::from_millis(100);

/// The sessions for which a result is expected to be slow until its duration is measured.
#[derive(Clone, Copy)]
enum SlowFor {
    None,
    MessagesAbove(usize),
    BytesAbove(usize),
    All,
}

impl SlowFor {
    /// Returns the expected duration of work for a document.
    fn expected(self, document: &Document) -> Duration {
        let is_slow = match self {
            Self::None => false,
            Self::MessagesAbove(limit) => document.n_messages() > limit,
            Self::BytesAbove(limit) => document.session().source.bytes.len() > limit,
            Self::All => true,
        };
        if is_slow { SLOW } else { Duration::ZERO }
    }
}

impl Derived {
    /// Updates all results or starts the work for them.
    pub fn update(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        policies: &Policies,
        config: &Config,
        selection: &Selection,
        view: &View,
    ) {
        // Notes affect no result.
        let config = &Config { notes: Arc::default(), ..config.clone() };
        if let Some(ledger) = self.ledger(ctx, document, config.counter) {
            self.update_runs(ctx, document, policies, config, ledger);
        }
        let is_stale = self.runs.get().is_some_and(|runs| runs.config != *config);
        self.stale_since = is_stale.then(|| self.stale_since.unwrap_or_else(Instant::now));
        if is_stale {
            ctx.request_repaint_after(DIM_AFTER);
        }
        self.update_rows(ctx, selection.call);
        self.update_events(ctx, selection, view.events);
        self.update_changes(ctx, document, selection, view);
        self.update_cumulative(ctx, document);
        self.update_working_preset(ctx, is_stale);
        self.update_costs(ctx);
        self.update_insights(ctx, is_stale);
        self.update_calls(ctx, selection.lane, view.cost.sort);
        self.update_losses(ctx, document);
        self.update_evaluation(ctx, document, selection, view);
        self.update_order(ctx, document, config, selection.calls, &view.messages);
        self.update_hits(ctx, document, &view.messages.filter);
        self.update_difference(ctx, selection);
        self.update_text(ctx, document, selection, view);
    }
}
