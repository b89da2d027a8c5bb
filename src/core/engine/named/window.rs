//! A system's own rule for a model's context window.

/// A system's own rule for a model's context window.
#[derive(Clone, Copy, Debug)]
pub struct NamedWindow {
    /// Name in presets.
    pub name: &'static str,
    /// Returns the window in tokens of a model (in the recorded case; empty if unknown).
    pub window: fn(&str) -> u64,
    /// Returns the maximum output that the system assumes for a model; 0 if unknown.
    pub output: fn(&str) -> u64,
}
