//! The columns of the table of messages: which fit, how wide they are, what they are called.

use crate::app::message_table::Column as Key;
use crate::app::panels::table;
use crate::app::theme::space;
use egui::{Align, Layout, Ui};
use egui_extras::Column;

/// A column of the table.
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
    Carried,
    Retained,
    Bar,
    LastUsed,
    NeededBy,
    Cumulative,
}

/// The columns from left to right.
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

/// The columns that are always there, then those that are added while the content keeps its width.
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

/// Least part of the table's width that optional columns leave to the content.
const CONTENT: f32 = 0.32;
/// Space between two columns.
pub(super) const GAP: f32 = 6.0;

/// The columns that fit into `width`: the content takes what the others leave, and at least its share.
pub(super) fn fitting(width: f32, n_messages: usize) -> Vec<Col> {
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
    /// Its width in a session of so many messages, until it is dragged; the content takes what the others leave.
    fn points(self, n_messages: usize) -> f32 {
        match self {
            Self::Number | Self::Call => table::number_width(n_messages),
            Self::Mark => 16.0,
            Self::Role => 72.0,
            Self::Kind | Self::Tool => 84.0,
            Self::Content => 0.0,
            Self::Bar => 64.0,
            Self::Share | Self::Carried => 52.0,
            Self::Tokens | Self::Retained => 60.0,
            Self::LastUsed => 68.0,
            Self::NeededBy => 112.0,
            Self::Cumulative => 76.0,
        }
    }

    /// Its column of the table.
    pub(super) fn width(self, n_messages: usize) -> Column {
        let points = self.points(n_messages);
        match self {
            Self::Content => Column::remainder().clip(true),
            Self::Role | Self::Kind | Self::Tool | Self::NeededBy => {
                Column::initial(points).at_least(40.0).clip(true)
            }
            _ => Column::exact(points),
        }
    }

    /// Its title, what it sorts by if anything, and what it means where that needs saying.
    pub(super) fn head(self) -> (&'static str, Option<Key>, &'static str) {
        match self {
            Self::Number => ("#", Some(Key::Number), ""),
            Self::Call => ("call", Some(Key::Call), ""),
            Self::Role => ("role", Some(Key::Role), ""),
            Self::Kind => ("kind", Some(Key::Kind), ""),
            Self::Tool => ("tool", Some(Key::Tool), ""),
            Self::Content => (
                "content",
                None,
                "What a call is about, or how the message begins",
            ),
            Self::Tokens => ("tokens", Some(Key::Tokens), ""),
            Self::Carried => (
                "carried",
                Some(Key::Carried),
                "Calls that carried it, in what was recorded",
            ),
            Self::Retained => (
                "retained",
                Some(Key::Retained),
                "What it cost by staying: its tokens times the calls that carried it",
            ),
            Self::Bar | Self::Mark => ("", None, ""),
            Self::LastUsed => (
                "last used",
                Some(Key::LastUsed),
                "The last call that named something it holds, as far as names tell",
            ),
            Self::NeededBy => (
                "needed by",
                None,
                "The message that named something in it last",
            ),
            Self::Share => ("share", None, "Of the full history, each message once"),
            Self::Cumulative => (
                "cumulative",
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

    pub(super) fn layout(self) -> Layout {
        if self.is_right() {
            Layout::right_to_left(Align::Center)
        } else {
            Layout::left_to_right(Align::Center)
        }
    }
}

/// Sets what begins at the left apart from figures that end there.
pub(super) fn indent(ui: &mut Ui, column: Col) {
    if matches!(
        column,
        Col::Role | Col::Kind | Col::Bar | Col::LastUsed | Col::Mark
    ) {
        ui.add_space(space::S);
    }
}
