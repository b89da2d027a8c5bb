//! View settings of the comparison.

use crate::app::state::model::view::View;

/// A compared session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The open session.
    A,
    /// The second session.
    B,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::A, Self::B];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// Returns its position in pairs of A and B.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// View settings of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompareView {
    /// Selected page.
    pub page: ComparePage,
    /// The only listed messages; `None` for all.
    pub listed: Option<Listed>,
    /// The curve of B has the length of A. Otherwise equal calls are at the same position.
    pub is_by_share: bool,
    /// The message whose text is shown.
    pub shown: Option<ShownMessage>,
}

/// Pages of the tab Compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComparePage {
    /// Figures, composition and cost.
    #[default]
    Figures,
    /// Messages that only one session contains, and changed ones.
    Messages,
    /// Use of tools.
    Tools,
    /// Facts that only one session states.
    Facts,
}

impl ComparePage {
    /// All pages, in order.
    pub const ALL: [Self; 4] = [Self::Figures, Self::Messages, Self::Tools, Self::Facts];

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Figures => "figures",
            Self::Messages => "messages",
            Self::Tools => "tools",
            Self::Facts => "facts",
        }
    }

    /// Returns the hover text.
    pub fn help(self) -> &'static str {
        match self {
            Self::Figures => "Size, composition and cost of both sessions, with differences",
            Self::Messages => "Messages that only one session contains, and changed messages",
            Self::Tools => "Calls, failures and tokens of each tool in both sessions",
            Self::Facts => "Files, commands and other facts that only one session states",
        }
    }
}

/// Messages that the list contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Messages of the same tool call with other content.
    Changed,
    /// Messages that only one session contains.
    Only(Side),
}

impl Listed {
    /// All, in the order of the list.
    pub const ALL: [Self; 3] = [Self::Changed, Self::Only(Side::A), Self::Only(Side::B)];

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Only(Side::A) => "only in A",
            Self::Only(Side::B) => "only in B",
        }
    }

    /// Returns the group that contains the same messages after A and B were swapped.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Changed => Self::Changed,
            Self::Only(Side::A) => Self::Only(Side::B),
            Self::Only(Side::B) => Self::Only(Side::A),
        }
    }
}

/// A message whose text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShownMessage {
    /// A message of one session, by its index.
    Of(Side, usize),
    /// A changed message, by its index in A and in B.
    Changed([usize; 2]),
}

impl View {
    /// Returns the view settings of the comparison.
    pub fn compare(&self) -> CompareView {
        *self.get()
    }

    /// Returns the view settings of the comparison, to change them.
    pub fn compare_mut(&mut self) -> &mut CompareView {
        self.get_mut()
    }
}
