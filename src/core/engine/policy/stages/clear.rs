//! Clears tool results: the pair of call and result stays, and a marker replaces the content.

use std::sync::Arc;

/// Settings of the action `clear`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clear {
    /// Text in the place of the content.
    pub marker: Arc<str>,
}
