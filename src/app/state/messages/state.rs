//! View settings of the tab Messages, and the commands that change them.

use crate::analysis::query::{Direction, Hit};
use crate::app::state::messages::order::{Filter, Sort};
use crate::app::state::model::view::View;
use std::collections::BTreeSet;

/// View settings of the tab Messages.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagesView {
    /// Order of the table.
    pub sort: Sort,
    /// Filter of the table.
    pub filter: Filter,
    /// The match that was found last, while its message is selected.
    pub found: Option<FoundHit>,
    /// The search that waits for the matches of a new query.
    pub finds: Option<Direction>,
    /// The query before the filter was cleared. The keys that find messages use it again.
    pub last_query: String,
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
            found: None,
            finds: None,
            last_query: String::new(),
            jump: String::new(),
            added: BTreeSet::new(),
            detail: Detail::default(),
        }
    }
}

/// A match of the query, and where its message shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundHit {
    /// The match.
    pub hit: Hit,
    /// Its place; `None` until the text of the message is read.
    pub place: Option<HitPlace>,
}

/// The place of a match in the text of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitPlace {
    /// Index of the section.
    pub section: usize,
    /// Page, from 0.
    pub page: usize,
    /// Number of earlier matches on the page; `None` if the match is not in the text, such as in the name of a tool.
    pub nth: Option<usize>,
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
    /// Show the tab and focus the filter field.
    FocusFilter,
    /// Select the next match of the query, or the previous one.
    Find(Direction),
    /// Select this match of the query.
    Show(Hit),
    /// Show the match that was found last at this place.
    ShowFound(HitPlace),
    /// Change the text of the field that jumps to a message.
    EditJump(String),
    /// Set how the selected message is shown.
    Detail(Detail),
}

impl View {
    /// Returns the view settings of the tab Messages.
    pub fn messages(&self) -> &MessagesView {
        self.get()
    }

    /// Returns the view settings of the tab Messages, to change them.
    pub fn messages_mut(&mut self) -> &mut MessagesView {
        self.get_mut()
    }
}
