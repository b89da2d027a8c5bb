//! What the message table shows and in what order, without a window.

use crate::app::by_hand::Mark;
use crate::app::carried::CarriedTable;
use crate::app::document::Document;
use crate::app::state::Selection;
use crate::engine::ByHand;
use crate::session::Kind;
use crate::tokens::TokenLedger;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

/// A column that can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Number of the message.
    Number,
    /// The call that wrote it or saw it first.
    Call,
    /// Who speaks.
    Role,
    /// What most of it is.
    Kind,
    /// Its tool.
    Tool,
    /// True tokens.
    Tokens,
    /// Calls that carried it.
    Carried,
    /// Tokens times calls.
    Retained,
    /// The call that needed it last.
    LastUsed,
}

/// An order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub column: Column,
    /// Largest first.
    pub is_descending: bool,
}

/// What the table leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Filter {
    /// Text that a message must hold, in any case; in its content or its tool's name.
    pub text: String,
    /// Kinds that are hidden, in the order of [`Kind::ALL`].
    pub hidden: [bool; Kind::ALL.len()],
    /// Only messages that are marked by hand are shown.
    pub is_marked: bool,
}

impl Sort {
    /// In the order of the conversation.
    pub const BY_NUMBER: Self = Self {
        column: Column::Number,
        is_descending: false,
    };

    /// What cost most by staying first.
    pub const BY_RETAINED: Self = Self {
        column: Column::Retained,
        is_descending: true,
    };

    /// Whether it goes by how long messages were carried.
    pub fn needs_carried(self) -> bool {
        matches!(
            self.column,
            Column::Carried | Column::Retained | Column::LastUsed
        )
    }

    /// What a click on a column's header makes of this order: the other way round, or that column with its most
    /// telling end first.
    #[must_use]
    pub fn clicked(self, column: Column) -> Self {
        let is_descending = if self.column == column {
            !self.is_descending
        } else {
            matches!(column, Column::Tokens | Column::Carried | Column::Retained)
        };
        Self {
            column,
            is_descending,
        }
    }
}

impl Filter {
    /// Leaves nothing out.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && !self.hidden.contains(&true) && !self.is_marked
    }
}

/// Indices of the messages to show, in order; the marks matter only where the filter asks for them. Without `carried`
/// what is ordered by it stays in the conversation's order.
pub fn order(
    document: &Document,
    ledger: &TokenLedger,
    carried: Option<&CarriedTable>,
    (filter, by_hand): (&Filter, &ByHand),
    sort: Sort,
) -> Vec<u32> {
    let needle = filter.text.trim().to_lowercase();
    let n = document.facts.len() as u32;
    let mut shown: Vec<u32> = (0..n)
        .filter(|m| !filter.is_marked || Mark::of(by_hand, *m as usize).is_some())
        .filter(|m| is_shown(document, *m as usize, filter, &needle))
        .collect();
    let session = document.session();
    let by = |a: u32, b: u32| -> Ordering {
        let (a, b) = (a as usize, b as usize);
        let (fa, fb) = (&document.facts[a], &document.facts[b]);
        match sort.column {
            Column::Number => a.cmp(&b),
            Column::Call => fa.step.cmp(&fb.step),
            Column::Role => session.messages[a].role.cmp(&session.messages[b].role),
            Column::Kind => fa.kind.cmp(&fb.kind),
            Column::Tool => fa.tool.cmp(&fb.tool),
            Column::Tokens => ledger.message(a).cmp(&ledger.message(b)),
            Column::Carried => {
                let calls = |m: usize| Some(carried?.of(m)?.calls);
                calls(a).cmp(&calls(b))
            }
            Column::Retained => {
                let retained = |m: usize| Some(carried?.retained(m));
                retained(a).cmp(&retained(b))
            }
            Column::LastUsed => {
                let need = |m: usize| carried?.last_need(&document.loaded.case, m);
                need(a).cmp(&need(b))
            }
        }
    };
    // Stable: equals stay in the order of the conversation, whichever way round.
    shown.sort_by(|a, b| {
        if sort.is_descending {
            by(*b, *a)
        } else {
            by(*a, *b)
        }
    });
    shown
}

/// The messages that are selected: one, or those of the table between it and the anchor, both included.
pub fn chosen(selection: &Selection, order: &[u32]) -> Vec<usize> {
    match chosen_rows(selection, order) {
        Some(rows) => order[rows].iter().map(|m| *m as usize).collect(),
        None => selection.message.into_iter().collect(),
    }
}

/// The rows of the selected stretch; none where one message is selected, or an end of it is not in the table.
pub fn chosen_rows(selection: &Selection, order: &[u32]) -> Option<RangeInclusive<usize>> {
    let row = |message: usize| order.iter().position(|m| *m as usize == message);
    let (anchor, message) = (row(selection.anchor?)?, row(selection.message?)?);
    Some(anchor.min(message)..=anchor.max(message))
}

fn is_shown(document: &Document, message: usize, filter: &Filter, needle: &str) -> bool {
    let facts = &document.facts[message];
    if filter.hidden[facts.kind.index()] {
        return false;
    }
    if needle.is_empty()
        || facts
            .tool
            .as_deref()
            .is_some_and(|t| t.to_lowercase().contains(needle))
    {
        return true;
    }
    let session = document.session();
    session
        .parts_of(&session.messages[message])
        .iter()
        .any(|p| holds(p.body.text(), needle))
}

/// Whether `text` holds the lower-case `needle` in any case.
fn holds(text: &str, needle: &str) -> bool {
    if needle.is_ascii() {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        return text
            .windows(needle.len())
            .any(|w| w.eq_ignore_ascii_case(needle));
    }
    text.to_lowercase().contains(needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_found_in_any_case_and_script() {
        assert!(holds("Cargo TEST failed", "test"));
        assert!(holds("Größe ÄNDERN", "ändern"));
        assert!(!holds("abc", "abcd"));
    }

    #[test]
    fn a_stretch_goes_from_row_to_row_of_the_table_whichever_way_round() {
        let order = [4, 2, 7, 1];
        let selected = |anchor, message| Selection {
            message,
            anchor,
            ..Selection::default()
        };
        assert_eq!(chosen(&selected(None, Some(2)), &order), [2]);
        assert_eq!(chosen(&selected(Some(1), Some(2)), &order), [2, 7, 1]);
        assert_eq!(chosen(&selected(Some(4), Some(7)), &order), [4, 2, 7]);
        // An end of it that the filter hides.
        assert_eq!(chosen(&selected(Some(9), Some(7)), &order), [7]);
        assert!(chosen(&selected(None, None), &order).is_empty());
    }

    #[test]
    fn a_second_click_on_a_header_turns_the_order_round() {
        let by_tokens = Sort::BY_NUMBER.clicked(Column::Tokens);
        assert_eq!(
            by_tokens,
            Sort {
                column: Column::Tokens,
                is_descending: true
            }
        );
        assert_eq!(
            by_tokens.clicked(Column::Tokens),
            Sort {
                column: Column::Tokens,
                is_descending: false
            }
        );
        assert_eq!(by_tokens.clicked(Column::Number), Sort::BY_NUMBER);
    }
}
