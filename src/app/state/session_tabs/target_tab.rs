//! The tab in which a session is opened.

/// A tab for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetTab {
    /// The shown tab.
    Shown,
    /// A new tab.
    New,
}
