//! View settings of the tab Messages, and the commands that change them.

use super::order::{Filter, Sort};
use std::collections::BTreeSet;

/// View settings of the tab Messages.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagesView {
    /// Order of the table.
    pub sort: Sort,
    /// Filter of the table.
    pub filter: Filter,
    /// Text of the field that jumps to a message.
    pub jump: String,
    /// Several messages that were selected one by one; empty for one message or a range.
    pub added: BTreeSet<u32>,
    /// State of the detail.
    pub detail: Detail,
}

impl Default for MessagesView {
    fn default() -> Self {
        Self {
            sort: Sort::BY_NUMBER,
            filter: Filter::default(),
            jump: String::new(),
            added: BTreeSet::new(),
            detail: Detail::default(),
        }
    }
}

/// State of the message detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Selected aspect.
    pub aspect: Aspect,
    /// Page of a long text, from 0.
    pub page: usize,
}

/// An aspect of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aspect {
    /// Its parts.
    #[default]
    Parts,
    /// Its file records.
    Record,
    /// Its changes in the focused lane.
    Changes,
}

/// A command of the tab Messages.
#[derive(Clone, Debug, PartialEq)]
pub enum MessagesCommand {
    /// Sort the table.
    Sort(Sort),
    /// Filter the table.
    Filter(Filter),
    /// Focus the filter field.
    FocusFilter,
    /// Change the text of the field that jumps to a message.
    EditJump(String),
    /// Set how the selected message is shown.
    Detail(Detail),
}
