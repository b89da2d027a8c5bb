//! Requests the results about messages when one of their inputs changed: the order of the table, matches, text and changes.

use super::keys::{HitsKey, OrderKey};
use super::{Derived, SLOW};
use crate::app::changes::compute::Changes;
use crate::app::config::Config;
use crate::app::messages;
use crate::app::messages::order::Filter;
use crate::app::messages::state::MessagesView;
use crate::app::messages::text::MessageText;
use crate::app::open::document::Document;
use crate::app::selection::{CallRange, Selection};
use crate::app::view::View;
use crate::tokens::TokenLedger;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of matches that are counted.
const MAX_HITS: usize = 10_000;

impl Derived {
    /// Sorts and filters the messages of the table.
    pub(super) fn update_order(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        config: &Config,
        calls: Option<CallRange>,
        view: &MessagesView,
    ) {
        let key = OrderKey {
            calls,
            document: document.id,
            ledgers: self.ledgers.generation(),
            cumulative: if view.sort.needs_cumulative() { self.cumulative.generation() } else { 0 },
            filter: view.filter.clone(),
            sort: view.sort,
            manual_edits: view.filter.is_marked.then(|| Arc::clone(&config.manual_edits)),
        };
        let cumulative = self.cumulative.get().map(Arc::clone);
        let (document, ledger) = (Arc::clone(document), self.ledger_in_use(document));
        let (filter, sort) = (view.filter.clone(), view.sort);
        let manual_edits = Arc::clone(&config.manual_edits);
        self.message_order.request(ctx, self.mode, &key, move |_| {
            messages::order::order(
                &document,
                &ledger,
                cumulative.as_deref(),
                messages::order::Listed { filter: &filter, manual_edits: &manual_edits, calls },
                sort,
            )
        });
    }

    /// Returns whether the matches of a filter are those that [`Self::hits`] returns.
    pub(in crate::app) fn knows_hits(&self, filter: &Filter) -> bool {
        let listed = self.message_order.key().is_some_and(|key| key.filter == *filter);
        let key =
            HitsKey { message_order: self.message_order.generation(), query: filter.query.clone() };
        listed && self.hits.of(&key).is_some()
    }

    /// Finds the matches of the query in the listed messages.
    pub(super) fn update_hits(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        filter: &Filter,
    ) {
        let Some(order) = self.message_order.get() else {
            return;
        };
        let key =
            HitsKey { message_order: self.message_order.generation(), query: filter.query.clone() };
        let (document, order) = (Arc::clone(document), Arc::clone(order));
        let query = filter.query.clone();
        self.hits.request(ctx, self.mode, &key, move |_| {
            query.hits(document.session(), &order, MAX_HITS)
        });
    }

    /// Reads the text of the selected message.
    pub(super) fn update_text(
        &mut self,
        ctx: &egui::Context,
        document: &Arc<Document>,
        selection: &Selection,
        view: &View,
    ) {
        let Some(key) = self.text_key(document, selection, view) else {
            return;
        };
        let (message, is_record) = (key.message, key.is_record);
        let (document, ledger) = (Arc::clone(document), self.ledger_in_use(document));
        self.text.request(ctx, self.mode, &key, move |_| {
            if is_record {
                MessageText::records(&document, message)
            } else {
                MessageText::parts(&document, &ledger, message)
            }
        });
    }

    /// Compares the selected item with the focused lane's version.
    pub(super) fn update_changes(
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
        let (lane, target) = (key.lane, key.target);
        let is_slow = Changes::is_slow(document, target);
        self.changes.expect(if is_slow { SLOW } else { Duration::ZERO });
        let (document, runs, rows) = (Arc::clone(document), Arc::clone(runs), Arc::clone(rows));
        self.changes.request(ctx, self.mode, &key, move |_| {
            Changes::new(&document, &runs, &rows, lane, target)
        });
    }

    /// Returns the token counts that the latest runs use.
    fn ledger_in_use(&self, document: &Document) -> Arc<TokenLedger> {
        let runs = self.runs.get();
        Arc::clone(runs.map_or(&document.loaded.case.ledger, |runs| &runs.case.ledger))
    }
}
