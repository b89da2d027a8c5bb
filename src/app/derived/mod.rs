//! Results derived from document and config: outcomes, contexts at the selected call, the order of the table.
//!
//! Recomputed only if an input changed. A lane keeps its outcome while its policy, settings and case are unchanged.

mod message_requests;
mod requests;
mod results;

use crate::analysis::Trigger;
use crate::analysis::facts::Facts;
use crate::analysis::loss::Names;
use crate::analysis::query::{Hits, Query};
use crate::app::background::latest_result::{LatestResult, WorkMode};
use crate::app::changes::compute::{Changes, Target};
use crate::app::config::Config;
use crate::app::cost::billing::BillingChoice;
use crate::app::cost::compute::Costs;
use crate::app::cost::difference::Differences;
use crate::app::cost::state::CallSort;
use crate::app::evaluate::facts::Evaluation;
use crate::app::evaluate::losses::{Losses, ReuseDistances};
use crate::app::events::list::{EventFilter, EventList};
use crate::app::insights::session::SessionInsights;
use crate::app::lanes::rows::LaneRows;
use crate::app::messages::cumulative::CumulativeTokens;
use crate::app::messages::order::{Filter, Sort};
use crate::app::messages::text::MessageText;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::{CallRange, Selection};
use crate::app::settings_panel::policies::Policies;
use crate::app::view::View;
use crate::engine::{ManualEdits, Sample};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// All derived results.
#[derive(Debug)]
pub struct Derived {
    at: WorkMode,
    runs: LatestResult<RunsKey, Runs>,
    rows: LatestResult<(u64, usize), LaneRows>,
    order: LatestResult<OrderKey, Vec<u32>>,
    hits: LatestResult<(u64, Query), Hits>,
    events: LatestResult<(u64, EventFilter, Option<usize>, Option<CallRange>), EventList>,
    ledgers: LatestResult<(u64, &'static str), TokenLedger>,
    cumulative: LatestResult<(u64, &'static str), CumulativeTokens>,
    costs: LatestResult<u64, Costs>,
    insights: LatestResult<InsightsKey, SessionInsights>,
    names: LatestResult<u64, Names>,
    reuse: LatestResult<(u64, &'static str), ReuseDistances>,
    losses: LatestResult<(u64, u64), Losses>,
    facts: LatestResult<u64, Facts>,
    evaluation: LatestResult<(u64, Option<usize>), Evaluation>,
    tried_setting: LatestResult<(u64, usize), Vec<Sample>>,
    calls: LatestResult<(u64, u64, Option<usize>, CallSort), Vec<u32>>,
    difference: LatestResult<(u64, [usize; 2]), Differences>,
    text: LatestResult<(u64, u64, usize, bool), MessageText>,
    changes: LatestResult<ChangesKey, Changes>,
    stale_since: Option<Instant>,
}

/// Expected duration of work that does not fit in a frame.
const SLOW: Duration = Duration::from_secs(1);

/// Age after which outdated results are shown as stale.
const DIM_AFTER: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, PartialEq)]
struct RunsKey {
    document: u64,
    config: Config,
    /// Changes when the weights of another tokenizer arrive.
    weights: u64,
}

/// Revisions of the inputs, the lane, and the selected item.
type ChangesKey = (u64, u64, usize, Target);

#[derive(Clone, Debug, PartialEq)]
struct InsightsKey {
    document: u64,
    counter: &'static str,
    window: Option<Tokens>,
    verdict_inputs: (Tokens, Trigger),
    billing: BillingChoice,
}

#[derive(Clone, Debug, PartialEq)]
struct OrderKey {
    document: u64,
    weights: u64,
    /// Changes when the sort keys arrive.
    cumulative: u64,
    filter: Filter,
    calls: Option<CallRange>,
    sort: Sort,
    /// The marks, if the filter uses them.
    manual_edits: Option<Arc<ManualEdits>>,
}

impl Derived {
    /// Returns an empty set of results.
    pub fn new(at: WorkMode) -> Self {
        let (runs, rows) = (LatestResult::new("replay"), LatestResult::new("lanes"));
        Self {
            at,
            runs,
            rows,
            order: LatestResult::new("filter"),
            hits: LatestResult::new("find"),
            events: LatestResult::new("events"),
            ledgers: LatestResult::new("count"),
            cumulative: LatestResult::new("cumulative"),
            costs: LatestResult::new("costs"),
            insights: LatestResult::new("insights"),
            names: LatestResult::new("names"),
            reuse: LatestResult::new("reuse distances"),
            losses: LatestResult::new("losses"),
            facts: LatestResult::new("facts"),
            evaluation: LatestResult::new("evaluation"),
            tried_setting: LatestResult::new("tried_setting"),
            calls: LatestResult::new("calls"),
            difference: LatestResult::new("difference"),
            text: LatestResult::new("text"),
            changes: LatestResult::new("changes"),
            stale_since: None,
        }
    }

    /// Discards everything for a new document.
    pub fn clear(&mut self, document: &Document) {
        self.runs.clear();
        self.rows.clear();
        self.order.clear();
        self.hits.clear();
        self.events.clear();
        self.ledgers.clear();
        self.cumulative.clear();
        self.costs.clear();
        self.insights.clear();
        self.names.clear();
        self.reuse.clear();
        self.losses.clear();
        self.facts.clear();
        self.evaluation.clear();
        self.tried_setting.clear();
        self.calls.clear();
        self.difference.clear();
        self.text.clear();
        self.changes.clear();
        // Used until each is measured: costs of the previous document do not apply to this one.
        let slow_if = |is_large: bool| {
            if is_large {
                Duration::from_millis(50)
            } else {
                Duration::ZERO
            }
        };
        let n_messages = document.n_messages();
        let bytes = document.session().source.bytes.len();
        self.runs.expect(slow_if(n_messages > 20_000));
        self.rows.expect(slow_if(n_messages > 20_000));
        self.difference.expect(slow_if(n_messages > 5_000));
        self.order.expect(slow_if(bytes > 4_000_000));
        self.hits.expect(slow_if(bytes > 1_000_000));
        self.cumulative.expect(slow_if(bytes > 200_000));
        self.insights.expect(slow_if(bytes > 200_000));
        self.costs.expect(slow_if(n_messages > 5_000));
        self.names.expect(slow_if(bytes > 100_000));
        self.reuse.expect(slow_if(bytes > 100_000));
        self.losses.expect(slow_if(n_messages > 500));
        self.facts.expect(slow_if(bytes > 100_000));
        self.evaluation.expect(slow_if(bytes > 100_000));
        self.text.expect(slow_if(bytes > 1_000_000));
        self.ledgers.expect(Duration::from_secs(1));
    }

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
        let config = &Config {
            notes: Arc::default(),
            ..config.clone()
        };
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
        self.update_costs(ctx, document);
        self.update_insights(ctx, is_stale);
        self.update_calls(ctx, selection.lane, view.cost.sort);
        self.update_losses(ctx, document);
        self.update_evaluation(ctx, document, selection, view);
        self.update_order(ctx, document, config, (selection, view));
        self.update_hits(ctx, document, &view.messages.filter);
        self.update_difference(ctx, selection);
        self.update_text(ctx, document, selection, view);
    }
}
