//! The tabs of the drawer, by name.

/// A tab of the drawer.
#[derive(Clone, Copy, Debug)]
pub struct Tab {
    /// The key that workspaces store, which stays the same when the label changes.
    pub key: &'static str,
    /// The label.
    pub label: &'static str,
}

/// Tabs that other panels open.
impl Tab {
    /// The message table and the selected message.
    pub const MESSAGES: Self = Self::new("messages", "Messages");
    /// Insights of the session and the lanes, worst first.
    pub const INSIGHTS: Self = Self::new("insights", "Insights");
    /// Events of the policies and their causes.
    pub const EVENTS: Self = Self::new("events", "Events");
    /// Expected re-reads of each lane, facts that survive in it, and references at risk.
    pub const EVALUATE: Self = Self::new("evaluate", "Evaluate");
    /// Costs of the session and the lanes.
    pub const COST: Self = Self::new("cost", "Cost");
    /// Sweep over settings.
    pub const TUNE: Self = Self::new("tune", "Tune");
    /// A second session side by side.
    pub const COMPARE: Self = Self::new("compare", "Compare");
    /// The focused policy and its sources.
    pub const ABOUT: Self = Self::new("about", "About");
    /// Parsing of the file.
    pub const IMPORT: Self = Self::new("import", "Import");

    /// Creates a tab.
    pub const fn new(key: &'static str, label: &'static str) -> Self {
        Self { key, label }
    }
}

impl PartialEq for Tab {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Tab {}

impl Default for Tab {
    /// Returns the tab that is open at first.
    fn default() -> Self {
        Self::MESSAGES
    }
}
