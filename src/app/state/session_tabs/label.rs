//! Names of session tabs.

/// The name of a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TabLabel {
    /// File name of its session.
    pub(crate) name: String,
    /// Title and path of its session; empty without one.
    pub(crate) help: String,
    /// A session is being loaded.
    pub(crate) is_loading: bool,
}
