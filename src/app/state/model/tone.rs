//! Severities of displayed values.

/// Severity of a displayed value, shown by its color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// A plain value.
    #[default]
    Plain,
    /// A minor value.
    Weak,
    /// A good value.
    Ok,
    /// A value that needs attention.
    Warn,
    /// An error.
    Bad,
    /// A value that can be acted upon.
    Accent,
}
