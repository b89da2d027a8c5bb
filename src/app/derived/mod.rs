//! Results derived from document and config: outcomes, contexts at the selected call, the order of the table.
//!
//! Recomputed only if an input changed. A lane keeps its outcome while its policy, settings and case are unchanged.

mod requests;
mod results;

use crate::analysis::Trigger;
use crate::analysis::loss::Names;
use crate::app::background::latest_result::{Latest, Where};
use crate::app::changes::compute::{Changes, Target};
use crate::app::cost::billing::BillingChoice;
use crate::app::cost::compute::Costs;
use crate::app::cost::state::CallSort;
use crate::app::events::list::{EventFilter, EventList};
use crate::app::insights::session::SessionInsights;
use crate::app::lanes::rows::LaneRows;
use crate::app::loss::compute::{Losses, Reach, Survivals};
use crate::app::messages::cumulative::CarriedTable;
use crate::app::messages::order::{Filter, Sort};
use crate::app::messages::text::MessageText;
use crate::app::open::document::Document;
use crate::app::policy_panel::policies::Policies;
use crate::app::runs::replays::Runs;
use crate::app::state::{Config, Selection, View};
use crate::engine::{ManualEdits, Sample};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// All derived results.
#[derive(Debug)]
pub struct Derived {
    at: Where,
    runs: Latest<RunsKey, Runs>,
    rows: Latest<(u64, usize), LaneRows>,
    order: Latest<OrderKey, Vec<u32>>,
    events: Latest<(u64, EventFilter, Option<usize>), EventList>,
    ledgers: Latest<(u64, &'static str), TokenLedger>,
    carried: Latest<(u64, &'static str), CarriedTable>,
    costs: Latest<u64, Costs>,
    insights: Latest<InsightsKey, SessionInsights>,
    names: Latest<u64, Names>,
    reach: Latest<(u64, &'static str), Reach>,
    losses: Latest<(u64, u64), Losses>,
    survivals: Latest<(u64, u64), Survivals>,
    ghost: Latest<(u64, usize), Vec<Sample>>,
    calls: Latest<(u64, u64, Option<usize>, CallSort), Vec<u32>>,
    text: Latest<(u64, u64, usize, bool), MessageText>,
    changes: Latest<ChangesKey, Changes>,
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
    yardstick: (Tokens, Trigger),
    billing: BillingChoice,
}

#[derive(Clone, Debug, PartialEq)]
struct OrderKey {
    document: u64,
    weights: u64,
    /// Changes when the sort keys arrive.
    carried: u64,
    filter: Filter,
    sort: Sort,
    /// The marks, if the filter uses them.
    by_hand: Option<Arc<ManualEdits>>,
}

impl Derived {
    /// Returns an empty set of results.
    pub fn new(at: Where) -> Self {
        let (runs, rows) = (Latest::new("replay"), Latest::new("lanes"));
        Self {
            at,
            runs,
            rows,
            order: Latest::new("filter"),
            events: Latest::new("events"),
            ledgers: Latest::new("count"),
            carried: Latest::new("carried"),
            costs: Latest::new("costs"),
            insights: Latest::new("insights"),
            names: Latest::new("names"),
            reach: Latest::new("reach"),
            losses: Latest::new("losses"),
            survivals: Latest::new("survivals"),
            ghost: Latest::new("ghost"),
            calls: Latest::new("calls"),
            text: Latest::new("text"),
            changes: Latest::new("changes"),
            stale_since: None,
        }
    }

    /// Discards everything for a new document.
    pub fn clear(&mut self, document: &Document) {
        self.runs.clear();
        self.rows.clear();
        self.order.clear();
        self.events.clear();
        self.ledgers.clear();
        self.carried.clear();
        self.costs.clear();
        self.insights.clear();
        self.names.clear();
        self.reach.clear();
        self.losses.clear();
        self.survivals.clear();
        self.ghost.clear();
        self.calls.clear();
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
        let n_messages = document.facts.len();
        let bytes = document.session().source.bytes.len();
        self.runs.expect(slow_if(n_messages > 20_000));
        self.rows.expect(slow_if(n_messages > 20_000));
        self.order.expect(slow_if(bytes > 4_000_000));
        self.carried.expect(slow_if(bytes > 200_000));
        self.insights.expect(slow_if(bytes > 200_000));
        self.costs.expect(slow_if(n_messages > 5_000));
        self.names.expect(slow_if(bytes > 100_000));
        self.reach.expect(slow_if(bytes > 100_000));
        self.losses.expect(slow_if(n_messages > 500));
        self.survivals.expect(slow_if(bytes > 100_000));
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
        if let Some(ledger) = self.ledger(ctx, document, config.counter) {
            self.update_runs(ctx, document, policies, config, ledger);
        }
        let is_stale = self.runs.get().is_some_and(|runs| runs.config != *config);
        self.stale_since = is_stale.then(|| self.stale_since.unwrap_or_else(Instant::now));
        if is_stale {
            ctx.request_repaint_after(DIM_AFTER);
        }
        self.update_rows(ctx, selection.step);
        self.update_events(ctx, selection, view.events);
        self.update_changes(ctx, document, selection, view);
        self.update_costs(ctx, document);
        self.update_insights(ctx, is_stale);
        self.update_calls(ctx, selection.lane, view.cost.sort);
        self.update_losses(ctx, document, view);
        self.update_order(ctx, document, config, view);
        self.update_text(ctx, document, selection, view);
    }
}
