//! Claude Code 2.1.332: the compaction after a rejected call. Closed source; deduced from its requests and checked on cases.

mod actions;

pub use actions::ACTIONS;
