//! What follows from document and config: every lane's outcome, its context at the selected step, the table's order.
//!
//! Worked out again only when something it depends on changed. A lane whose policy, knobs and case stay keeps its outcome.

use crate::analysis::loss::Names;
use crate::app::billing::BillingChoice;
use crate::app::carried::CarriedTable;
use crate::app::changes::{Changes, Target};
use crate::app::cost_view::{self, CallSort};
use crate::app::costs::Costs;
use crate::app::document::Document;
use crate::app::event_table::{EventFilter, EventList};
use crate::app::lane_rows::LaneRows;
use crate::app::latest::{Latest, Where};
use crate::app::loss_view::LossPage;
use crate::app::losses::{Losses, Reach, Survivals};
use crate::app::message_table::{self, Filter, Sort};
use crate::app::message_text::MessageText;
use crate::app::policies::Policies;
use crate::app::runs::{Runs, run_all};
use crate::app::session_insights::SessionInsights;
use crate::app::state::{Aspect, Config, Selection, Tab, View};
use crate::app::tuning::Tuning;
use crate::engine::{ByHand, Sample, simulate};
use crate::tokens::{self, Counter, Progress, TokenLedger};
use crate::units::{Share, Tokens};
use rayon::prelude::*;
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

/// What work is expected to take that is not to be done in a frame.
const SLOW: Duration = Duration::from_secs(1);

/// Results may be this old before they are shown as stale.
const DIM_AFTER: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, PartialEq)]
struct RunsKey {
    document: u64,
    config: Config,
    /// Changes when another counter's weights arrive.
    weights: u64,
}

/// Counts of the results that it is worked out of, the lane, and what is looked at.
type ChangesKey = (u64, u64, usize, Target);

#[derive(Clone, Debug, PartialEq)]
struct InsightsKey {
    document: u64,
    counter: &'static str,
    window: Option<Tokens>,
    yardstick: (Tokens, Share),
    billing: BillingChoice,
}

#[derive(Clone, Debug, PartialEq)]
struct OrderKey {
    document: u64,
    weights: u64,
    /// Changes when what is sorted by arrives.
    carried: u64,
    filter: Filter,
    sort: Sort,
    /// Where the filter asks for marks.
    by_hand: Option<Arc<ByHand>>,
}

impl Derived {
    /// Nothing yet.
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

    /// The latest runs, maybe of a config before.
    pub fn runs(&self) -> Option<&Arc<Runs>> {
        self.runs.get()
    }

    /// The latest aligned rows.
    pub fn rows(&self) -> Option<&Arc<LaneRows>> {
        self.rows.get()
    }

    /// The latest order of the message table.
    pub fn order(&self) -> &[u32] {
        self.order.get().map_or(&[], |order| order)
    }

    /// The latest list of events.
    pub fn events(&self) -> Option<&EventList> {
        self.events.get().map(Arc::as_ref)
    }

    /// How long messages were carried, and when they were last needed.
    pub fn carried(&self) -> Option<&CarriedTable> {
        self.carried.get().map(Arc::as_ref)
    }

    /// What everything costs, maybe by the runs before.
    pub fn costs(&self) -> Option<&Costs> {
        self.costs.get().map(Arc::as_ref)
    }

    /// What there is to know about the session, maybe with the settings before.
    pub fn insights(&self) -> Option<&SessionInsights> {
        self.insights.get().map(Arc::as_ref)
    }

    /// The index of the session's names.
    pub fn names(&self) -> Option<&Arc<Names>> {
        self.names.get()
    }

    /// How far back the agent reached.
    pub fn reach(&self) -> Option<&Arc<Reach>> {
        self.reach.get()
    }

    /// What every lane lacked, maybe by the runs before.
    pub fn losses(&self) -> Option<&Losses> {
        self.losses.get().map(Arc::as_ref)
    }

    /// What recorded compactions left, once somebody wants to see it.
    pub fn survivals(&self) -> Option<&Survivals> {
        self.survivals.get().map(Arc::as_ref)
    }

    /// The focused lane's samples in the order of the list of calls.
    pub fn calls(&self) -> &[u32] {
        self.calls.get().map_or(&[], |order| order)
    }

    /// Counts the results so far.
    pub fn revision(&self) -> u64 {
        self.runs.generation()
    }

    /// The selected message in full, if it is there yet.
    pub fn text(
        &self,
        document: &Document,
        selection: &Selection,
        view: &View,
    ) -> Option<&MessageText> {
        let key = self.text_key(document, selection, view)?;
        self.text
            .get()
            .filter(|_| self.text.is_for(&key))
            .map(Arc::as_ref)
    }

    /// What the focused lane has in the place of what is selected, if that is worked out yet.
    pub fn changes(&self, selection: &Selection, view: &View) -> Option<&Changes> {
        let key = self.changes_key(selection, view)?;
        let changes = self.changes.get().filter(|_| self.changes.is_for(&key));
        changes.map(Arc::as_ref)
    }

    /// What is shown is not what is wanted, and has not been for long enough to say so: lanes that are dimmed for
    /// a frame or two flicker.
    pub fn is_stale(&self) -> bool {
        self.stale_since
            .is_some_and(|since| since.elapsed() > DIM_AFTER)
    }

    /// The curve of the setting under the pointer, once it was played.
    pub fn ghost(&self, tuning: Option<&Tuning>, point: Option<usize>) -> Option<&[Sample]> {
        let key = (tuning?.id, point?);
        let samples = self.ghost.get().filter(|_| self.ghost.is_for(&key));
        samples.map(|samples| samples.as_slice())
    }

    /// Plays the setting under the pointer.
    pub fn update_ghost(
        &mut self,
        ctx: &egui::Context,
        tuning: Option<&Tuning>,
        point: Option<usize>,
    ) {
        let (Some(tuning), Some(idx)) = (tuning, point) else {
            return;
        };
        let (Some(runs), Some(point)) = (self.runs.get(), tuning.points.get(idx)) else {
            return;
        };
        let key = (tuning.id, idx);
        if self.ghost.is_for(&key) {
            return;
        }
        let (case, knobs) = (runs.case.clone(), point.knobs.clone());
        let policy = tuning.subjects[point.subject].policy.clone();
        self.ghost.want(ctx, self.at, &key, move |_| {
            simulate(&case, &policy, &knobs, None).samples
        });
    }

    /// Forgets everything: another document comes.
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
        // Until the first of each is measured: what the document before cost says nothing about this one.
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

    /// Brings everything up to date, or asks for it.
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
        let weights = self.ledgers.generation();
        let key = OrderKey {
            document: document.id,
            weights,
            carried: if view.sort.needs_carried() {
                self.carried.generation()
            } else {
                0
            },
            filter: view.filter.clone(),
            sort: view.sort,
            by_hand: view.filter.is_marked.then(|| Arc::clone(&config.by_hand)),
        };
        let carried = self.carried.get().map(Arc::clone);
        let ledger = self.runs.get().map_or_else(
            || Arc::clone(&document.loaded.case.ledger),
            |runs| Arc::clone(&runs.case.ledger),
        );
        let document = Arc::clone(document);
        {
            let (document, ledger) = (Arc::clone(&document), Arc::clone(&ledger));
            let (filter, sort) = (view.filter.clone(), view.sort);
            let by_hand = Arc::clone(&config.by_hand);
            self.order.want(ctx, self.at, &key, move |_| {
                message_table::order(
                    &document,
                    &ledger,
                    carried.as_deref(),
                    (&filter, &by_hand),
                    sort,
                )
            });
        }
        if let Some(key) = self.text_key(&document, selection, view) {
            let (message, is_record) = (key.2, key.3);
            self.text.want(ctx, self.at, &key, move |_| {
                if is_record {
                    MessageText::records(&document, message)
                } else {
                    MessageText::parts(&document, &ledger, message)
                }
            });
        }
    }

    fn text_key(
        &self,
        document: &Document,
        selection: &Selection,
        view: &View,
    ) -> Option<(u64, u64, usize, bool)> {
        Some((
            document.id,
            self.ledgers.generation(),
            selection.message?,
            view.detail.aspect == Aspect::Record,
        ))
    }

    fn changes_key(&self, selection: &Selection, view: &View) -> Option<ChangesKey> {
        let message = selection
            .message
            .filter(|_| view.detail.aspect == Aspect::Changes);
        let target = match (selection.written, message) {
            (Some(place), _) => Target::Written(place),
            (None, message) => Target::Message(message?),
        };
        let (rows, runs) = (self.rows.generation(), self.runs.generation());
        Some((rows, runs, selection.lane?, target))
    }

    fn update_changes(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        selection: &Selection,
        view: &View,
    ) {
        let key = self.changes_key(selection, view);
        let (Some(key), Some(runs), Some(rows)) = (key, self.runs.get(), self.rows.get()) else {
            return;
        };
        let (_, _, lane, target) = key;
        let is_slow = Changes::is_slow(document, target);
        self.changes
            .expect(if is_slow { SLOW } else { Duration::ZERO });
        let (document, runs, rows) = (Arc::clone(document), Arc::clone(runs), Arc::clone(rows));
        self.changes.want(ctx, self.at, &key, move |_| {
            Changes::new(&document, &runs, &rows, lane, target)
        });
    }

    /// The weights by a counter: those the session was loaded with, or counted anew on a thread.
    fn ledger(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        counter: &'static str,
    ) -> Option<Arc<TokenLedger>> {
        let loaded = &document.loaded.case.ledger;
        if loaded.counter.name == counter {
            return Some(Arc::clone(loaded));
        }
        let key = (document.id, counter);
        let (session, counter) = (
            Arc::clone(&document.loaded.case.session),
            counter_named(counter),
        );
        let fallback = Arc::clone(loaded);
        self.ledgers.want(ctx, self.at, &key, move |_| {
            // Cannot be cancelled: nobody else holds its progress.
            TokenLedger::count(&session, counter, &Progress::default())
                .unwrap_or_else(|_cancelled| fallback.recount(&session))
        });
        self.ledgers
            .is_for(&key)
            .then(|| self.ledgers.get().map(Arc::clone))
            .flatten()
    }

    fn update_runs(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        policies: &Policies,
        config: &Config,
        ledger: Arc<TokenLedger>,
    ) {
        let key = RunsKey {
            document: document.id,
            config: config.clone(),
            weights: self.ledgers.generation(),
        };
        let wanted: Vec<_> = config
            .lanes
            .iter()
            .map(|lane| policies.get(&lane.policy))
            .collect();
        let (document, config) = (Arc::clone(document), config.clone());
        self.runs.want(ctx, self.at, &key, move |before| {
            let before = before.filter(|runs| runs.document == document.id);
            run_all(&document, config, ledger, wanted, before.as_deref())
        });
    }

    fn update_costs(&mut self, ctx: &egui::Context, document: &Arc<Document>) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        let key = (runs.document, runs.config.counter);
        if runs.document == document.id {
            let (runs, document) = (Arc::clone(&runs), Arc::clone(document));
            self.carried.want(ctx, self.at, &key, move |_| {
                CarriedTable::new(&runs.case, &runs.recorded.outcome, &document.facts)
            });
        }
        let key = self.runs.generation();
        self.costs.want(ctx, self.at, &key, move |before| {
            Costs::new(&runs, runs.config.billing.clone(), before.as_deref())
        });
    }

    /// Looks through the session again once nothing moves any more: a drag asks for it in every frame.
    fn update_insights(&mut self, ctx: &egui::Context, is_stale: bool) {
        let (Some(runs), Some(costs)) = (self.runs.get(), self.costs.get()) else {
            return;
        };
        let is_moving = is_stale
            || !self.costs.is_for(&self.runs.generation())
            || ctx.input(|i| i.pointer.any_down());
        if is_moving && self.insights.get().is_some() {
            return;
        }
        let (runs, costs) = (Arc::clone(runs), Arc::clone(costs));
        let key = InsightsKey {
            document: runs.document,
            counter: runs.config.counter,
            window: runs.config.window,
            yardstick: runs.yardstick,
            billing: costs.billing.clone(),
        };
        self.insights.want(ctx, self.at, &key, move |_| {
            SessionInsights::new(&runs, &costs)
        });
    }

    fn update_calls(&mut self, ctx: &egui::Context, lane: Option<usize>, sort: CallSort) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        let (costs, carried) = (self.costs.get(), self.carried.get());
        let (costs, carried) = (costs.map(Arc::clone), carried.map(Arc::clone));
        let results = self.costs.generation() + self.carried.generation();
        let key = (self.runs.generation(), results, lane, sort);
        self.calls.want(ctx, self.at, &key, move |_| {
            let run = lane.and_then(|lane| runs.lanes.get(lane));
            let cost = costs.as_ref().and_then(|costs| costs.of(lane));
            let heat = carried.map_or_else(Vec::new, |carried| {
                carried.heat.iter().map(|heat| heat.retained).collect()
            });
            cost_view::call_order(run.unwrap_or(&runs.recorded), cost, &heat, sort)
        });
    }

    fn update_losses(&mut self, ctx: &egui::Context, document: &Arc<Document>, view: &View) {
        let Some(runs) = self.runs.get().filter(|r| r.document == document.id) else {
            return;
        };
        let runs = Arc::clone(runs);
        let session = Arc::clone(&runs.case.session);
        self.names
            .want(ctx, self.at, &document.id, move |_| Names::new(&session));
        let names = self.names.get().filter(|_| self.names.is_for(&document.id));
        let Some(names) = names.map(Arc::clone) else {
            return;
        };
        let key = (document.id, runs.config.counter);
        let (of_runs, of_names) = (Arc::clone(&runs), Arc::clone(&names));
        self.reach.want(ctx, self.at, &key, move |_| {
            Reach::new(&of_names, &of_runs.case, of_runs.yardstick.0)
        });
        let reach = self.reach.get().filter(|_| self.reach.is_for(&key));
        let Some(reach) = reach.map(Arc::clone) else {
            return;
        };
        let key = (self.runs.generation(), self.reach.generation());
        let (of_runs, of_names) = (Arc::clone(&runs), Arc::clone(&names));
        self.losses.want(ctx, self.at, &key, move |before| {
            let billing = &of_runs.config.billing;
            Losses::new(&of_runs, &of_names, &reach, billing, before.as_deref())
        });
        if view.tab == Tab::Loss && view.loss.page == LossPage::Summaries {
            self.survivals
                .want(ctx, self.at, &key, move |_| Survivals::new(&runs, &names));
        }
    }

    fn update_events(&mut self, ctx: &egui::Context, selection: &Selection, filter: EventFilter) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        let lane = selection.lane.filter(|_| filter.is_one_lane);
        let key = (self.runs.generation(), filter, lane);
        self.events.want(ctx, self.at, &key, move |_| {
            EventList::new(&runs, filter, lane)
        });
    }

    fn update_rows(&mut self, ctx: &egui::Context, step: usize) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        let key = (self.runs.generation(), step);
        self.rows.want(ctx, self.at, &key, move |_| {
            let last = runs.case.session.steps.len().saturating_sub(1);
            let until: Vec<_> = runs
                .lanes
                .par_iter()
                // The last step shows where the session ended, its answer included: the outcome's own context.
                .map(|lane| {
                    (step < last)
                        .then(|| simulate(&runs.case, &lane.policy, &lane.knobs, Some(step)))
                })
                .collect();
            let contexts = runs
                .lanes
                .iter()
                .zip(&until)
                .map(|(lane, until)| &until.as_ref().unwrap_or(&lane.outcome).context);
            let rows = LaneRows::new(&runs.case, step, contexts);
            LaneRows { until, ..rows }
        });
    }
}

fn counter_named(name: &str) -> &'static Counter {
    tokens::by_name(name).unwrap_or_else(tokens::default_counter)
}
