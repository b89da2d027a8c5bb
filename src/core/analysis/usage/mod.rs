//! Tokens, cost and cache misses of recorded calls, and their sums by day, project, model or another key.
//!
//! A sum counts a call once, at its own time, even if several files contain it: see [`UsedCall::identity`].

mod identity;
mod period;
mod recorded;
mod table;
mod tree;

pub use identity::call_identities;
pub use period::Period;
pub use recorded::{ContextFit, RecordedUsage, UsedCall, recorded_usage};
pub use table::{UsageKey, UsageQuery, UsageRow, UsageTable, UsedSession, usage_of_each};
pub use tree::TreeUsage;
