//! View settings of the tab Context.

use crate::app::state::model::view::View;

/// View settings of the tab Context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextView {
    /// The shown page.
    pub page: ContextPage,
}

/// A page of the tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextPage {
    /// The map of one context.
    #[default]
    Map,
    /// The table of sources.
    Sources,
    /// The recorded contexts, call by call.
    OverTime,
}

impl ContextPage {
    /// All pages, with their names in the window and in a workspace.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Map, "map"), (Self::OverTime, "over time"), (Self::Sources, "sources")];
}

impl ContextView {
    /// Returns the settings as a workspace keeps them; `None` for the default.
    pub fn kept(self) -> Option<String> {
        let name = ContextPage::ALL.iter().find(|(page, _)| *page == self.page);
        name.filter(|(page, _)| *page != ContextPage::default()).map(|(_, name)| (*name).to_owned())
    }

    /// Reads kept settings. What this version does not know keeps its default.
    pub fn from_kept(kept: &str) -> Self {
        let known = ContextPage::ALL.iter().find(|(_, name)| *name == kept);
        Self { page: known.map_or_else(ContextPage::default, |(page, _)| *page) }
    }
}

impl View {
    /// Returns the view settings of the tab Context.
    pub fn context(&self) -> ContextView {
        *self.get()
    }
}
