//! Limits of BaseAgent's compaction. In `compaction.py` they are constants that its configuration does not change; a preset
//! sets them through its settings.

use crate::languages::python::PythonError;
use crate::units::Tokens;

/// Thresholds of BaseAgent's compaction. Values are signed because Python's integers are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// `MODEL_CONTEXT_LIMIT`, in tokens.
    pub context: i64,
    /// `OUTPUT_TOKEN_MAX`, in tokens.
    pub output: i64,
    /// `AUTO_COMPACT_THRESHOLD`: the share of the usable window above which it acts.
    pub threshold: f64,
    /// `PRUNE_PROTECT`, in tokens.
    pub protect: i64,
    /// `PRUNE_MINIMUM`, in tokens.
    pub minimum: i64,
    /// `protect_last_turns`.
    pub protected_turns: i64,
}

impl Limits {
    /// As shipped.
    // As in baseagent 18565d9, `src/core/compaction.py`.
    pub const SHIPPED: Self = Self {
        context: 200_000,
        output: 32_000,
        threshold: 0.85,
        protect: 40_000,
        minimum: 20_000,
        protected_turns: 2,
    };

    /// `get_usable_context`, in tokens.
    pub fn usable(&self) -> i64 {
        self.context.saturating_sub(self.output)
    }

    /// Returns the tokens above which it acts, as a double: 900.0 of 1000 at 0.9.
    pub fn trigger(&self) -> f64 {
        self.usable() as f64 * self.threshold
    }

    /// `is_overflow`: strictly above.
    pub fn is_overflow(&self, total: Tokens) -> bool {
        total.as_f64() > self.trigger()
    }

    /// Returns the share of the usable window in percent, as logged.
    pub(super) fn percent(&self, total: Tokens) -> Result<f64, PythonError> {
        match self.usable() {
            0 => Err(PythonError::new("ZeroDivisionError", "division by zero")),
            usable => Ok(total.as_f64() / usable as f64 * 100.0),
        }
    }
}
