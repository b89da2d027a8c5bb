//! Commands that change the lanes.

use crate::presets::forms::Form;
use std::ops::RangeInclusive;

/// A command that changes the lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LanesCommand {
    /// Add a lane with the first policy that no lane has.
    Add,
    /// Compare with this policy: in a new lane, or in the focused lane if the number of lanes is at its maximum.
    Compare(String),
    /// Remove a lane.
    Remove(usize),
    /// Set the policy of a lane by name.
    SetPolicy(usize, String),
    /// Copy a lane's policy with its settings in a form that runs it.
    CopyPolicy(usize, Form),
    /// Open or close the fold of these messages.
    ToggleFold(RangeInclusive<u32>),
}
