//! View settings of the tab Context.

use crate::app::state::model::view::View;

/// View settings of the tab Context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextView {
    /// Show the table of sources instead of the map.
    pub lists_sources: bool,
}

/// The word of a kept view that shows the table.
const SOURCES: &str = "sources";

impl ContextView {
    /// Returns the settings as a workspace keeps them; `None` for the default.
    pub fn kept(self) -> Option<String> {
        self.lists_sources.then(|| SOURCES.to_owned())
    }

    /// Reads kept settings. What this version does not know keeps its default.
    pub fn from_kept(kept: &str) -> Self {
        Self { lists_sources: kept == SOURCES }
    }
}

impl View {
    /// Returns the view settings of the tab Context.
    pub fn context(&self) -> ContextView {
        *self.get()
    }
}
