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

/// The columns that fit: the less telling ones are left out first.
pub(super) fn fitting(width: f32) -> Vec<Col> {
    let all: [(Col, f32); 15] = [
        (Col::Number, 0.0),
        (Col::Mark, 0.0),
        (Col::Call, 560.0),
        (Col::Role, 1240.0),
        (Col::Kind, 0.0),
        (Col::Tool, 640.0),
        (Col::Content, 0.0),
        (Col::Tokens, 0.0),
        (Col::Share, 1180.0),
        (Col::Carried, 760.0),
        (Col::Retained, 480.0),
        (Col::Bar, 800.0),
        (Col::LastUsed, 700.0),
        (Col::NeededBy, 960.0),
        (Col::Cumulative, 1320.0),
    ];
    let fits = all.into_iter().filter(|(_, from)| width >= *from);
    fits.map(|(column, _)| column).collect()
}

impl Col {
    /// Its width in a session of so many messages.
    pub(super) fn width(self, n_messages: usize) -> Column {
        match self {
            Self::Number | Self::Call => table::number_column(n_messages),
            Self::Mark => Column::exact(20.0),
            Self::Role => Column::initial(80.0).at_least(40.0).clip(true),
            Self::Kind => Column::initial(92.0).at_least(40.0).clip(true),
            Self::Tool => Column::initial(96.0).at_least(40.0).clip(true),
            Self::Content => Column::remainder().clip(true),
            Self::Bar => Column::exact(88.0),
            Self::Share | Self::Carried => Column::exact(56.0),
            Self::Tokens | Self::Retained => Column::exact(64.0),
            Self::LastUsed => Column::exact(76.0),
            Self::NeededBy => Column::initial(128.0).at_least(40.0).clip(true),
            Self::Cumulative => Column::exact(84.0),
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
