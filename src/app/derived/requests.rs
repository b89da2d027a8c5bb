//! Requests the results about lanes when one of their inputs changed.

use super::Derived;
use super::keys::{
    CallsKey, CounterKey, DifferencesKey, EvaluationKey, EventsKey, InsightsKey, LossesKey,
    RereadsKey, RowsKey, RunsKey, TriedSettingKey,
};
use crate::analysis::WorkingPreset;
use crate::analysis::facts::Facts;
use crate::app::config::Config;
use crate::app::cost;
use crate::app::cost::compute::Costs;
use crate::app::cost::difference::Differences;
use crate::app::cost::state::CallSort;
use crate::app::evaluate::facts::Evaluation;
use crate::app::evaluate::losses::Losses;
use crate::app::evaluate::session::{SessionIndex, SessionRereads};
use crate::app::evaluate::state::EvaluatePage;
use crate::app::events::list::{EventFilter, EventList};
use crate::app::insights::session::SessionInsights;
use crate::app::lanes::rows::LaneRows;
use crate::app::messages::cumulative::CumulativeTokens;
use crate::app::open::document::Document;
use crate::app::runs::replays::run_all;
use crate::app::selection::Selection;
use crate::app::settings_panel::knobs;
use crate::app::settings_panel::policies::Policies;
use crate::app::tune::sweep::Sweep;
use crate::app::view::{Tab, View};
use crate::engine::simulate;
use crate::tokens::{self, Counter, Progress, TokenLedger};
use std::sync::Arc;

impl Derived {
    /// Replays the setting under the pointer.
    pub fn update_tried_setting(
        &mut self,
        ctx: &egui::Context,
        sweep: Option<&Sweep>,
        point: Option<usize>,
    ) {
        let (Some(sweep), Some(idx)) = (sweep, point) else {
            return;
        };
        let (Some(runs), Some(point)) = (self.runs.get(), sweep.points.get(idx)) else {
            return;
        };
        let key = TriedSettingKey { sweep: sweep.id, point: idx };
        if self.tried_setting.of(&key).is_some() {
            return;
        }
        let (case, knobs) = (runs.case.clone(), point.knobs.clone());
        let policy = sweep.subjects[point.subject].policy.clone();
        self.tried_setting
            .request(ctx, self.mode, &key, move |_| simulate(&case, &policy, &knobs, None).samples);
    }

    /// Returns the ledger of a tokenizer: the one of the document, or one counted in the background; `None` until it is ready.
    pub(super) fn ledger(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        counter: &'static str,
    ) -> Option<Arc<TokenLedger>> {
        let loaded = &document.loaded.case.ledger;
        if loaded.counter.name == counter {
            return Some(Arc::clone(loaded));
        }
        let key = CounterKey { document: document.id, counter };
        let (session, counter) =
            (Arc::clone(&document.loaded.case.session), counter_named(counter));
        let fallback = Arc::clone(loaded);
        self.ledgers.request(ctx, self.mode, &key, move |_| {
            // Cannot be cancelled: this is the only reference to its progress.
            TokenLedger::count(&session, counter, &Progress::default())
                .unwrap_or_else(|_cancelled| fallback.recount(&session))
        });
        self.ledgers.of(&key).map(Arc::clone)
    }

    /// Replays the lanes whose inputs changed.
    pub(super) fn update_runs(
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
            ledgers: self.ledgers.generation(),
        };
        let lane_policies: Vec<_> =
            config.lanes.iter().map(|lane| policies.get(&lane.policy)).collect();
        let (document, config) = (Arc::clone(document), config.clone());
        self.runs.request(ctx, self.mode, &key, move |before| {
            let before = before.filter(|runs| runs.document == document.id);
            run_all(&document, config, ledger, lane_policies, before.as_deref())
        });
    }

    /// Counts how often each message was sent.
    pub(super) fn update_cumulative(&mut self, ctx: &egui::Context, document: &Arc<Document>) {
        let Some(runs) = self.runs.get().filter(|r| r.document == document.id) else {
            return;
        };
        let key = CounterKey { document: document.id, counter: runs.config.counter };
        let (runs, document) = (Arc::clone(runs), Arc::clone(document));
        self.cumulative.request(ctx, self.mode, &key, move |_| {
            CumulativeTokens::new(&runs.case, &runs.recorded.outcome, &document.facts)
        });
    }

    /// Finds a preset that works if no lane does, once the settings stop changing.
    pub(super) fn update_working_preset(&mut self, ctx: &egui::Context, is_stale: bool) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        if is_stale || ctx.input(|i| i.pointer.any_down()) {
            return;
        }
        let key = self.runs.generation();
        self.working_preset.request(ctx, self.mode, &key, move |_| {
            let lanes = runs.lanes.iter().map(|lane| &lane.outcome);
            let settings = &runs.config.knobs;
            WorkingPreset::find(&runs.case, lanes, |policy| knobs::values(policy, settings))
        });
    }

    /// Computes the costs of the lanes.
    pub(super) fn update_costs(&mut self, ctx: &egui::Context) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        let key = self.runs.generation();
        self.costs.request(ctx, self.mode, &key, move |before| {
            Costs::new(&runs, runs.config.billing.clone(), before.as_deref())
        });
    }

    /// Updates the insights once the inputs stop changing, since a drag changes them in every frame.
    pub(super) fn update_insights(&mut self, ctx: &egui::Context, is_stale: bool) {
        let (Some(runs), Some(costs)) = (self.runs.get(), self.costs.get()) else {
            return;
        };
        let is_moving = is_stale
            || self.costs.of(&self.runs.generation()).is_none()
            || ctx.input(|i| i.pointer.any_down());
        if is_moving && self.insights.get().is_some() {
            return;
        }
        let (runs, costs) = (Arc::clone(runs), Arc::clone(costs));
        let key = InsightsKey {
            document: runs.document,
            counter: runs.config.counter,
            window: runs.config.window,
            output_reserve: runs.output_reserve,
            trigger: runs.trigger.clone(),
            billing: costs.billing.clone(),
        };
        self.insights.request(ctx, self.mode, &key, move |_| SessionInsights::new(&runs, &costs));
    }

    /// Sorts the calls of the focused lane.
    pub(super) fn update_calls(
        &mut self,
        ctx: &egui::Context,
        lane: Option<usize>,
        sort: CallSort,
    ) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        let (costs, cumulative) = (self.costs.get(), self.cumulative.get());
        let (costs, cumulative) = (costs.map(Arc::clone), cumulative.map(Arc::clone));
        let key = CallsKey {
            runs: self.runs.generation(),
            costs: self.costs.generation(),
            cumulative: self.cumulative.generation(),
            lane,
            sort,
        };
        self.call_order.request(ctx, self.mode, &key, move |_| {
            let run = lane.and_then(|lane| runs.lanes.get(lane));
            let cost = costs.as_ref().and_then(|costs| costs.of(lane));
            let heat = cumulative.map_or_else(Vec::new, |cumulative| {
                cumulative.heat.iter().map(|heat| heat.tokens).collect()
            });
            cost::state::call_order(run.unwrap_or(&runs.recorded), cost, &heat, sort)
        });
    }

    /// Indexes the session's names and files, prices re-reads, and computes the losses of each lane.
    pub(super) fn update_losses(&mut self, ctx: &egui::Context, document: &Arc<Document>) {
        let Some(runs) = self.runs.get().filter(|r| r.document == document.id) else {
            return;
        };
        let runs = Arc::clone(runs);
        let case = runs.case.clone();
        self.index.request(ctx, self.mode, &document.id, move |_| SessionIndex::new(&case));
        let Some(index) = self.index.of(&document.id).map(Arc::clone) else {
            return;
        };
        let key = RereadsKey {
            counted: CounterKey { document: document.id, counter: runs.config.counter },
            billing: runs.config.billing.clone(),
        };
        let priced = Arc::clone(&runs);
        self.rereads.request(ctx, self.mode, &key, move |_| SessionRereads::new(&priced, index));
        let Some(rereads) = self.rereads.of(&key).map(Arc::clone) else {
            return;
        };
        let key = LossesKey { runs: self.runs.generation(), rereads: self.rereads.generation() };
        self.losses.request(ctx, self.mode, &key, move |before| {
            Losses::new(&runs, &rereads, before.as_deref())
        });
    }

    /// Finds the facts and follows them through the lanes while they are shown.
    pub(super) fn update_evaluation(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        selection: &Selection,
        view: &View,
    ) {
        let is_shown = view.tab == Tab::Evaluate && view.evaluate.page == EvaluatePage::Facts;
        let runs = self.runs.get().filter(|runs| runs.document == document.id);
        let Some(runs) = runs.filter(|_| is_shown).map(Arc::clone) else {
            return;
        };
        let session = Arc::clone(&runs.case.session);
        self.facts.request(ctx, self.mode, &document.id, move |_| Facts::new(&session));
        let Some(facts) = self.facts.of(&document.id).map(Arc::clone) else {
            return;
        };
        let is_call = selection.call < runs.case.session.calls.len();
        let call = (view.evaluate.at_selected_call && is_call).then_some(selection.call);
        let key = EvaluationKey { runs: self.runs.generation(), call };
        self.evaluation.request(ctx, self.mode, &key, move |before| {
            Evaluation::new(&runs, &facts, call, before.as_deref())
        });
    }

    /// Lists the events that the filter accepts.
    pub(super) fn update_events(
        &mut self,
        ctx: &egui::Context,
        selection: &Selection,
        filter: EventFilter,
    ) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        let lane = selection.lane.filter(|_| filter.is_one_lane);
        let calls = selection.calls;
        let key = EventsKey { runs: self.runs.generation(), filter, lane, calls };
        self.events
            .request(ctx, self.mode, &key, move |_| EventList::new(&runs, filter, lane, calls));
    }

    /// Compares the contexts of two calls in each lane.
    pub(super) fn update_difference(&mut self, ctx: &egui::Context, selection: &Selection) {
        let (Some(runs), Some(compared)) = (self.runs.get().map(Arc::clone), selection.compared)
        else {
            return;
        };
        let calls = [compared, selection.call];
        let key = DifferencesKey { runs: self.runs.generation(), calls };
        self.differences.request(ctx, self.mode, &key, move |_| Differences::new(&runs, calls));
    }

    /// Aligns the contexts of the lanes at a call.
    pub(super) fn update_rows(&mut self, ctx: &egui::Context, call: usize) {
        let Some(runs) = self.runs.get().map(Arc::clone) else {
            return;
        };
        let key = RowsKey { runs: self.runs.generation(), call };
        self.rows.request(ctx, self.mode, &key, move |_| LaneRows::at_call(&runs, call));
    }
}

fn counter_named(name: &str) -> &'static Counter {
    tokens::by_name(name).unwrap_or_else(tokens::default_counter)
}
