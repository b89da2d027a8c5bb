//! Columns of the message table: their titles, widths and visibility.

use super::order::Column as Key;
use crate::app::theme::space;
use crate::app::widgets::table;
use egui::{Align, Layout, Ui};
use egui_extras::Column;

/// A column of the message table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Col {
    Number,
    Mark,
    Call,
    Role,
    Kind,
    Tool,
    Content,
    Tokens,
    Share,
    Carried,
    Retained,
    Bar,
    LastUsed,
    NeededBy,
    Cumulative,
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
    Col::Carried,
    Col::Retained,
    Col::Bar,
    Col::LastUsed,
    Col::NeededBy,
    Col::Cumulative,
];

/// Columns that are always shown, then columns that are added while the content column keeps its minimum width.
const NEEDED: [Col; 5] = [Col::Content, Col::Number, Col::Mark, Col::Kind, Col::Tokens];
const OPTIONAL: [Col; 10] = [
    Col::Retained,
    Col::Call,
    Col::Tool,
    Col::LastUsed,
    Col::Carried,
    Col::Bar,
    Col::NeededBy,
    Col::Share,
    Col::Role,
    Col::Cumulative,
];

/// Minimum share of the table's width for the content column.
const CONTENT: f32 = 0.32;
/// Space between two columns, in points.
pub(in crate::app) const GAP: f32 = 6.0;

/// Returns the columns that fit into `width` points. The content column takes the remaining width.
pub(in crate::app) fn fitting(width: f32, n_messages: usize) -> Vec<Col> {
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
    ALL.into_iter().filter(is_chosen).collect()
}

impl Col {
    /// Returns the initial width in points for a session of `n_messages`. The content column takes the remaining width.
    fn points(self, n_messages: usize) -> f32 {
        match self {
            Self::Number | Self::Call => table::number_width(n_messages),
            Self::Mark => 16.0,
            Self::Role | Self::Retained => 72.0,
            Self::Kind | Self::Tool => 84.0,
            Self::Content => 0.0,
            Self::Bar => 64.0,
            Self::Share | Self::Carried => 52.0,
            Self::Tokens => 60.0,
            Self::LastUsed | Self::Cumulative => 68.0,
            Self::NeededBy => 112.0,
        }
    }

    /// Returns the column's layout in the table.
    pub(in crate::app) fn width(self, n_messages: usize) -> Column {
        let points = self.points(n_messages);
        match self {
            Self::Content => Column::remainder().clip(true),
            Self::Role | Self::Kind | Self::Tool | Self::NeededBy => {
                Column::initial(points).at_least(40.0).clip(true)
            }
            _ => Column::exact(points),
        }
    }

    /// Returns the title, the sort key if any, and the hover text (may be empty).
    pub(in crate::app) fn head(self) -> (&'static str, Option<Key>, &'static str) {
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
            Self::Carried => (
                "sent",
                Some(Key::Carried),
                "Number of recorded calls that sent this message",
            ),
            Self::Retained => (
                "cumulative",
                Some(Key::Retained),
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
            Self::Cumulative => (
                "total",
                None,
                "Tokens of the history up to and including this message",
            ),
        }
    }

    pub(super) fn is_right(self) -> bool {
        matches!(
            self,
            Self::Number
                | Self::Call
                | Self::Tokens
                | Self::Share
                | Self::Carried
                | Self::Retained
                | Self::Cumulative
        )
    }

    pub(in crate::app) fn layout(self) -> Layout {
        if self.is_right() {
            Layout::right_to_left(Align::Center)
        } else {
            Layout::left_to_right(Align::Center)
        }
    }
}

/// Adds space before left-aligned content, to separate it from right-aligned numbers.
pub(in crate::app) fn indent(ui: &mut Ui, column: Col) {
    if matches!(
        column,
        Col::Role | Col::Kind | Col::Bar | Col::LastUsed | Col::Mark
    ) {
        ui.add_space(space::S);
    }
}
