//! Content and order of the message table. Independent of the UI.

use crate::analysis::query::{Query, QueryError};
use crate::app::state::messages::cumulative::CumulativeTokens;
use crate::app::state::model::document::Document;
use crate::app::state::model::marks::Mark;
use crate::app::state::model::selection::{CallRange, Selection};
use crate::engine::ManualEdits;
use crate::session::Kind;
use crate::tokens::TokenLedger;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The sort key of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// Number of the message.
    Number,
    /// The call that wrote it or included it first.
    Call,
    /// Role of the author.
    Role,
    /// Kind with the most tokens.
    Kind,
    /// Its tool.
    Tool,
    /// True tokens.
    Tokens,
    /// Number of calls that resent it.
    Sent,
    /// Cumulative tokens (tokens × calls).
    Cumulative,
    /// The last call that used it.
    LastUsed,
}

/// An order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// Sort key.
    pub key: SortKey,
    /// Largest first.
    pub is_descending: bool,
}

/// Filter of the table.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Filter {
    /// The query as typed.
    pub text: String,
    /// The query of the text; the last valid one if the text has an error.
    pub query: Query,
    /// The error in the text.
    pub error: Option<QueryError>,
    /// Hidden kinds, in the order of [`Kind::ALL`].
    pub hidden: [bool; Kind::ALL.len()],
    /// Show only marked messages.
    pub is_marked: bool,
}

impl Sort {
    /// Conversation order.
    pub const BY_NUMBER: Self = Self { key: SortKey::Number, is_descending: false };

    /// Descending by cumulative tokens.
    pub const BY_CUMULATIVE: Self = Self { key: SortKey::Cumulative, is_descending: true };

    /// Returns whether the sort key depends on resent counts.
    pub fn needs_cumulative(self) -> bool {
        matches!(self.key, SortKey::Sent | SortKey::Cumulative | SortKey::LastUsed)
    }

    /// Returns the order after a click on a column header: reversed, or the default direction of a new column.
    #[must_use]
    pub fn clicked(self, key: SortKey) -> Self {
        let is_descending = if self.key == key {
            !self.is_descending
        } else {
            matches!(key, SortKey::Tokens | SortKey::Sent | SortKey::Cumulative)
        };
        Self { key, is_descending }
    }
}

impl Filter {
    /// Returns whether the filter accepts everything.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && !self.hidden.contains(&true) && !self.is_marked
    }

    /// Sets the query. A query with an error matches nothing.
    pub fn set_text(&mut self, text: String) {
        (self.query, self.error) = match Query::parse(&text) {
            Ok(query) => (query, None),
            Err(error) => (Query::default(), Some(error)),
        };
        self.text = text;
    }
}

/// The messages to list.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// The filter.
    pub filter: &'a Filter,
    /// The marks, for a filter that shows only marked messages.
    pub manual_edits: &'a ManualEdits,
    /// The calls whose new messages are listed; `None` for all.
    pub calls: Option<CallRange>,
}

/// Returns the indices of the listed messages, in order. Without `cumulative`, columns that depend on it keep the
/// conversation order.
pub fn order(
    document: &Document,
    ledger: &TokenLedger,
    cumulative: Option<&CumulativeTokens>,
    listed: Listed<'_>,
    sort: Sort,
) -> Vec<u32> {
    let Listed { filter, manual_edits, calls } = listed;
    let session = document.session();
    let n = document.n_messages() as u32;
    let mut shown: Vec<u32> = (0..n)
        .into_par_iter()
        .filter(|m| calls.is_none_or(|calls| document.is_new_at(*m as usize, calls)))
        .filter(|m| !filter.is_marked || Mark::of(manual_edits, *m as usize).is_some())
        .filter(|m| !filter.hidden[document.facts[*m as usize].kind.index()])
        .filter(|m| filter.error.is_none() && filter.query.matches(session, ledger, *m as usize))
        .collect();
    let by = |a: u32, b: u32| -> Ordering {
        let (a, b) = (a as usize, b as usize);
        let (fa, fb) = (&document.facts[a], &document.facts[b]);
        match sort.key {
            SortKey::Number => a.cmp(&b),
            SortKey::Call => fa.call.cmp(&fb.call),
            SortKey::Role => session.messages[a].role.cmp(&session.messages[b].role),
            SortKey::Kind => fa.kind.cmp(&fb.kind),
            SortKey::Tool => fa.tool.cmp(&fb.tool),
            SortKey::Tokens => ledger.message(a).cmp(&ledger.message(b)),
            SortKey::Sent => {
                let calls = |m: usize| Some(cumulative?.of(m)?.calls);
                calls(a).cmp(&calls(b))
            }
            SortKey::Cumulative => {
                let tokens = |m: usize| Some(cumulative?.tokens(m));
                tokens(a).cmp(&tokens(b))
            }
            SortKey::LastUsed => {
                let last_use = |m: usize| cumulative?.last_use(&document.loaded.case, m);
                last_use(a).cmp(&last_use(b))
            }
        }
    };
    // The sort is stable: equal entries keep the conversation order in both directions.
    shown.sort_by(|a, b| if sort.is_descending { by(*b, *a) } else { by(*a, *b) });
    shown
}

/// Returns the selected messages: those that were selected one by one (`added`), else the table rows from the anchor to
/// the selected message, else only that message.
pub fn selected_messages(
    selection: &Selection,
    added: &BTreeSet<u32>,
    order: &[u32],
) -> Vec<usize> {
    if !added.is_empty() {
        return added.iter().map(|m| *m as usize).collect();
    }
    match selected_rows(selection, order) {
        Some(rows) => order[rows].iter().map(|m| *m as usize).collect(),
        None => selection.message.into_iter().collect(),
    }
}

/// Returns the selected rows; `None` if one message is selected or an end is not in the table.
pub fn selected_rows(selection: &Selection, order: &[u32]) -> Option<RangeInclusive<usize>> {
    let row = |message: usize| order.iter().position(|m| *m as usize == message);
    let (anchor, message) = (row(selection.anchor?)?, row(selection.message?)?);
    Some(anchor.min(message)..=anchor.max(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_replaces_the_last_valid_query() {
        let mut filter = Filter::default();
        filter.set_text("role:user".to_owned());
        assert!(!filter.query.is_empty() && filter.error.is_none());
        filter.set_text("role:use".to_owned());
        assert!(filter.query.is_empty() && filter.error.is_some());
        assert_eq!(filter.text, "role:use");
    }

    #[test]
    fn a_range_covers_table_rows_in_both_directions() {
        let order = [4, 2, 7, 1];
        let selected = |anchor, message| Selection { message, anchor, ..Selection::default() };
        let none = BTreeSet::new();
        let chosen = |selection: &Selection| selected_messages(selection, &none, &order);
        assert_eq!(chosen(&selected(None, Some(2))), [2]);
        assert_eq!(chosen(&selected(Some(1), Some(2))), [2, 7, 1]);
        assert_eq!(chosen(&selected(Some(4), Some(7))), [4, 2, 7]);
        // One end is hidden by the filter.
        assert_eq!(chosen(&selected(Some(9), Some(7))), [7]);
        assert!(chosen(&selected(None, None)).is_empty());
        let added = BTreeSet::from([1, 4]);
        let chosen = selected_messages(&selected(None, Some(1)), &added, &order);
        assert_eq!(chosen, [1, 4]);
    }

    #[test]
    fn a_second_click_on_a_header_reverses_the_order() {
        let by_tokens = Sort::BY_NUMBER.clicked(SortKey::Tokens);
        assert_eq!(by_tokens, Sort { key: SortKey::Tokens, is_descending: true });
        assert_eq!(
            by_tokens.clicked(SortKey::Tokens),
            Sort { key: SortKey::Tokens, is_descending: false }
        );
        assert_eq!(by_tokens.clicked(SortKey::Number), Sort::BY_NUMBER);
    }
}
