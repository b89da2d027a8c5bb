//! Results about messages: cumulative tokens, the order of the table, matches, and the text of the selected message.

use crate::analysis::query::{Hits, Query};
use crate::app::state::messages::cumulative::CumulativeTokens;
use crate::app::state::messages::order::{Filter, Listed, Sort, order};
use crate::app::state::messages::state::Aspect;
use crate::app::state::messages::text::MessageText;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::document::Document;
use crate::app::state::model::runs::result::CounterKey;
use crate::app::state::model::selection::{CallRange, Selection};
use crate::app::state::model::view::View;
use crate::engine::ManualEdits;
use crate::tokens::TokenLedger;
use std::sync::Arc;

/// Maximum number of matches that are counted. Nobody steps through more, and counting them all in a file of 100 MB takes
/// longer than typing the next letter.
const MAX_HITS: usize = 10_000;

/// The messages in the order of the message table.
#[derive(Debug)]
pub struct MessageOrder(Vec<u32>);

/// Inputs of the order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    document: u64,
    ledgers: u64,
    /// Zero unless the table is sorted by cumulative tokens.
    cumulative: u64,
    filter: Filter,
    calls: Option<CallRange>,
    sort: Sort,
    /// The marks, if the filter uses them.
    manual_edits: Option<Arc<ManualEdits>>,
}

/// Inputs of the matches.
#[derive(Clone, Debug, PartialEq)]
pub struct HitsKey {
    message_order: u64,
    query: Query,
}

/// Inputs of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextKey {
    document: u64,
    ledgers: u64,
    message: usize,
    /// Whether the source record is shown, not the message.
    is_record: bool,
}

impl DerivedResult for CumulativeTokens {
    type Key = CounterKey;

    const THREAD: &'static str = "cumulative";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(200_000);
    const IS_AWAITED: bool = true;
}

impl DerivedResult for MessageOrder {
    type Key = OrderKey;

    const THREAD: &'static str = "filter";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(4_000_000);
}

impl DerivedResult for Hits {
    type Key = HitsKey;

    const THREAD: &'static str = "find";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(1_000_000);
}

impl DerivedResult for MessageText {
    type Key = TextKey;

    const THREAD: &'static str = "text";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(1_000_000);
}

impl Derived {
    /// Returns the cumulative tokens and last uses of messages.
    pub fn cumulative(&self) -> Option<&CumulativeTokens> {
        self.get()
    }

    /// Returns the messages in the order of the message table; none until it is computed.
    pub fn order(&self) -> &[u32] {
        self.get::<MessageOrder>().map_or(&[], |order| &order.0)
    }

    /// Returns the matches of the query in the message table, possibly of an earlier query.
    pub fn hits(&self) -> Option<&Hits> {
        self.get()
    }

    /// Returns whether the matches of a filter are those that [`Self::hits`] returns.
    pub(crate) fn knows_hits(&self, filter: &Filter) -> bool {
        let listed = self.key::<MessageOrder>().is_some_and(|key| key.filter == *filter);
        listed && self.of::<Hits>(&hits_key(self, filter)).is_some()
    }

    /// Returns the full text of the selected message, if ready.
    pub fn selected_text(
        &self,
        document: &Document,
        selection: &Selection,
        view: &View,
    ) -> Option<&MessageText> {
        self.of(&text_key(self, document, selection, view)?).map(Arc::as_ref)
    }
}

fn hits_key(derived: &Derived, filter: &Filter) -> HitsKey {
    let message_order = derived.generation::<MessageOrder>();
    HitsKey { message_order, query: filter.query.clone() }
}

fn text_key(
    derived: &Derived,
    document: &Document,
    selection: &Selection,
    view: &View,
) -> Option<TextKey> {
    Some(TextKey {
        document: document.id,
        ledgers: derived.generation::<TokenLedger>(),
        message: selection.message?,
        is_record: view.messages().detail.aspect == Aspect::Record,
    })
}

/// Counts how often each message was sent.
pub(crate) fn update_cumulative(update: &mut Update<'_>) {
    let Some(runs) = update.derived.runs_of(update.document) else {
        return;
    };
    let document = Arc::clone(update.document);
    let key = CounterKey { document: document.id, counter: runs.config.counter };
    update.request(&key, move |_| {
        CumulativeTokens::new(&runs.case, &runs.recorded.outcome, &document.facts)
    });
}

/// Sorts and filters the messages of the table.
pub(crate) fn update_order(update: &mut Update<'_>) {
    let (derived, view) = (&*update.derived, update.view.messages());
    let (filter, sort) = (view.filter.clone(), view.sort);
    let calls = update.selection.calls;
    let manual_edits = Arc::clone(&update.config.manual_edits);
    let needs_cumulative = sort.needs_cumulative();
    let key = OrderKey {
        calls,
        document: update.document.id,
        ledgers: derived.generation::<TokenLedger>(),
        cumulative: if needs_cumulative { derived.generation::<CumulativeTokens>() } else { 0 },
        filter: filter.clone(),
        sort,
        manual_edits: filter.is_marked.then(|| Arc::clone(&manual_edits)),
    };
    let cumulative = derived.shared::<CumulativeTokens>().map(Arc::clone);
    let document = Arc::clone(update.document);
    let ledger = derived.ledger_in_use(&document);
    update.request(&key, move |_| {
        let listed = Listed { filter: &filter, manual_edits: &manual_edits, calls };
        MessageOrder(order(&document, &ledger, cumulative.as_deref(), listed, sort))
    });
}

/// Finds the matches of the query in the listed messages.
pub(crate) fn update_hits(update: &mut Update<'_>) {
    let Some(order) = update.derived.shared::<MessageOrder>().map(Arc::clone) else {
        return;
    };
    let key = hits_key(update.derived, &update.view.messages().filter);
    let (document, query) = (Arc::clone(update.document), key.query.clone());
    update.request(&key, move |_| query.hits(document.session(), &order.0, MAX_HITS));
}

/// Reads the text of the selected message.
pub(crate) fn update_text(update: &mut Update<'_>) {
    let key = text_key(update.derived, update.document, update.selection, update.view);
    let Some(key) = key else {
        return;
    };
    let (message, is_record) = (key.message, key.is_record);
    let document = Arc::clone(update.document);
    let ledger = update.derived.ledger_in_use(&document);
    update.request(&key, move |_| {
        if is_record {
            MessageText::records(&document, message)
        } else {
            MessageText::parts(&document, &ledger, message)
        }
    });
}
