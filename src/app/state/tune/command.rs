//! Commands of the tab Tune.

/// A command of the tab Tune.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuneCommand {
    /// Start a sweep with the settings of the tab.
    Start,
    /// Stop the sweep.
    Cancel,
    /// Apply the settings of a sweep point, by index, to its lane.
    Apply(usize),
}
