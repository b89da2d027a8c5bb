//! Lanes that are requested at startup.

use crate::engine::Policy;

/// A requested lane.
#[derive(Clone, Debug)]
pub struct LaneOption {
    /// Policy as given on the command line: the name of a preset, or a file.
    pub word: String,
    /// The policy.
    pub policy: Policy,
}
