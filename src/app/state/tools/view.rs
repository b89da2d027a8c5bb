//! View settings of the tab Tools.

use crate::analysis::tools::ToolColumn;
use crate::app::state::messages::order::Filter;
use crate::app::state::model::view::View;

/// View settings of the tab Tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolsView {
    /// The column that the rows are sorted by.
    pub sort: ToolColumn,
    /// Show MCP servers instead of tools.
    pub by_server: bool,
}

impl Default for ToolsView {
    fn default() -> Self {
        Self { sort: ToolColumn::Sent, by_server: false }
    }
}

/// The word of a kept view that shows MCP servers.
const SERVERS: &str = "servers";

impl ToolsView {
    /// Returns the settings as a workspace keeps them; `None` for the default.
    pub fn kept(self) -> Option<String> {
        let word = if self.by_server { SERVERS } else { "tools" };
        (self != Self::default()).then(|| format!("{word} by {}", self.sort.name()))
    }

    /// Reads kept settings. What this version does not know keeps its default.
    pub fn from_kept(kept: &str) -> Self {
        let (word, column) = kept.split_once(" by ").unwrap_or((kept, ""));
        let sort = ToolColumn::ALL.into_iter().find(|it| it.name() == column);
        Self { sort: sort.unwrap_or(Self::default().sort), by_server: word == SERVERS }
    }
}

impl View {
    /// Returns the view settings of the tab Tools.
    pub fn tools(&self) -> ToolsView {
        *self.get()
    }
}

/// Returns the filter of the tab Messages that lists the calls and results of a tool, or of all tools of an MCP server.
pub fn filter_of(name: &str, is_server: bool) -> Filter {
    let tool = if is_server { format!("mcp__{name}__*") } else { name.to_owned() };
    let name = if tool.contains(char::is_whitespace) { format!("\"{tool}\"") } else { tool };
    let mut filter = Filter::default();
    filter.set_text(format!("tool:{name}"));
    filter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_settings_are_read_again_and_unknown_ones_are_the_default() {
        let view = ToolsView { sort: ToolColumn::Repeated, by_server: true };
        assert_eq!(view.kept().as_deref(), Some("servers by repeated"));
        assert_eq!(ToolsView::from_kept("servers by repeated"), view);
        assert_eq!(ToolsView::from_kept("shapes by weight"), ToolsView::default());
        assert_eq!(ToolsView::default().kept(), None);
    }

    #[test]
    fn the_filter_of_a_tool_is_a_valid_query() {
        for tool in ["Bash", "Read file", "mcp__github__search"] {
            assert_eq!(filter_of(tool, false).error, None, "{tool}");
            assert_eq!(filter_of(tool, true).error, None, "{tool}");
        }
    }
}
