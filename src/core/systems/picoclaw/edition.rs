//! Editions of PicoClaw: before the issue, as the issue proposes, or as it was then built.

/// A state of PicoClaw's context management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// The code that the issue describes (sipeed/picoclaw 021aa7d6).
    Before,
    /// Code of `Before` with the proposals A to E applied as written.
    Proposed,
    /// The code as built (sipeed/picoclaw cf67dd38, context manager `legacy`).
    After,
}
