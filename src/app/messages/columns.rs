//! Columns of the message table: their titles, widths and visibility.

use super::order::{Column as Key, Sort};
use crate::app::widgets::table::{Column, SortOrder, number_width};
use egui_extras::Column as Width;

/// A column of the message table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Col {
    Number,
    Mark,
    Call,
    Role,
    Kind,
    Tool,
    Content,
    Tokens,
    Share,
    Sent,
    Cumulative,
    Bar,
    LastUsed,
    NeededBy,
    Total,
}

/// All columns from left to right.
const ALL: [Col; 15] = [
    Col::Number,
    Col::Mark,
    Col::Call,
    Col::Role,
    Col::Kind,
    Col::Tool,
    Col::Content,
    Col::Tokens,
    Col::Share,
    Col::Sent,
    Col::Cumulative,
    Col::Bar,
    Col::LastUsed,
    Col::NeededBy,
    Col::Total,
];

/// Columns that are always shown, then columns that are added while the content column keeps its minimum width.
const NEEDED: [Col; 5] = [Col::Content, Col::Number, Col::Mark, Col::Kind, Col::Tokens];
const OPTIONAL: [Col; 10] = [
    Col::Cumulative,
    Col::Call,
    Col::Tool,
    Col::LastUsed,
    Col::Sent,
    Col::Bar,
    Col::NeededBy,
    Col::Share,
    Col::Role,
    Col::Total,
];

/// Minimum share of the table's width for the content column.
const CONTENT: f32 = 0.32;
/// Space between two columns, in points.
pub(super) const GAP: f32 = 6.0;

/// Returns the columns that fit into `width` points. The content column takes the remaining width.
pub(super) fn fitting(width: f32, n_messages: usize, sort: Sort) -> Vec<Column<'static, Col>> {
    let taken = |column: &Col| column.points(n_messages) + GAP;
    let mut room = width * (1.0 - CONTENT) - NEEDED.iter().map(taken).sum::<f32>();
    let mut chosen = NEEDED.to_vec();
    for column in OPTIONAL {
        room -= taken(&column);
        if room < 0.0 {
            break;
        }
        chosen.push(column);
    }
    let is_chosen = |column: &Col| chosen.contains(column);
    let shown = ALL.into_iter().filter(is_chosen);
    shown
        .map(|column| column.layout(n_messages, sort))
        .collect()
}

impl Col {
    /// Returns the initial width in points for a session of `n_messages`. The content column takes the remaining width.
    fn points(self, n_messages: usize) -> f32 {
        match self {
            Self::Number | Self::Call => number_width(n_messages),
            Self::Mark => 16.0,
            Self::Role | Self::Cumulative => 72.0,
            Self::Kind | Self::Tool => 84.0,
            Self::Content => 0.0,
            Self::Bar => 64.0,
            Self::Share | Self::Sent => 52.0,
            Self::Tokens => 60.0,
            Self::LastUsed | Self::Total => 68.0,
            Self::NeededBy => 112.0,
        }
    }

    fn width(self, n_messages: usize) -> Width {
        let points = self.points(n_messages);
        match self {
            Self::Content => Width::remainder().clip(true),
            Self::Role | Self::Kind | Self::Tool | Self::NeededBy => {
                Width::initial(points).at_least(40.0).clip(true)
            }
            _ => Width::exact(points),
        }
    }

    /// Returns the column with its layout in the table.
    fn layout(self, n_messages: usize, sort: Sort) -> Column<'static, Self> {
        let (title, key, help) = self.head();
        let column = Column::new(self, title, self.width(n_messages)).help(help);
        let column = match key {
            Some(key) => column.sortable(sorted(sort, key)),
            None => column,
        };
        match self {
            Self::Number
            | Self::Call
            | Self::Tokens
            | Self::Share
            | Self::Sent
            | Self::Cumulative
            | Self::Total => column.right(),
            Self::Role | Self::Kind | Self::Bar | Self::LastUsed | Self::Mark => column,
            Self::Tool | Self::Content | Self::NeededBy => column.flush(),
        }
    }

    /// Returns the sort key, if the table can be sorted by this column.
    pub(super) fn sort_key(self) -> Option<Key> {
        self.head().1
    }

    /// Returns the title, the sort key if any, and the hover text (may be empty).
    fn head(self) -> (&'static str, Option<Key>, &'static str) {
        match self {
            Self::Number => ("#", Some(Key::Number), ""),
            Self::Call => ("call", Some(Key::Call), ""),
            Self::Role => ("role", Some(Key::Role), ""),
            Self::Kind => ("kind", Some(Key::Kind), ""),
            Self::Tool => ("tool", Some(Key::Tool), ""),
            Self::Content => (
                "content",
                None,
                "Command, path or query of a tool call; otherwise the beginning of the message",
            ),
            Self::Tokens => ("tokens", Some(Key::Tokens), ""),
            Self::Sent => (
                "sent",
                Some(Key::Sent),
                "Number of recorded calls that sent this message",
            ),
            Self::Cumulative => (
                "cumulative",
                Some(Key::Cumulative),
                "Its tokens times the number of recorded calls that sent it",
            ),
            Self::Bar | Self::Mark => ("", None, ""),
            Self::LastUsed => (
                "last used",
                Some(Key::LastUsed),
                "Last call that mentions a name from this message",
            ),
            Self::NeededBy => (
                "needed by",
                None,
                "Last message that mentions a name from this one",
            ),
            Self::Share => (
                "share",
                None,
                "Share of the full history, each message counted once",
            ),
            Self::Total => (
                "total",
                None,
                "Tokens of the history up to and including this message",
            ),
        }
    }
}

/// Returns the order if the table is sorted by this column; `None` for the session's own order.
fn sorted(sort: Sort, key: Key) -> Option<SortOrder> {
    let is_shown = key != Key::Number || sort.is_descending;
    (sort.column == key && is_shown).then_some(SortOrder::new(sort.is_descending))
}
