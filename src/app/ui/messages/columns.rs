//! Columns of the message table: their titles, widths and visibility.

use crate::app::state::messages::order::{Sort, SortKey};
use crate::app::ui::widgets::table::{Column, SortOrder, number_width};
use egui_extras::Column as Width;

/// A column of the message table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Col {
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

/// Columns that are always shown.
const REQUIRED: [Col; 5] = [Col::Content, Col::Number, Col::Mark, Col::Kind, Col::Tokens];
/// Columns that are added in this order while the content column keeps its minimum width.
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
pub(crate) const GAP: f32 = 6.0;

/// Returns the columns that fit into `width` points. The content column takes the remaining width.
pub(crate) fn fitting(width: f32, n_messages: usize, sort: Sort) -> Vec<Column<'static, Col>> {
    let taken = |column: &Col| column.points(n_messages) + GAP;
    let mut remaining = width * (1.0 - CONTENT) - REQUIRED.iter().map(taken).sum::<f32>();
    let mut chosen = REQUIRED.to_vec();
    for column in OPTIONAL {
        remaining -= taken(&column);
        if remaining < 0.0 {
            break;
        }
        chosen.push(column);
    }
    let is_chosen = |column: &Col| chosen.contains(column);
    let shown = ALL.into_iter().filter(is_chosen);
    shown.map(|column| column.layout(n_messages, sort)).collect()
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
        let head = self.head();
        let column = Column::new(self, head.title, self.width(n_messages)).help(head.help);
        let column = match head.sort_key {
            Some(key) => column.sortable(sort_order(sort, key)),
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
    pub(crate) fn sort_key(self) -> Option<SortKey> {
        self.head().sort_key
    }

    fn head(self) -> Head {
        let sortable = |title, key, help| Head { title, sort_key: Some(key), help };
        let unsortable = |title, help| Head { title, sort_key: None, help };
        match self {
            Self::Number => sortable("#", SortKey::Number, ""),
            Self::Call => sortable("call", SortKey::Call, ""),
            Self::Role => sortable("role", SortKey::Role, ""),
            Self::Kind => sortable("kind", SortKey::Kind, ""),
            Self::Tool => sortable("tool", SortKey::Tool, ""),
            Self::Content => unsortable(
                "content",
                "Command, path or query of a tool call; otherwise the beginning of the message",
            ),
            Self::Tokens => sortable("tokens", SortKey::Tokens, ""),
            Self::Sent => {
                sortable("sent", SortKey::Sent, "Number of recorded calls that sent this message")
            }
            Self::Cumulative => sortable(
                "cumulative",
                SortKey::Cumulative,
                "Its tokens times the number of recorded calls that sent it",
            ),
            Self::Bar | Self::Mark => unsortable("", ""),
            Self::LastUsed => sortable(
                "last used",
                SortKey::LastUsed,
                "Last call that mentions a name from this message",
            ),
            Self::NeededBy => {
                unsortable("needed by", "Last message that mentions a name from this one")
            }
            Self::Share => {
                unsortable("share", "Share of the full history, each message counted once")
            }
            Self::Total => {
                unsortable("total", "Tokens of the history up to and including this message")
            }
        }
    }
}

/// The head of a column.
struct Head {
    title: &'static str,
    /// The sort key, if the table can be sorted by the column.
    sort_key: Option<SortKey>,
    /// Hover text; may be empty.
    help: &'static str,
}

/// Returns the order if the table is sorted by this key; `None` if it is not, or if it has the order of the session.
fn sort_order(sort: Sort, key: SortKey) -> Option<SortOrder> {
    let is_session_order = key == SortKey::Number && !sort.is_descending;
    (sort.key == key && !is_session_order).then_some(SortOrder::new(sort.is_descending))
}
