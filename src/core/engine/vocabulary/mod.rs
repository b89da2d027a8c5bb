//! Words that policies, runs and results share.

mod action_kind;
mod hook;
mod own_measure;
mod summary_position;

pub use action_kind::ActionKind;
pub use hook::Hook;
pub use own_measure::OwnMeasure;
pub use summary_position::SummaryPosition;
