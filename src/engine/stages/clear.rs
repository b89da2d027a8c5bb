//! Empties tool results: the pair of call and result stays, a marker says that something was there.

use std::sync::Arc;

/// Settings of the action `clear`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clear {
    /// What stands in the place of the content.
    pub marker: Arc<str>,
}
