//! The outcome of one check.

/// The outcome of one check of a written export.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// Name of the check.
    pub name: &'static str,
    /// The check passed.
    pub ok: bool,
    /// The check passed since the source has the same fault, which providers reject.
    pub warning: bool,
    /// Figures, or a description of the fault.
    pub detail: String,
}

impl Check {
    /// Creates a check that passed, with its figures.
    pub fn passed(name: &'static str, figures: impl Into<String>) -> Self {
        Self { name, ok: true, warning: false, detail: figures.into() }
    }

    /// Creates a check that passed since the source has the same fault.
    pub fn warned(name: &'static str, fault: impl Into<String>) -> Self {
        Self { warning: true, ..Self::passed(name, fault) }
    }

    /// Creates a check that failed, with the fault.
    pub fn failed(name: &'static str, fault: impl Into<String>) -> Self {
        Self { name, ok: false, warning: false, detail: fault.into() }
    }
}
